"""What the simulator checks of a chip for `atoll check`."""

from functools import partial

from atoll.resolve.soc import ResolvedSoc
from atoll.soc_checks import Findings, faults_of
from atoll_sim.elaborate import elaborate
from atoll_sim.engine_models import model_of
from atoll_sim.platform import plan_chip

LEFT_OUT = ("whether the RTL elaborates (atoll check --simulate)",)


def check(soc: ResolvedSoc, deep: bool) -> Findings:
    """Find what `atoll run` would refuse of `soc`; `deep` also elaborates its RTL."""
    faults = faults_of(partial(plan_chip, soc))
    for engine in soc.engines:
        faults += faults_of(partial(model_of, engine))
    if deep and not faults:
        faults = faults_of(partial(elaborate, soc))
    return Findings(faults=faults, left_out=() if deep else LEFT_OUT)
