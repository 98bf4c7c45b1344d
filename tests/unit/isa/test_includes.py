# SPDX-License-Identifier: Apache-2.0
"""Which instruction sets include which."""

import pytest

from atoll.isa.find import instruction_set


@pytest.mark.parametrize(
    ("whole", "part", "included"),
    [
        ("rv32imc", "rv32im", True),
        ("rv32im", "rv32imc", False),
        ("rv32imc_zba_zbb_zbs", "rv32i", True),
        ("rv32imc_zba", "rv32imc_zbb", False),
        ("rv64gc", "rv64imac", True),
        ("rv64imac", "rv32imac", False),
        ("rv32i", "rv32e", False),
        ("rv64gcv", "rv64gc", True),
        ("rv64gc", "rv64gcv", False),
        ("rv64gcv", "rv64gc_zve32x_zvl128b", True),
        ("rv64gcv", "rv64gc_zve32x_zvl256b", False),
        ("rv64gcv_zvl512b", "rv64gc_zve32x_zvl256b", True),
        ("rv32imafdc_zve32x", "rv32imc", True),
        ("rv32imafdc_zve32x", "rv32imc_zve32x_zvl32b", True),
        ("rv32imafdc_zve32x_zvl64b", "rv32imc_zve32x_zvl128b", False),
        ("armv8.1-m.main+mve", "armv8.1-m.main", True),
        ("armv8.1-m.main+mve", "armv8.1-m.main+dsp", True),
        ("armv8.1-m.main+mve.fp+fp.dp", "armv8.1-m.main+mve+fp", True),
        ("armv8.1-m.main+dsp", "armv8.1-m.main+mve", False),
        ("armv8-m.main+dsp", "armv8-m.main", True),
        ("armv7e-m+fp.dp", "armv7e-m+fp", True),
        ("armv7e-m", "armv7-m", False),
        ("armv8-a", "aarch64", False),
    ],
)
def test_includes(whole: str, part: str, included: bool) -> None:
    assert instruction_set(whole).includes(instruction_set(part)) is included
    assert instruction_set(whole).includes(instruction_set(whole))
