"""Build options of one network, as a command line and a file ask for them."""

from collections.abc import Sequence
from pathlib import Path

from atoll.description.build import BuildRequests
from atoll.description.build_networks import Wishes, network_requests


def load_requests(
    path: Path | None,
    place: Sequence[str] = (),
    pin: Sequence[str] = (),
    free: Sequence[str] = (),
    overlap: str | None = None,
    spread: bool | None = None,
    on_device: Sequence[str] = (),
    thread: Sequence[str] = (),
) -> BuildRequests:
    """Load the options at `path`, if any, with the other ones on top."""
    wishes = Wishes(tuple(place), tuple(pin), tuple(free), tuple(on_device), tuple(thread))
    (asked,) = network_requests(path, {"network": wishes}, overlap, spread)
    return asked
