# SPDX-License-Identifier: Apache-2.0
"""The command `atoll explain`: a chip, or networks that share one firmware on it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.network_words import Word, network_of
from atoll.cli.options import (
    AcceleratorsOption,
    AnyModelsArgument,
    JsonOption,
    PlacementOptions,
    SetOption,
    SocArgument,
    complete_with,
)
from atoll.cli.output import log
from atoll.cli.requests import build_options, compile_files, log_unsure
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.utils.files import require_writable, write_text


def explain(
    soc: SocArgument,
    models: AnyModelsArgument = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Say all about a buffer, by any name that --scope takes, patterns too; of several "
            "MODELs, NETWORK:NAME.",
            autocompletion=complete_with("tensors"),
        ),
    ] = None,
    *,
    operators: Annotated[
        bool,
        typer.Option("--operators", help="Say what each device does: operators, MACs, cycles."),
    ] = False,
    scopes: Annotated[
        bool,
        typer.Option(
            "--scopes",
            help="Say of each operator and tensor which device type, id, target and memory scope "
            "were asked, joined and chosen, and who said so.",
        ),
    ] = False,
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates",
            help="Say what was tried to find the plan, what each candidate takes or lacks, and why "
            "it lost.",
        ),
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the chip's memories, and who reaches them, here (SVG)."
        ),
    ] = None,
    placement: PlacementOptions,
    overrides: SetOption = None,
    accelerators: AcceleratorsOption = True,
    machine: JsonOption = False,
) -> None:
    """Explain a chip, or where a network's buffers are.

    Without MODEL: addresses, windows, limits and defaults, each with the layer that set it.
    With MODELs: for every buffer where it is, and for every operator why it runs where it runs.
    With --operators: how many operators, multiply-accumulates and cycles each device has of them.
    With --scopes: the execution scope of every operator and tensor, and who said so.
    With --candidates: what was tried to find the plan, and why the rest of it lost.
    With --buffer: the rule that put it there, who touches it, and what each other place lacks.

    Example: atoll explain lagoon model.tflite --buffer input
    """
    chip = atoll.load_soc(soc, overrides=overrides or ())
    if figure:
        _draw(chip, figure, models or ())
    if not models:
        _refuse_without_model(
            buffer=buffer,
            operators=operators,
            scopes=scopes,
            candidates=candidates,
            **asdict(placement),
        )
        with names_as_written(None if machine else soc):
            tables = chip.explain()
            print(json_text(tables.to_json()) if machine else tables.text(room()), end="")
        return
    options = build_options(models, placement, accelerators=accelerators)
    with show_work("compiling and planning"):
        compiled = compile_files(chip, models, options)
    log_unsure(compiled)
    with names_as_written(None if machine else soc, (each._compiled.graph for each in compiled)):
        if candidates:
            print(_candidates_text(tuple(compiled), chip.name, machine=machine), end="")
            return
        told = tuple(each.explain() for each in compiled)
        if scopes and not machine:
            print("\n".join(f"{_title(each, told)}{each.scopes_text()}" for each in told), end="")
        elif operators and not machine:
            print(_coverage_text(told), end="")
        else:
            print(explanation_text(told, buffer, machine=machine), end="")


def _candidates_text(networks: Sequence[atoll.CompiledNetwork], soc: str, *, machine: bool) -> str:
    """Return what was tried of each network."""
    if machine:
        objects = [each.candidates_json() for each in networks]
        return json_text(objects if len(networks) > 1 else objects[0])
    return "\n".join(
        f"{_network_heading(each.name, soc, networks)}{each.candidates_text(room())}"
        for each in networks
    )


def _coverage_text(told: Sequence[atoll.Explanation]) -> str:
    return "\n".join(f"{_title(each, told)}{each.operators_text(room())}" for each in told)


def _draw(soc: atoll.Soc, figure: Path, models: Sequence[Path]) -> None:
    if models:
        remedy = "leave MODEL out, or draw its pools with atoll plan --figure"
        raise UsageError("E090", "--figure draws a chip without a MODEL", remedy=remedy)
    require_writable(figure)
    write_text(figure, soc.svg())
    log(f"wrote {figure}")


def _refuse_without_model(**asked: object) -> None:
    if given := next((name for name, value in asked.items() if value), None):
        option = f"--{given.removesuffix('_file')}"
        raise UsageError("E090", f"{option} needs a MODEL", remedy="see atoll explain --help")


def explanation_text(
    told: Sequence[atoll.Explanation], buffer: str | None, *, machine: bool
) -> str:
    """Return what is told of networks, or of one buffer of one of them.

    Args:
        told: of each network.
        buffer: its name, or a pattern; of several networks ``NETWORK:NAME``.
        machine: as JSON: an object for one network, a list for several.

    Raises:
        UsageError: E028, there is no such buffer; E150, E151, of no network or of a wrong one.
    """
    shown, name = tuple(told), buffer
    if buffer is not None:
        network, name = _buffer_of(told, buffer)
        shown = tuple(each for each in told if each.network == network)
    if machine:
        objects = [each.to_json(name) for each in shown]
        return json_text(objects if len(told) > 1 else objects[0])
    return "\n".join(f"{_title(each, told)}{each.text(name, room())}" for each in shown)


def _title(one: atoll.Explanation, told: Sequence[atoll.Explanation]) -> str:
    return _network_heading(one.network, one.soc, told)


def _network_heading(model: str, soc: str, every: Sequence[object]) -> str:
    """Return a line that names one of several networks."""
    return f"{model} on {soc}\n\n" if len(every) > 1 else ""


def _buffer_of(told: Sequence[atoll.Explanation], text: str) -> tuple[str, str]:
    """Return the network and the name of a buffer."""
    word = Word(option="--buffer", text=text, name=text, kind="buffer")
    found = network_of(word, [each.network for each in told], lambda: _buffers(told))
    return found or (told[0].network, text)


def _buffers(told: Sequence[atoll.Explanation]) -> Mapping[str, tuple[str, ...]]:
    return {each.network: each.buffers for each in told}
