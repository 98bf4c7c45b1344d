# SPDX-License-Identifier: Apache-2.0
"""What the simulator checks of a chip for `atoll check`."""

from functools import partial

from atoll.diagnostics.errors import AtollError, ToolchainError
from atoll.plugins.loading import load
from atoll.resolve.soc import ResolvedSoc
from atoll.soc_checks import ELABORATES, Findings, Player, faults_of
from atoll_sim.backends.session import CpuKind
from atoll_sim.chip.checks import check_cores
from atoll_sim.chip.plan import plan_chip
from atoll_sim.engines.calls import model_of
from atoll_sim.qemu.relink import relinking_for

WITHOUT_RTL = "E259"
"""The chip lacks nothing: of some of it there is no RTL, which the player of RTL says."""

ELABORATE = "atoll_sim.build.elaborate:elaborate"
"""Imported only where it is asked for."""


def check(soc: ResolvedSoc, deep: bool) -> Findings:
    """Find what `atoll run` would refuse of `soc`; `deep` also elaborates its RTL."""
    faults = faults_of(partial(plan_chip, soc))
    if deep or all(cpu.spec.rtl_module for cpu in soc.cpus):
        of_cores = faults_of(partial(check_cores, soc))
        faults += tuple(each for each in of_cores if deep or each.code != WITHOUT_RTL)
    for engine in (each for each in soc.engines if each.spec.model):
        faults += faults_of(partial(model_of, engine))
    notes: tuple[str, ...] = ()
    if deep and not faults:
        try:
            notes = load(ELABORATE)(soc)
        except AtollError as error:
            faults = error.faults
    players = tuple(_player(kind, soc) for kind in CpuKind)
    return Findings(
        faults=faults, notes=notes, left_out=() if deep else (ELABORATES,), players=players
    )


def _player(kind: CpuKind, soc: ResolvedSoc) -> Player:
    """Return whether `kind` plays `soc`; without the tool that tells, nobody knows."""
    try:
        kind.check_chip(soc)
    except ToolchainError as error:
        return Player(cpu=kind, unknown=error.faults[0].message)
    except AtollError as error:
        return Player(cpu=kind, faults=error.faults)
    relinked = relinking_for(soc) if kind is CpuKind.QEMU else None
    note = f"the same code at other addresses, on {relinked.place}" if relinked else ""
    return Player(cpu=kind, note=note)
