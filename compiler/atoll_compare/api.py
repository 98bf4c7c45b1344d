# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.diff`."""

from atoll.api.chips import Overrides, SocSource
from atoll.api.differences import Diff
from atoll_compare.changes import changes
from atoll_compare.sides import things_at


def compare(before: SocSource, after: SocSource, overrides: Overrides) -> Diff:
    """Return what differs between two sides, as `things_at` takes them."""
    return Diff(tuple(changes(things_at(before), things_at(after, overrides))))
