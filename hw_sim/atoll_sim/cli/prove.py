# SPDX-License-Identifier: Apache-2.0
"""The command `atoll prove`: formal proofs of a chip's interconnect."""

from typing import Annotated

import typer

import atoll
from atoll.api.proofs import SECONDS, DeviceProof, Granted
from atoll.cli.options import JsonOption, SetOption, SocArgument
from atoll.cli.output import log
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.shown import json_text


def prove(
    soc: SocArgument,
    *,
    seconds: Annotated[
        int, typer.Option("--seconds", min=1, help="What the proof of one device may take.")
    ] = SECONDS,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Prove who reaches what on a chip.

    On the interconnect that is simulated, whatever a device asks for reaches exactly what the
    description lets it: nothing else, all of that, and what it reads is from there. It holds for
    runs of any length. Status 1 says that something does not hold, or was not decided in time.

    Example: atoll prove lagoon
    """
    chip = atoll.load_soc(soc, overrides=overrides or ())
    with show_work("proving"):
        found = atoll.prove(chip, seconds=seconds, shown=None if machine else _show)
    if machine:
        print(json_text(found.to_json()), end="")
    elif found.passed:
        log(f"{found.soc}: each device reaches what its description grants, and nothing else")
    if not found.passed:
        raise typer.Exit(1)


def _show(device: DeviceProof) -> None:
    """Print what came out for a device."""
    grants = ", ".join(_grant_text(each) for each in device.grants) or "nothing"
    print(wrap(f"{device.name}: {_outcome(device)}: {grants}", room()), flush=True)


def _grant_text(each: Granted) -> str:
    return f"{each.name} {'rw' if each.write else 'ro'} at {each.first:#x}-{each.last:#x}"


def _outcome(device: DeviceProof) -> str:
    if device.proven:
        return f"proven in {device.seconds:.1f} s"
    if not (access := device.broken):
        return "not decided in time; --seconds gives it more"
    verb = "writes" if access.write else "reads"
    return (
        f"REFUTED: it {verb} {access.size} bytes from {access.address:#x} on, in cycle "
        f"{access.cycle} after reset, and it is not so that it {access.rule}; it may touch"
    )
