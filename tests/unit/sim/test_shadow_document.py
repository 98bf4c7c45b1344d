# SPDX-License-Identifier: Apache-2.0
"""docs/shadow.md lists every finding that there is, with the promise that it breaks."""

import re
from pathlib import Path

from atoll_sim.shadow.rules import RULES

ROOT = Path(__file__).parents[3]


def test_every_finding_has_a_row_in_the_order_of_the_rules() -> None:
    text = (ROOT / "docs" / "shadow.md").read_text()
    rows = re.findall(r"^\| ([a-z -]+) \| ([A-Z]\d) \|", text, re.M)
    assert sorted(rows) == sorted((rule.name, rule.number) for rule in RULES)
