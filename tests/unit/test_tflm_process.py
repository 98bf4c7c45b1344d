# SPDX-License-Identifier: Apache-2.0
"""A crash of TFLM is an answer of its own process, and the next network is answered."""

import os
import signal
from typing import Any

import numpy as np
import pytest
from tests import tflite_builder
from tests.operator_samples import SCALE, Tree
from tests.tflm_process import RefusedError, TflmProcess

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")


def network(code: str = "RELU") -> bytes:
    """Return a network of one operator; TFLM has no kernel of RANK."""
    tree = Tree(tflite_builder)
    tree.apply(code, (tree.add((1, 4), **SCALE),), tree.add((1, 4), **SCALE))
    return tflite_builder.write(tree.model())


def test_networks_go_on_after_a_crash() -> None:
    tflm, given = TflmProcess(), np.array([[1, 2, 3, 4]], np.int8)
    ((first,),) = tflm.run(network(), [[given]], [0])
    assert tflm._process
    os.kill(tflm._process.pid, signal.SIGSEGV)
    ((second,),) = tflm.run(network(), [[given]], [0])
    np.testing.assert_array_equal(first, second)
    with pytest.raises(RefusedError):
        tflm.run(network("RANK"), [[given]], [0])
    with pytest.raises(RuntimeError, match="ends its process"):
        tflm.run(network(), [[Crash()]], [0])  # type: ignore[list-item]
    assert len(tflm.run(network(), [[given], [given]], [0])) == 2
    tflm.close()


class Crash:
    """What ends the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (139,)
