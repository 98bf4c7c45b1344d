# SPDX-License-Identifier: Apache-2.0
"""How long to search, and word of how far it got."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from atoll.records import dataclass

SLICE = 1 << 12
"""Most nodes between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a search may spend. Without `seconds`, the same problem gives the same plan always.

    Attributes:
        nodes: of search trees, in all.
        fitting: further nodes for a pool that exact search could fill, as long as no plan fits it.
        seconds: of time, or None.
        seed: of what is drawn at random.
        enough: bytes of a pool below which no more is sought.
    """

    nodes: int = 750_000
    fitting: int = 0
    seconds: float | None = None
    seed: int = 0
    enough: int = 0


USUAL = Effort(fitting=1_250_000)
"""What is spent unless something else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The best so far.

    Attributes:
        used: bytes of the pool that is being packed.
        bound: no plan of it uses less.
        nodes: looked at in all.
        seconds: since the beginning.
    """

    used: int
    bound: int
    nodes: int
    seconds: float


Observer = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """Take no notice."""


class Meter:
    """Counts what is spent."""

    def __init__(self, effort: Effort, observe: Observer = ignore_progress) -> None:
        self.effort = effort
        self.spent = self.fresh_starts = 0
        self._observe = observe
        self._begin = monotonic()
        self._limit = effort.nodes
        self._fitting, self._beyond = effort.fitting, 0

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return monotonic() - self._begin

    @property
    def late(self) -> bool:
        """The time is up."""
        return self.effort.seconds is not None and self.seconds >= self.effort.seconds

    @property
    def over(self) -> bool:
        """Nothing is left."""
        return self.late or self.spent >= self._limit

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Let what is inside spend this part of what is left."""
        limit = self._limit
        self._limit = self.spent + int(part * max(0, limit - self.spent))
        yield
        self._limit = limit

    @contextmanager
    def extend(self) -> Iterator[None]:
        """Let what is inside spend what is left for fitting, and draw other random numbers."""
        limit, spent = self._limit, self.spent
        self._limit = spent + self._fitting
        self.fresh_starts += 1
        yield
        self._fitting -= self.spent - spent
        self._beyond += self.spent - spent
        self._limit, self.spent = limit, spent

    def allow(self, nodes: int) -> Callable[[int], int]:
        """Return how many nodes a search of at most `nodes` may look at next, after some."""
        most = min(nodes, self._limit - self.spent)

        def more(done: int) -> int:
            return 0 if done >= most or self.over else min(most - done, SLICE)

        return more

    def spend(self, nodes: int) -> None:
        """Count the nodes of a search."""
        self.spent += nodes

    def tell(self, used: int, bound: int) -> None:
        """Tell the observer about a better plan or a better bound."""
        self._observe(
            Progress(used=used, bound=bound, nodes=self.spent + self._beyond, seconds=self.seconds)
        )
