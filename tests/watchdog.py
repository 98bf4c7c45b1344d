# SPDX-License-Identifier: Apache-2.0
"""The watchdog of a chip on the instruction-set simulator, for tests of what a restart leaves."""

import pytest

from atoll_sim.iss.devices import Guard


def restart_once(monkeypatch: pytest.MonkeyPatch, cycle: int) -> list[Guard]:
    """Have the watchdog restart a chip at a cycle, once; return the guards that did so far."""
    ends: list[Guard] = []
    restart = Guard.restart

    def restarted(guard: Guard) -> None:
        ends.append(guard)
        restart(guard)

    monkeypatch.setattr(Guard, "restarts", property(lambda _: None if ends else cycle))
    monkeypatch.setattr(Guard, "restart", restarted)
    return ends
