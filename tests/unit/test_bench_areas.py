# SPDX-License-Identifier: Apache-2.0
"""What `benchmarks.areas` makes of samples and of Yosys's words."""

import pytest
from benchmarks.areas import Counted, fit_of
from benchmarks.plain_cells import CELLS, PLAIN, Operation, modules_of, plain_area

SHAPES = [(1, 4), (1, 16), (2, 4), (4, 8), (8, 8), (3, 32)]
"""Values of the parameters of `atoll_demux`: bytes of data, targets."""


def samples(extra: float = 0) -> list[tuple[dict[str, int], Counted]]:
    return [
        (
            {"data_bytes": data, "targets": targets},
            Counted(100 + 7 * data + 3 * targets + 2 * data * targets + extra * (number == 3), 0),
        )
        for number, (data, targets) in enumerate(SHAPES)
    ]


def test_terms_are_found_again() -> None:
    found = fit_of("atoll_demux", samples())
    said = [100, 7, 3, 2]
    assert [*found.um2.values()] == pytest.approx(said)
    assert found.left_out == len(SHAPES)
    assert found.low == pytest.approx(0, abs=1e-9)
    assert found.high == pytest.approx(0, abs=1e-9)


def test_a_sample_that_others_do_not_foresee_widens_the_band() -> None:
    true = 100 + 7 * 4 + 3 * 8 + 2 * 4 * 8
    found = fit_of("atoll_demux", samples(extra=true))
    assert found.high >= 0.99, "the others say half of what was mapped"


def test_bits_that_no_term_says_are_refused() -> None:
    odd = [(params, Counted(one.um2, params["targets"])) for params, one in samples()]
    with pytest.raises(ValueError, match="SRAM of atoll_demux"):
        fit_of("atoll_demux", odd)


DESIGN = r"""
module \part
  cell $add $1
    parameter \A_WIDTH 8
    parameter \B_WIDTH 4
    parameter \Y_WIDTH 6
    parameter \A_SIGNED 0
    connect \A \a
    connect \B \b
    connect \Y $5
  end
  cell $dff $2
    parameter \WIDTH 6
    connect \D $5
  end
end
module \top
  cell \part \u_first
    connect \a \x
  end
  cell \part \u_second
    connect \a \x
  end
  cell $mem_v2 $3
    parameter \SIZE 32
    parameter \WIDTH 64
    parameter \RD_PORTS 1
    parameter \RD_CLK_ENABLE 1'1
  end
  cell $mem_v2 $4
    parameter \SIZE 4
    parameter \WIDTH 2
    parameter \RD_PORTS 2
    parameter \RD_CLK_ENABLE 2'00
  end
end
"""
ONE = dict.fromkeys(CELLS, 1.0)


def test_instances_and_arrays_are_counted() -> None:
    um2, bits = plain_area(r"\top", modules_of(DESIGN), ONE)
    assert bits == 32 * 64, "of the array that a clock edge reads"
    part = 6 + 6
    array = 2 * 4 * 2 + 2 * 3 * 2 / 3
    assert um2 == pytest.approx(2 * part + array)


@pytest.mark.parametrize(
    ("kind", "numbers", "other", "gates"),
    [
        ("$add", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 9}, r"\b", 8),
        ("$add", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 9}, "8'00000001", 8),
        ("$sub", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 8}, r"\b", 16),
        ("$mul", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 16}, r"\b", 64 + 56),
        ("$mul", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 8}, r"\b", 36 + 28),
        ("$and", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 8}, "8'11110000", 0),
        ("$eq", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 1}, r"\b", 15),
        ("$eq", {"A_WIDTH": 8, "B_WIDTH": 8, "Y_WIDTH": 1}, "8'00000001", 7),
        ("$mux", {"WIDTH": 8}, r"\b", 8),
        ("$pmux", {"WIDTH": 8, "S_WIDTH": 3}, r"\b", 64),
        ("$shl", {"A_WIDTH": 8, "B_WIDTH": 3, "Y_WIDTH": 8}, r"\b", 24),
        ("$shl", {"A_WIDTH": 8, "B_WIDTH": 3, "Y_WIDTH": 8}, "3'101", 0),
        ("$adffe", {"WIDTH": 8}, "", 16),
    ],
)
def test_an_operation_is_its_plain_circuit(
    kind: str, numbers: dict[str, int], other: str, gates: float
) -> None:
    operation = Operation(kind, numbers, {"A": r"\a", "B": other})
    assert PLAIN[kind](operation, ONE) == gates
