# SPDX-License-Identifier: Apache-2.0
"""What a run tells of the addresses that devices touched, against counting byte by byte."""

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from atoll.resolve import load_soc
from atoll_sim.check.touched import touched_ranges
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import Phase, Touched

SOC = load_soc("lagoon")
SHARED = SOC.pool("shared").region
END = 64


def phase(*touched: Touched, sample: int | None = 0) -> Phase:
    return Phase(sample=sample, operators=(), begin=0, end=1, touched=touched)


def touch(kind: AccessKind, *spans: tuple[int, int], master: str = "npu") -> Touched:
    ranges = tuple(range(SHARED.origin + begin, SHARED.origin + end) for begin, end in spans)
    return Touched(master=master, kind=kind, accesses=1, transferred=1, spans=ranges)


def counted(phases: Iterable[Phase]) -> dict[int, tuple[int, int]]:
    """Return (reads, writes) of each byte."""
    found: dict[AccessKind, Counter[int]] = {each: Counter() for each in AccessKind}
    for each in phases:
        for one in each.touched if each.sample == 0 else ():
            found[one.kind].update(byte for span in one.spans for byte in span)
    reads, writes = found[AccessKind.READ], found[AccessKind.WRITE]
    inside = range(SHARED.origin, SHARED.end)
    return {at: (reads[at], writes[at]) for at in reads | writes if at in inside}


SPANS = st.lists(st.integers(-8, END), min_size=2, max_size=6, unique=True).map(
    lambda ends: list(zip(*[iter(sorted(ends)[: len(ends) // 2 * 2])] * 2, strict=True))
)
TOUCHES = st.builds(lambda kind, spans: touch(kind, *spans), st.sampled_from(AccessKind), SPANS)
PHASES = st.lists(
    st.builds(
        lambda touches, sample: phase(*touches, sample=sample),
        st.lists(TOUCHES, max_size=3),
        st.sampled_from([0, 0, 0, 1, None]),
    ),
    max_size=6,
)


@given(PHASES)
def test_ranges_are_those_of_every_byte(phases: list[Phase]) -> None:
    found = touched_ranges(SOC, phases)
    watched = [each for each in phases if each.sample == 0 and each.touched]
    assert (found is None) == (not watched)
    shown = {}
    for each in found or ():
        assert each.pool == "shared"
        assert each.size_bytes > 0
        for byte in range(each.first_address, each.first_address + each.size_bytes):
            assert byte not in shown
            shown[byte] = (each.phases_read, each.phases_written)
    assert shown == counted(phases)


def test_neighbours_that_are_touched_alike_are_one_range() -> None:
    phases = [phase(touch(AccessKind.READ, (0, 8))), phase(touch(AccessKind.READ, (8, 16)))]
    (found,) = touched_ranges(SOC, phases) or ()
    assert (found.first_address - SHARED.origin, found.size_bytes, found.phases_read) == (0, 16, 1)


def test_cores_that_tell_no_access_are_not_known() -> None:
    assert touched_ranges(SOC, [phase()]) is None
