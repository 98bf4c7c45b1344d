# SPDX-License-Identifier: Apache-2.0
"""A size is written alike wherever one is taken: with a unit, or as a number of bytes."""

from typing import Any

import pytest
import typer

from atoll.cli.plan import _bytes
from atoll.description.pins import pin_of
from atoll.diagnostics.units import parse_size
from atoll.resolve import load_soc

FORMS = ("1 KiB", "1KiB", "1024 B", "1024", "1_024", "0x400")


@pytest.mark.parametrize("form", FORMS)
def test_a_number_alone_is_bytes_everywhere(form: str) -> None:
    assert parse_size(form) == 1024
    assert load_soc("lagoon", (f"devices.cpu.data.size={form}",)).host_cpu.data.size == 1024
    assert _bytes(form) == 1024
    pin: Any = pin_of(f"lp@{form},sram@64 KiB:in")
    assert [each.size for each in pin.choices] == [1024, 65536]


@pytest.mark.parametrize("form", ["1 kB", "1.5", "0x", "", "-1", "1024 bytes", "1e3"])
def test_other_forms_are_refused_everywhere(form: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_size(form)
    with pytest.raises(typer.BadParameter):
        _bytes(form)
    assert pin_of(f"lp@{form}") is None
