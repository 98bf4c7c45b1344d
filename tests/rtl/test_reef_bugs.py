"""Bugs planted in reef's unit for elements: its bench notices each of them."""

import pytest
from tests.benches.reef_sources import SYSTEM_BENCH, SYSTEM_TOP
from tests.benches.runner import FOLDERS, BenchError, run_bench
from tests.rtl.test_reef_system import DEFAULT

from atoll_sim.chip.sources import found

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

PLANTED = {
    "zero point of the second operand": (
        "reef_element.sv",
        "9'(signed'(second_i)) - 9'(signed'(command_i.second_zero))",
        "9'(signed'(second_i))",
    ),
    "rounding of an operand": (
        "reef_element.sv",
        "rounded_shift(first3_q, first_places)",
        "first3_q >>> first_places",
    ),
    "rounding of a high half": ("reef_pkg.sv", "(product + 64'h4000_0000) >> 31", "product >> 31"),
    "shift of the second operand": ("reef_element.sv", "-command_i.second_shift", "0"),
    "strobes of the next beat": (
        "reef_packer.sv",
        "strobe_q <= emits ? strobe[1] : strobe[0];",
        "strobe_q <= emits ? '0 : strobe[0];",
    ),
    "bytes beyond the last one": ("reef_packer.sv", "(enables_i) <<", "({Bytes{1'b1}}) <<"),
    "tail of the last beat": ("reef_packer.sv", "last_i && strobe[1] != 0;", "1'b0;"),
    "length of the last part": (
        "reef_vector_sequencer.sv",
        "last ? left_q : ChunkBytes;",
        "ChunkBytes;",
    ),
    "place of the next part": (
        "reef_vector_sequencer.sv",
        "offset_q <= offset_q + chunk;",
        "offset_q <= chunk;",
    ),
    "room for the second operand": (
        "reef_vector.sv",
        "step_tag_i.bank ? !second_full : !first_full",
        "!first_full || (step_tag_i.bank && !second_full)",
    ),
    "second half of a step": ("reef_vector.sv", "half_q || masks[1] == 0;", "half_q;"),
    "second operand twice": (
        "reef_pkg.sv",
        "&& command.second_address_again == command.second_address",
        "",
    ),
    "sign of a multiplier": ("reef_pkg.sv", "!multiplier[31] && (shift == 0", "(shift == 0"),
}
"""File, what is right, and what is not."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    file, right, wrong = PLANTED[name]
    text = found(file, FOLDERS).read_text()
    assert text.count(right) == 1
    sources = [source for source in SYSTEM_BENCH if source != file]
    planted = {file: text.replace(right, wrong), **SYSTEM_TOP}
    with pytest.raises(BenchError, match="tests of bench 'reef_elements' failed"):
        run_bench("reef_elements", "reef_system_bench", sources, DEFAULT, generated=planted)
