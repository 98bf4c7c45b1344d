# SPDX-License-Identifier: Apache-2.0
"""A wrong name in a bench is answered with those that there are."""

import pytest

from atoll_sim.user_bench.named import Named


def test_a_name_that_nothing_has() -> None:
    registers = Named("register of 'npu'", {"ID": 0x4000_0000, "STATUS": 0x4000_0004})
    assert registers["STATUS"] == 0x4000_0004
    assert registers.get("CONTROL") is None
    with pytest.raises(KeyError) as caught:
        registers["CONTROL"]
    assert caught.value.args == ("no register of 'npu' 'CONTROL'; there are ID, STATUS",)
    with pytest.raises(KeyError) as caught:
        Named("device", {})["npu"]
    assert caught.value.args == ("no device 'npu'; there is none",)
