# SPDX-License-Identifier: Apache-2.0
"""Try other requests in the place of one that leaves a tensor nothing."""

from collections.abc import Callable, Collection
from dataclasses import field, replace

from atoll.description.pins import Pin
from atoll.place.asked_scopes import PinRequest
from atoll.place.requests import Requests
from atoll.records import dataclass

Holds = Callable[[Requests], bool]
"""Tells whether a network can be placed as other requests have it."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Requests with something else in the place of one; what else is wrong is left out of them.

    Attributes:
        faulty: tensors whose requests do not hold.
        holds: places the network anew, since devices follow requests.
    """

    requests: Requests
    faulty: Collection[str]
    holds: Holds
    _known: dict[tuple[str, PinRequest, str], bool] = field(default_factory=dict)

    def may_be(self, asked: PinRequest, pool: str, *, alone: bool = False) -> bool:
        """Tell whether a pool can be written in the place of a request.

        It is written for all tensors that the request is about, or for its own `alone`.
        """
        key = (asked.tensor if alone else "", _without_tensor(asked), pool)
        if key not in self._known:
            scope = f"global.{pool}" if asked.scope else ""
            pin = Pin.to(pool, applies=asked.pin.applies)
            self._known[key] = self.holds(self._with(asked, scope, pin, alone=alone))
        return self._known[key]

    def may_free(self, tensor: str) -> bool:
        """Tell whether it helps to free a tensor."""
        others = {*self.faulty} - {tensor}
        pins = {name: each for name, each in self.requests.pins.items() if name not in others}
        return self.holds(replace(self.requests, pins=pins, free=self.requests.free | {tensor}))

    def _with(self, asked: PinRequest, scope: str, pin: Pin, *, alone: bool) -> Requests:
        request = _without_tensor(asked)
        pins = {}
        for name, each in self.requests.pins.items():
            mine = name == asked.tensor or not alone
            about = mine and any(_without_tensor(other) == request for other in each)
            if about:
                pins[name] = tuple(
                    replace(other, pin=pin, scope=scope)
                    if _without_tensor(other) == request
                    else other
                    for other in each
                )
            elif name not in self.faulty:
                pins[name] = each
        return replace(self.requests, pins=pins)


def _without_tensor(asked: PinRequest) -> PinRequest:
    """Return what is the same in every tensor that one request is about."""
    return replace(asked, tensor="")
