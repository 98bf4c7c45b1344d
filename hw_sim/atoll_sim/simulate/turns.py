# SPDX-License-Identifier: Apache-2.0
"""What each of several networks did in a run of the firmware that they share."""

from dataclasses import replace

from atoll_sim.trace.simulation import Phase, SimResult


def turn_of(result: SimResult, number: int, count: int) -> SimResult:
    """Return what one of `count` models did, as if it had been alone.

    Phases and findings of other models are left out, the ones outside of any run stay.
    """
    findings = tuple(each for each in result.findings if each.model in (None, number))
    return replace(
        result,
        findings=findings,
        findings_total=sum(each.violation.count for each in findings),
        results=result.results[number::count],
        outputs=result.outputs[number::count],
        layers=result.layers[number::count],
        heat=result.heat[number::count],
        phases=tuple(
            _renumber(phase, count)
            for phase in result.phases
            if phase.sample is None or phase.sample % count == number
        ),
    )


def _renumber(phase: Phase, count: int) -> Phase:
    return phase if phase.sample is None else replace(phase, sample=phase.sample // count)
