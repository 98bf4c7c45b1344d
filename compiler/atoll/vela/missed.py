# SPDX-License-Identifier: Apache-2.0
"""What operators need of their operands, where commands do not read all of them.

Of inputs it is tried: where bytes that are not read decide a result, the commands cannot compute
it. What lies in the scratch has no names, so of operators that need all of their operands, all that
is written there must be read.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import reference
from atoll.ops.moves.slicing import Slicing
from atoll.ops.registry import kind_of

_TRIES = 4
_WHOLE = frozenset(
    {
        *("add", "sub", "mul", "minimum", "maximum", "batch_matmul", "fully_connected"),
        *("relu", "relu6", "hard_swish", "leaky_relu", "logistic", "tanh", "softmax"),
        *("abs", "exp", "rsqrt", "prelu", "squared_difference", "quantize"),
        *("concatenation", "reshape", "transpose", "pack", "expand_dims", "squeeze"),
        *("mean", "sum", "reduce_max", "reduce_min", "arg_max"),
    }
)
"""Kinds of which each result, or all together, need all elements of the operands."""

_MOVES = frozenset({"concatenation", "reshape", "transpose", "pack", "expand_dims", "squeeze"})
_WINDOWS = frozenset({"conv_2d", "depthwise_conv_2d", "average_pool_2d", "max_pool_2d"})


def find_missed(body: Graph, unread: Mapping[str, NDArray[np.bool_]]) -> Iterator[str]:
    """Yield each input with bytes that no command reads, and that results depend on.

    Args:
        body: what the commands compute.
        unread: bytes of its inputs that none reads.
    """
    chance = np.random.default_rng(0)
    for name, bits in unread.items():
        if any(_depends(body, name, bits, chance) for _ in range(_TRIES)):
            what = f"{int(bits.sum())} bytes of '{name}' from byte {int(np.argmax(bits))} on"
            yield f"its results depend on {what}, which it never reads"


def _depends(body: Graph, name: str, bits: NDArray[np.bool_], chance: np.random.Generator) -> bool:
    """Tell whether results change with some bytes of an input."""
    values = {each: _draw(body.tensor(each), chance) for each in body.inputs}
    one, other = values[name], _draw(body.tensor(name), chance)
    data = np.where(bits, *(np.frombuffer(x.tobytes(), np.uint8) for x in (other, one)))
    changed = np.frombuffer(data.tobytes(), one.dtype).reshape(one.shape)
    before, after = (reference.run(body, values | {name: x}) for x in (one, changed))
    return any(not np.array_equal(before[each], after[each]) for each in body.outputs)


def _draw(tensor: Tensor, chance: np.random.Generator) -> NDArray[np.generic]:
    if tensor.dtype == "bool":
        return chance.integers(0, 2, tensor.shape).astype(np.bool_)
    span = np.iinfo(np.dtype(tensor.dtype))
    return chance.integers(span.min, span.max, tensor.shape, tensor.dtype, endpoint=True)


def needs_all(body: Graph) -> bool:
    """Tell whether all elements of inputs and of tensors inside are needed, as far as is known.

    What was moved Vela may copy once more for each reader, so there each needs all of it.
    """
    needed = {t.name: np.zeros(t.shape, np.bool_) for t in body.tensors if t.data is None}
    moved = {name for op in body.operators if _moves(op) for name in op.outputs}
    for op in body.operators:
        if op.kind in _WHOLE:
            for name in needed.keys() & op.reads:
                needed[name][...] = True
            continue
        name, bits = op.inputs[0], _needed_part(op, body)
        if bits is None or (name in moved and not bits.all()):
            return False
        needed[name] |= bits
    return all(
        bits.all() or (name in body.outputs and not bits.any()) for name, bits in needed.items()
    )


def _moves(op: Operator) -> bool:
    return isinstance(kind_of(op), Slicing) or op.kind in _MOVES


def _needed_part(op: Operator, body: Graph) -> NDArray[np.bool_] | None:
    """Return which elements a slice or windows need of their operand; None for other kinds."""
    kind, bits = kind_of(op), np.zeros(body.tensor(op.inputs[0]).shape, np.bool_)
    if isinstance(kind, Slicing):
        bits[np.ix_(*kind.ranges(op, body))] = True
    elif op.kind in _WINDOWS:
        found = kind.features(op, body)
        rows, columns = _covered_places(found, "h", "height"), _covered_places(found, "w", "width")
        bits |= np.logical_and.outer(rows, columns)[None, :, :, None]
    else:
        return None
    return bits


def _covered_places(window: Mapping[str, int], side: str, axis: str) -> NDArray[np.bool_]:
    """Return the places along an axis that taps of a window meet."""
    begin = window["pad_top" if side == "h" else "pad_left"]
    steps = np.arange(window[f"out_{axis}"]) * window[f"stride_{side}"]
    taps = np.arange(window[f"kernel_{side}"]) * window[f"dilation_{side}"]
    met = np.add.outer(steps, taps) - begin
    return np.isin(np.arange(window[f"in_{axis}"]), met)
