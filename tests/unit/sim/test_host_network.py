# SPDX-License-Identifier: Apache-2.0
"""What the host's code is given lies where its loads and stores of several elements need it."""

import pytest

from atoll_sim.dataset.host_network import _aligned_bytes


@pytest.mark.parametrize("size", [1, 63, 64, 1000])
def test_tensors_are_aligned_for_any_vector(size: int) -> None:
    kept = [_aligned_bytes(size) for _ in range(8)]
    assert [each.ctypes.data % 64 for each in kept] == [0] * 8
    assert {each.nbytes for each in kept} == {size}
