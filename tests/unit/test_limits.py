# SPDX-License-Identifier: Apache-2.0
"""What takes too long or too much memory is noticed, and what was taken before is not."""

import numpy as np
import pytest
from tests import limits
from tests.limits import OverLimitError, within_limits

BYTES = 256 * 2**20


def test_memory_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KIB", BYTES // 2**13)
    with pytest.raises(OverLimitError, match=r"it took 0\.[123] GiB"), within_limits():
        np.ones(BYTES, np.int8)  # gone when the block ends
    kept = np.ones(BYTES, np.int8)
    with within_limits():
        assert kept.any()


def test_time_is_held() -> None:
    clock = iter((5.0, 16.0))
    with pytest.raises(OverLimitError, match="it took 11 s"), within_limits(lambda: next(clock)):
        pass
