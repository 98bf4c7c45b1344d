"""The constants of an idea, packed."""

from typing import Any


def pack(op: Any, graph: Any, npu: Any) -> bytes:
    return b"".join(graph.tensor(name).data for name in op.inputs[1:])
