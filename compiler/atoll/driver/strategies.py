# SPDX-License-Identifier: Apache-2.0
"""The strategies by name; packages add theirs with entry points in ``atoll.strategies``.

A strategy takes a `Search` and yields candidates; it sees what came of all before.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import count

from atoll.diagnostics.errors import AtollError
from atoll.driver.candidate import Candidate
from atoll.driver.search import Search
from atoll.plugins.parts import CORRECT_MEMBER, foreign_code
from atoll.plugins.registry import Registry

_END = object()

Strategy = Callable[[Search], Iterable[Candidate]]

STRATEGIES: Registry[Strategy] = Registry(
    group="atoll.strategies",
    noun="strategy",
    own={"usual": "atoll.driver.usual:propose"},
    interface=("search",),
)


def proposals(search: Search) -> Iterable[Candidate]:
    """Return what the strategy of a task proposes.

    Raises:
        AtollError: as `Registry.get`; E111, E112, another package's strategy fails, or proposes
            what is no candidate.
    """
    requests = search.task.options.requests
    name = requests.model.strategy
    proposed = STRATEGIES.get(name, at=requests.where.at("strategy"))(search)
    return proposed if name in STRATEGIES.own else _checked(proposed, f"strategy '{name}'")


def _checked(proposed: object, who: str) -> Iterator[Candidate]:
    """Yield what code of another package yields."""
    with foreign_code(f"{who} returned no candidates", code="E112", remedy=CORRECT_MEMBER):
        candidates = iter(proposed)  # type: ignore[call-overload]
    for number in count():
        with foreign_code(f"{who} failed", remedy=CORRECT_MEMBER):
            candidate = next(candidates, _END)
        if candidate is _END and number:
            return
        if not isinstance(candidate, Candidate):
            what = "nothing" if candidate is _END else f"{candidate!r:.80}, no candidate"
            raise AtollError("E112", f"{who} proposed {what}", remedy=CORRECT_MEMBER)
        yield candidate
