# SPDX-License-Identifier: Apache-2.0
"""Build options of one network, as a command line and a file ask for them."""

from collections.abc import Sequence
from pathlib import Path

from atoll.description.build import BuildRequests, Words
from atoll.description.build_networks import network_requests


def load_requests(
    path: Path | None,
    place: Sequence[str] = (),
    pin: Sequence[str] = (),
    free: Sequence[str] = (),
    overlap: str | None = None,
    spread: bool | None = None,
    *,
    robust: bool | None = None,
    **more: Sequence[str],
) -> BuildRequests:
    """Load the options at `path`, if any, with the other ones on top."""
    words = Words(place=place, pin=pin, free=free, robust=robust, **more)
    (asked,) = network_requests(path, {"network": words}, overlap, spread)
    return asked
