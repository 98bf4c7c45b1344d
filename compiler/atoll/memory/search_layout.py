"""The parameters of the search kernel, and what is where in them."""

from atoll.ir.tir import Direction, Type

LARGEST = 1024
"""Most buffers of one search."""

_EDGES = LARGEST * LARGEST
_BOTH, _READ = Direction.BOTH, Direction.READ

BUFFERS: tuple[tuple[str, Type, int, Direction], ...] = (
    ("state", Type.I32, 9, _BOTH),
    ("limits", Type.I64, 3, _READ),
    ("size", Type.I64, LARGEST, _READ),
    ("alignment", Type.I64, LARGEST, _READ),
    ("rank", Type.I32, LARGEST, _READ),
    ("range_from", Type.I32, LARGEST + 1, _READ),
    ("range_begin", Type.I64, _EDGES, _READ),
    ("range_end", Type.I64, _EDGES, _READ),
    ("edge_from", Type.I32, LARGEST + 1, _READ),
    ("edge", Type.I32, _EDGES, _READ),
    ("above", Type.I64, _EDGES, _READ),
    ("below", Type.I64, _EDGES, _READ),
    ("clique_from", Type.I32, LARGEST + 1, _READ),
    ("clique", Type.I32, _EDGES, _READ),
    ("weight", Type.I64, _EDGES, _READ),
    ("member_from", Type.I32, LARGEST + 1, _READ),
    ("member", Type.I32, _EDGES, _READ),
    ("low", Type.I64, _EDGES + LARGEST, _BOTH),
    ("order", Type.I32, _EDGES + LARGEST, _BOTH),
    ("chosen", Type.I32, LARGEST, _BOTH),
    ("unplaced", Type.I32, LARGEST, _BOTH),
    ("top", Type.I64, LARGEST, _BOTH),
    ("raised", Type.I32, LARGEST, _BOTH),
    ("kept", Type.I32, LARGEST + 1, _BOTH),
    ("moved", Type.I32, LARGEST + 1, _BOTH),
)
"""Parameters in order.

`limits` holds the capacity, the height that no clique's stack may exceed (the capacity, rounded up
as the weights are), and the address of offset 0. Lists of lists lie flat: those of buffer
j from ``x_from[j]`` to ``x_from[j + 1]``. `range_*` are forbidden start offsets, sorted; `edge`
the conflicting buffers, with the bytes by which these have to be `above` j if they are above it,
and those by which j has to be above them if it is (`below`); `clique` the cliques of j with the
bytes (`weight`) that j surely adds to each; `member` the buffers of a clique. `rank` settles ties.
"""

BUFFER_COUNT, CLIQUE_COUNT, BY_CLIQUE, STEPS, LEVEL, STATUS, FAILED, NODES, DEEPEST = range(9)
"""Elements of `state`. Set by the caller: how many buffers and cliques there are, whether to
choose from the fullest clique rather than from all buffers, how many steps to take, and 0."""

RUNNING, SOLVED, EXHAUSTED = range(3)
"""Values of ``state[STATUS]``."""
