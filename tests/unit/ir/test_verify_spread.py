# SPDX-License-Identifier: Apache-2.0
"""The rules of a step that several cores make together."""

import pytest

from atoll.ir.faults import ProgramError
from atoll.ir.read_module import parse_module
from atoll.ir.verify import verify

GOOD = """\
module small

function @half0(x: i8[4] read, y: i8[4] write, t: i8[2] readwrite) {
  t[0] = x[0]
  y[0] = t[0]
  y[1] = x[1]
}

function @half1(x: i8[4] read, y: i8[4] write, t: i8[2] readwrite) {
  t[0] = x[2]
  y[2] = t[0]
  y[3] = x[3]
}

entry [a] -> [b] {
  allocate a: i8[4] align 16 in global.workspace [ram]
  allocate b: i8[4] align 16 in global.workspace [ram]
  allocate one: i8[2] align 16 in global.workspace [ram]
  allocate two: i8[2] align 16 in global.workspace [ram]
  step 0 both on cpu: spread cpu @half0(a, b, one), dsp @half1(a, b, two) \
reads [a, one, two] writes [b, one, two]
}
"""


def test_the_good_module_passes_and_reads_back() -> None:
    module = parse_module(GOOD)
    verify(module)
    assert str(module) == GOOD
    (step,) = module.entry.steps
    assert step.devices == ("cpu", "dsp")
    assert step.accesses_of("dsp") == (("a", "two"), ("b", "two"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(a, b, two) reads", "(a, b, one) reads", "lets one part read 'one', which another one"),
        ("dsp @half1", "cpu @half1", "spreads over [cpu, cpu], from 'cpu' on"),
        ("both on cpu", "both on dsp", "spreads over [cpu, dsp], from 'dsp' on"),
        (", dsp @half1(a, b, two)", "", "spreads over [cpu], from 'cpu' on"),
        ("dsp @half1", "dsp @half2", "calls 'half2', which is no kernel"),
        ("(a, b, two)", "(a, two, two)", "passes 'two' (2 B) as y: i8[4] write"),
        ("writes [b, one, two]", "writes [b, one]", "does not read and write what its kernel"),
        (
            "[b, one, two]\n",
            "[b, one, two] over [b + 4 <= a]\n",
            "lets results overlap operands that another part may still read",
        ),
    ],
)
def test_broken_rule(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ProgramError) as caught:
        verify(parse_module(GOOD.replace(old, new, 1)))
    assert message in str(caught.value)


def test_a_core_that_is_busy_makes_no_part() -> None:
    begun = (
        "  step 1 first on dsp: begin @half0(a, c, three) reads [a, three] writes [c, three]\n"
        "  step 0 both"
    )
    waits = "  step 1 first on dsp: wait dsp reads [a, three] writes [c, three]\n}"
    more = "".join(
        f"  allocate {name}: i8[{size}] align 16 in global.workspace [ram]\n"
        for name, size in (("c", 4), ("three", 2))
    )
    text = GOOD.replace("  step 0 both", more + begun)
    assert text.endswith("}\n")
    with pytest.raises(ProgramError, match="runs on 'dsp', which is busy with 'first'"):
        verify(parse_module(text[: -len("}\n")] + waits + "\n"))
