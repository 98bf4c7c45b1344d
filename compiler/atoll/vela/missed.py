"""What operators need of their operands, where commands do not read all of them.

Of inputs it is tried: where bytes that are not read decide a result, the commands cannot compute
it. What lies in the scratch has no names, so of operators that need all of their operands, all that
is written there must be read.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Tensor
from atoll.ops import reference
from atoll.ops.moves.slicing import Slicing
from atoll.ops.registry import kind_of

_TRIES = 4
_WHOLE = frozenset(
    {
        *("add", "sub", "mul", "minimum", "maximum", "batch_matmul", "fully_connected"),
        *("relu", "relu6", "hard_swish", "leaky_relu", "logistic", "tanh", "softmax"),
        *("concatenation", "reshape", "transpose", "mean", "quantize"),
    }
)
"""Kinds of which each result, or all together, need all elements of the operands."""

_WINDOWS = frozenset({"conv_2d", "depthwise_conv_2d", "average_pool_2d", "max_pool_2d"})


def missed(body: Graph, unread: Mapping[str, NDArray[np.bool_]]) -> Iterator[str]:
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
    values = {each: _drawn(body.tensor(each), chance) for each in body.inputs}
    one, other = values[name], _drawn(body.tensor(name), chance)
    data = np.where(bits, *(np.frombuffer(x.tobytes(), np.uint8) for x in (other, one)))
    changed = np.frombuffer(data.tobytes(), one.dtype).reshape(one.shape)
    before, after = (reference.run(body, values | {name: x}) for x in (one, changed))
    return any(not np.array_equal(before[each], after[each]) for each in body.outputs)


def _drawn(tensor: Tensor, chance: np.random.Generator) -> NDArray[np.generic]:
    if tensor.dtype == "bool":
        return chance.integers(0, 2, tensor.shape).astype(np.bool_)
    span = np.iinfo(np.dtype(tensor.dtype))
    return chance.integers(span.min, span.max, tensor.shape, tensor.dtype, endpoint=True)


def needs_all(body: Graph) -> bool:
    """Tell whether all elements of inputs and of tensors inside are needed, as far as is known."""
    needed = {t.name: np.zeros(t.shape, np.bool_) for t in body.tensors if t.data is None}
    for op in body.operators:
        kind, first = kind_of(op), op.inputs[0]
        if isinstance(kind, Slicing):
            needed[first][np.ix_(*kind.ranges(op, body))] = True
        elif op.kind in _WINDOWS:
            found = kind.features(op, body)
            sides = [
                _covered(found, side, axis) for side, axis in (("h", "height"), ("w", "width"))
            ]
            needed[first] |= np.logical_and.outer(*sides)[None, :, :, None]
        elif op.kind in _WHOLE:
            for name in needed.keys() & op.reads:
                needed[name][...] = True
        else:
            return False
    return all(
        bits.all() or (name in body.outputs and not bits.any()) for name, bits in needed.items()
    )


def _covered(window: Mapping[str, int], side: str, axis: str) -> NDArray[np.bool_]:
    """Return the places along an axis that taps of a window meet."""
    begin = window["pad_top" if side == "h" else "pad_left"]
    steps = np.arange(window[f"out_{axis}"]) * window[f"stride_{side}"]
    taps = np.arange(window[f"kernel_{side}"]) * window[f"dilation_{side}"]
    met = np.add.outer(steps, taps) - begin
    return np.isin(np.arange(window[f"in_{axis}"]), met)
