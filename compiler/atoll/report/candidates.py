# SPDX-License-Identifier: Apache-2.0
"""What `atoll explain SOC MODEL --candidates` prints: what the compiler tried, and why it lost."""

from collections.abc import Iterable

from atoll.driver.candidate import CandidateStory
from atoll.resolve.tables import Table


def candidate_table(stories: Iterable[CandidateStory]) -> Table:
    """Return one line for each candidate, in the order in which they were tried."""
    return Table(
        key="candidates",
        title="Candidates",
        columns=("number", "candidate", "outcome", "cycles", "bytes", "why"),
        rows=tuple(
            (
                number,
                each.words,
                each.outcome,
                "-" if each.cycles is None else each.cycles,
                sum(each.used.values()) if each.used else "-",
                each.why or "-",
            )
            for number, each in enumerate(stories, 1)
        ),
    )
