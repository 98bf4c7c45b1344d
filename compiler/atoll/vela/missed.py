"""Bytes of inputs that an operator needs and its commands never read.

Which bytes an operator needs is tried, not looked up: where bytes that are not read decide a
result, the commands cannot compute it.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Tensor
from atoll.ops import reference

_TRIES = 4


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
