# SPDX-License-Identifier: Apache-2.0
"""Networks of the second generator do what TFLM does; what is refused is one of a few kinds.

`python -m tests.drawn FIRST COUNT` tries more of them.
"""

from collections import Counter
from pathlib import Path

import pytest
from tests.drawn.compare import OPERATORS, drawn, judged
from tests.effort import cases

from atoll.resolve import load_soc

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")

GROUPS, PER_GROUP = 4, 15
MANY_GROUPS, PER_MANY = 10, 30
REFUSED = (
    "E054 …: operator N (CONV_ND), tensor N ('…'): scale N needs a factor of N",
    "E054 …: operator N (DEPTHWISE_CONV_ND), tensor N ('…'): scale N needs a factor of N",
    "E054 …: operator N (FULLY_CONNECTED), tensor N ('…'): scale N needs a factor of N",
)
"""How refusals begin: factors beyond 2^30, with which TFLM shifts further than a word is long."""


def _tried(seeds: range, folder: Path) -> None:
    soc, words = load_soc("lagoon"), Counter[str]()
    for seed in seeds:
        verdict = judged(seed, folder, soc)
        words[verdict.word] += 1
        assert verdict.word not in ("different", "broke off"), (seed, verdict.says)
        if verdict.word == "refused":
            says = f"E054 …{verdict.says[verdict.says.index(': operator') :]}"
            assert says.startswith(REFUSED), (seed, verdict.says)
    assert words["same"] >= 0.8 * len(seeds), words


@pytest.mark.parametrize("group", range(GROUPS))
def test_drawn_networks_are_equal_to_tflm(group: int, tmp_path: Path) -> None:
    count = cases(PER_GROUP, 5)
    _tried(range(group * PER_GROUP, group * PER_GROUP + count), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("group", range(MANY_GROUPS))
def test_many_drawn_networks_are_equal_to_tflm(group: int, tmp_path: Path) -> None:
    first = 10_000 + group * PER_MANY
    _tried(range(first, first + cases(PER_MANY)), tmp_path)


def test_all_kinds_are_drawn() -> None:
    """Each function of the generator makes an operator in some of 400 networks."""
    codes = {node.code for seed in range(400) for node in drawn(seed)[0].nodes}
    assert len(codes) >= 65, sorted(codes)
    assert len(codes) >= len(set(OPERATORS))
