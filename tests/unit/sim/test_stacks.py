# SPDX-License-Identifier: Apache-2.0
"""A watermark counts only on a stack that its core is known to have painted (K5)."""

from collections.abc import Sequence

import pytest

from atoll.report.result import StackUse
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.bound import StackBound
from atoll_sim.check.stack_use import PAINT, overruns, stack_use, unmeasured_stacks
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.painted_stacks import stack_name, unpainted_bytes
from atoll_sim.trace.simulation import Phase, SimResult, Stop, Touched

BOUND = 528
WORD = PAINT.to_bytes(4, "little")


@pytest.fixture(scope="module")
def twin() -> ResolvedSoc:
    return load_soc("twin")


def phases(soc: ResolvedSoc, spans: Sequence[range], kind: AccessKind) -> tuple[Phase, ...]:
    """Return one phase for each span, as if the second core had touched them while others ran."""
    core = soc.cpus[1].name
    return tuple(
        Phase(
            sample=number or None,
            operators=(),
            begin=number,
            end=number + 1,
            touched=(
                Touched(master=core, kind=kind, accesses=1, transferred=4, spans=(span,)),
                Touched(master="cpu", kind=kind, accesses=1, transferred=4, spans=(range(4),)),
            ),
        )
        for number, span in enumerate(spans)
    )


def result(soc: ResolvedSoc, painted: int, kind: AccessKind = AccessKind.WRITE) -> SimResult:
    """Return a run that ended when the second core had painted so many bytes of its stack."""
    stack = soc.cpus[1].stack
    cut = stack.end - painted
    spans = [range(cut, cut + painted // 2), range(cut + painted // 2, stack.end)]
    ran = phases(soc, spans, kind) if painted else ()
    return SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(0,),
        outputs=({},),
        layers=({},),
        phases=ran,
        findings=(),
        findings_total=0,
        stacks={"dsp": bytes(stack.size - painted) + WORD * (painted // 4)},
        text="",
        trapped=None,
        cycles=9,
        wall_seconds=1.0,
        unpainted=unpainted_bytes(soc, ran),
    )


def dsp_use(soc: ResolvedSoc, ran: SimResult) -> StackUse:
    bounds = {"dsp": StackBound(bytes=BOUND, path=())}
    uses = stack_use(soc, ran, bounds)
    assert tuple(overruns(soc, uses)) == ()
    return uses["dsp"]


@pytest.mark.parametrize("left", [4, 8, 1024])
def test_k5_a_stack_that_is_still_being_painted_has_no_watermark(
    twin: ResolvedSoc, left: int
) -> None:
    size = twin.cpus[1].stack.size
    use = dsp_use(twin, result(twin, size - left))
    assert use.watermark is None
    assert use.unmeasured == (
        f"when the run ended, 'dsp' had painted {size - left:,} B of the {size:,} B"
    )


def test_k5_a_stack_that_nobody_painted_has_no_watermark(twin: ResolvedSoc) -> None:
    size = twin.cpus[1].stack.size
    use = dsp_use(twin, result(twin, 0))
    assert (use.watermark, "had painted 0 B" in use.unmeasured) == (None, True)
    read_only = dsp_use(twin, result(twin, size, AccessKind.READ))
    assert read_only.watermark is None, "reading is no painting"


def test_k5_a_painted_stack_is_measured(twin: ResolvedSoc) -> None:
    use = dsp_use(twin, result(twin, twin.cpus[1].stack.size))
    assert (use.watermark, use.unmeasured) == (0, "")


def test_what_was_not_measured_is_said_in_a_note(twin: ResolvedSoc) -> None:
    uses = stack_use(twin, result(twin, 400), {})
    (note,) = unmeasured_stacks(uses)
    assert note.startswith(
        "stack dsp was not measured: when the run ended, 'dsp' had painted 400 B"
    )


def test_each_thread_is_painted_on_its_own() -> None:
    soc = load_soc("lagoon", ["devices.cpu.stack.threads.io=4KiB"])
    main, thread = soc.host_cpu.stacks
    touched = Touched(
        master="cpu",
        kind=AccessKind.WRITE,
        accesses=1,
        transferred=4,
        spans=(range(main.origin, main.end), range(thread.origin + 4, thread.end)),
    )
    ran = (Phase(sample=None, operators=(), begin=0, end=1, touched=(touched,)),)
    assert unpainted_bytes(soc, ran) == {stack_name(main): 0, stack_name(thread): 4}
