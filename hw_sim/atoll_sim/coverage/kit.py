# SPDX-License-Identifier: Apache-2.0
"""What the conformance kit reached of an accelerator: both instances, and all its runs, as one."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from atoll.api.kits import FeatureCoverage
from atoll.resolve.soc import Engine, OperatorSupport
from atoll_sim.coverage.bins import Group, Hits
from atoll_sim.coverage.folder import Sums, add_sums, read_sums
from atoll_sim.coverage.points import Counts

_INSTANCE = re.compile(r"(\x01h\x02[^.\x01]+\.)u_(\w+)(?=[.\x01]|$)")
_RULE = re.compile(r"(\w+) (could break A[0-9]+)")


def add_kit(
    folder: Path,
    engine: Engine,
    instances: Sequence[str],
    drawn: Mapping[str, int],
    features: Sequence[FeatureCoverage],
    ran: Path,
) -> str:
    """Add what one run of the kit reached to a folder, and say what all of them did.

    Args:
        folder: takes the sums.
        engine: an instance of the accelerator.
        instances: the names of all of them.
        drawn: how many operators of each kind were.
        features: what they were like.
        ran: folder to which the kit's runs in RTL were added; it need not be there.

    Raises:
        UsageError: E092, the folder cannot be written; E258, it has counts of other RTL.
    """
    spec = engine.spec
    runs = read_sums(ran).values()
    counts, rules = Counter[str](), Counter[str]()
    for each in runs:
        counts.update(_of_accelerator(each.counts, instances, spec.name))
        rules.update(_rules(each.hits.get(Group.RULES, {}), spec.name))
    kinds = {f"{spec.name} runs {each.kind}": drawn.get(each.kind, 0) for each in spec.operators}
    limits = {name: hit for each in spec.operators for name, hit in _limits(each, features)}
    new = Sums(
        devices=(spec.name,),
        runs=1,
        hits={Group.OPERATORS: kinds, Group.LIMITS: limits, Group.RULES: dict(rules)},
        counts=dict(counts),
    )
    return add_sums(folder, name_of(spec.name), new)


def name_of(accelerator: str) -> str:
    """Return the name of its sums, which no chip has."""
    return f"{accelerator}-kit"


def _of_accelerator(counts: Counts, instances: Sequence[str], name: str) -> Counts:
    """Return the sums over the instances of an accelerator, which the kit's host only drives."""
    sums: Counter[str] = Counter()
    for fields, count in counts.items():
        found = _INSTANCE.search(fields)
        if found and found[2] in instances:
            sums[_INSTANCE.sub(rf"\1u_{name}", fields)] += count
    return sums


def _rules(hits: Hits, name: str) -> Hits:
    sums: Counter[str] = Counter()
    for each, count in hits.items():
        sums[_RULE.sub(rf"{name} \2", each)] += count
    return sums


def _limits(
    support: OperatorSupport, features: Sequence[FeatureCoverage]
) -> Iterator[tuple[str, int]]:
    """Yield each limit of a kind of operator, and whether an operator was as it says."""
    kind = support.kind
    tried = {each.feature: each for each in features if each.operator == kind.upper()}
    for feature, (least, most) in support.limits.items():
        found = tried.get(feature)
        if least is not None:
            yield f"{kind}: {feature} at least {least}", int(bool(found and found.least == least))
        if most is not None and most != least:
            yield f"{kind}: {feature} at most {most}", int(bool(found and found.most == most))
