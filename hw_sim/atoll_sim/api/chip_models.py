# SPDX-License-Identifier: Apache-2.0
"""Models of chips that `atoll.run` needs: their names, and their files for other machines."""

from typing import Any

from atoll.resolve.soc import ResolvedSoc
from atoll_sim.backends.session import Backends
from atoll_sim.build import model
from atoll_sim.build.verilator import keep_executable


def name_of_model(soc: ResolvedSoc, *, cores: bool) -> str | None:
    """Return the name of the model for a run; None if it needs none.

    Args:
        soc: the chip.
        cores: the cores are RTL, too; else its engines alone are.

    Raises:
        AtollError: the chip cannot be simulated.
    """
    asked = _request(soc, cores=cores)
    return None if asked is None else model.name_of(soc, **asked)


def build_model(soc: ResolvedSoc, *, cores: bool) -> tuple[str, bytes] | None:
    """Return name and file of that model, built if it was not yet.

    Raises:
        AtollError: as `name_of_model`; a tool is missing or fails.
    """
    asked = _request(soc, cores=cores)
    if asked is None:
        return None
    return model.name_of(soc, **asked), model.build_model(soc, **asked).read_bytes()


def keep_model(name: str, data: bytes) -> None:
    """Keep a model that was built on another machine by the same tools.

    Raises:
        UsageError: E092; the cache is not writable.
    """
    keep_executable(name, data)


def _request(soc: ResolvedSoc, *, cores: bool) -> dict[str, Any] | None:
    others = Backends().models(soc)
    if not cores and len(others) == len(soc.engines):
        return None
    return {"external_host": not cores, "stand_ins": others}
