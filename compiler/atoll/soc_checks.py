# SPDX-License-Identifier: Apache-2.0
"""What `atoll check` promises of a chip, beyond what its description says by itself.

Packages add checks with entry points of the group ``atoll.check``: a function that takes a
`ResolvedSoc` and whether it shall spend time, and returns `Findings`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint, entry_points

from atoll.bsp.emitters import check_bsp
from atoll.description.faults import in_order
from atoll.diagnostics.errors import AtollError, Fault, UsageError
from atoll.interchange.mpool import pool_file_of
from atoll.plugins.loading import foreign_code
from atoll.records import dataclass
from atoll.resolve.engine_parts import check_functions, identity_of
from atoll.resolve.soc import ResolvedSoc
from atoll.vela.ini_file import vela_config_of

GROUP = "atoll.check"
FITS = "whether a network fits and what emitters make of it (atoll plan, atoll run)"
SIMULATED = "whether the chip can be simulated"
ELABORATES = "whether the RTL elaborates (atoll check --simulate)"
ALWAYS_LEFT_OUT = (FITS, "the tools of this machine (atoll doctor)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Somebody who plays the cores of chips.

    Attributes:
        cpu: the word of ``atoll run --cpu``.
        faults: why it cannot play the chip; none: it can.
        unknown: why nobody knows whether it can, "" if that is known.
        note: what is not as on the chip where it can, "" if there is nothing to say.
    """

    cpu: str
    faults: tuple[Fault, ...] = ()
    unknown: str = ""
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the player for programs."""
        why = [fault.to_json() for fault in self.faults]
        plays = None if self.unknown else not why
        told = {"not_known": self.unknown, "note": self.note}
        return {"cpu": self.cpu, "plays": plays, "why_not": why, **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a check found.

    Attributes:
        faults: what a command would refuse.
        notes: what is perhaps not meant.
        left_out: what was not looked at, each with the way to have it looked at.
        players: who can play the cores, and who cannot; empty: nobody was asked.
    """

    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    players: tuple[Player, ...] = ()


def check_soc(soc: ResolvedSoc, *, simulate: bool | None = None) -> Findings:
    """Find what keeps `soc` from being built and simulated; return the rest, without faults.

    Args:
        soc: the chip.
        simulate: True elaborates its RTL; False leaves the simulator out; None asks the
            simulator for what takes no time.

    Raises:
        AtollError: with all faults.
        UsageError: E090; `simulate` is asked for, and there is no simulator.
    """
    points = [] if simulate is False else list(entry_points(group=GROUP))
    if simulate and not points:
        raise UsageError("E090", "--simulate: no simulator is installed", remedy="install it")
    found = [Findings(faults=tuple(_own_faults(soc)))]
    found += [_ask(point, soc, deep=bool(simulate)) for point in points]
    faults = dict.fromkeys(fault for each in found for fault in each.faults)
    if faults:
        raise AtollError.all(in_order(faults))
    without = () if points else (SIMULATED,)
    left_out = (words for each in found for words in each.left_out)
    return Findings(
        notes=tuple(note for each in found for note in each.notes),
        left_out=(*without, *left_out, *ALWAYS_LEFT_OUT),
        players=tuple(player for each in found for player in each.players),
    )


def faults_of(action: Callable[[], object]) -> tuple[Fault, ...]:
    """Return the faults with which `action` ends, none if it comes to its end."""
    try:
        action()
    except AtollError as error:
        return error.faults
    return ()


def _own_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    for engine in soc.engines:
        yield from faults_of(partial(identity_of, engine))
        yield from faults_of(partial(check_functions, engine))
    yield from faults_of(partial(check_bsp, soc))
    yield from faults_of(partial(pool_file_of, soc))
    yield from faults_of(partial(vela_config_of, soc))


def _ask(point: EntryPoint, soc: ResolvedSoc, *, deep: bool) -> Findings:
    what = f"plug-in '{point.value}' of {GROUP} failed"
    with foreign_code(what, remedy="correct or remove the package that adds it"):
        found = point.load()(soc, deep)
    if isinstance(found, Findings):
        return found
    raise AtollError(
        "E112",
        f"plug-in '{point.value}' of {GROUP} returned {found!r:.80}, no Findings",
        remedy="correct or remove the package that adds it",
    )
