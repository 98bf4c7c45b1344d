# SPDX-License-Identifier: Apache-2.0
"""What results of networks that share a firmware have in common."""

from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from atoll.api.notebook import Row
from atoll.records import dataclass


class OfNetwork(Protocol):
    """The result of one network."""

    @property
    def network(self) -> str:
        """Its name."""
        ...

    def rows(self) -> list[Row]:
        """Return its operators."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return what a command prints of it."""
        ...

    def _repr_html_(self) -> str: ...


Each = TypeVar("Each", bound=OfNetwork)


@dataclass(frozen=True, slots=True)
class Together(Generic[Each]):
    """Results, one for each network."""

    networks: tuple[Each, ...]

    @property
    def network(self) -> Each:
        """The only network.

        Raises:
            ValueError: there are several.
        """
        (one,) = self.networks
        return one

    def rows(self) -> list[Row]:
        """Return the operators of all networks."""
        return [{"network": each.network, **row} for each in self.networks for row in each.rows()]

    def to_json(self) -> dict[str, Any] | list[dict[str, Any]]:
        """Return what the command prints with ``--json``: an object, or a list for several."""
        objects = [each.to_json() for each in self.networks]
        return objects if len(objects) > 1 else objects[0]

    def __iter__(self) -> Iterator[Each]:
        return iter(self.networks)

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.networks)
