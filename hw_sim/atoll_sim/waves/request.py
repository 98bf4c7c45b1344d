# SPDX-License-Identifier: Apache-2.0
"""What a user asks to record."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from atoll.cli.network_words import Word, network_of
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.units import parse_size
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Graph
from atoll.records import dataclass
from atoll.utils.files import require_writable
from atoll_sim.build.wave_formats import WaveFormat, format_of

DEFAULT_LIMIT = "1 GiB"
VIEWS = (".gtkw", ".sucl")
"""Extensions of the save files beside a waveform: for GTKWave and for Surfer."""

NEAR = 5
"""Operators that an error message offers."""

Names = Mapping[int, str]
"""Names of a network's operators by their numbers in TRACE events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waves:
    """Waveforms to record.

    Attributes:
        path: the file; its save files lie beside it.
        first: cycle at which recording begins.
        last: last cycle recorded; None: the last of the run.
        operator: record its first run alone.
        network: number of the network that has this operator, in the order of their turns.
        limit: recording ends when the file has so many bytes.
    """

    path: Path
    format: WaveFormat
    first: int = 0
    last: int | None = None
    operator: str | None = None
    network: int = 0
    limit: int

    def views(self) -> tuple[Path, ...]:
        """Return the save files: for GTKWave, for Surfer."""
        return tuple(self.path.with_suffix(suffix) for suffix in VIEWS)


def request_waves(
    path: Path | None,
    *,
    first: int | None = None,
    last: int | None = None,
    operator: str | None = None,
    limit: str | None = None,
) -> Waves | None:
    """Check what a command line asks to record, and that its files can be written.

    Returns:
        None if `path` is None.

    Raises:
        UsageError: E089, it contradicts itself or this machine cannot write the format; E092, a
            file cannot be written.
    """
    if path is None:
        if (first, last, operator, limit) != (None,) * 4:
            raise _refusal("no file for the waveforms", "add --waves FILE")
        return None
    if operator is not None and (first is not None or last is not None):
        raise _refusal(
            "both an operator and cycles say what to record",
            "give --waves-operator, or --waves-from and --waves-to",
        )
    if last is not None and last < (first or 0):
        raise _refusal(
            f"--waves-to {last} lies before --waves-from {first}", "exchange the two cycles"
        )
    waves = Waves(
        path=path,
        format=format_of(path),
        first=first or 0,
        last=last,
        operator=operator,
        limit=_bytes(limit or DEFAULT_LIMIT),
    )
    for file in (path, *waves.views()):
        require_writable(file)
    return waves


def operator_names(graph: Graph) -> Names:
    """Return the names of the operators of a placed graph."""
    return dict(enumerate(operator.name for operator in graph.operators))


def of_network(waves: Waves | None, models: Sequence[Compiled]) -> Waves | None:
    """Return the request with the operator's network, which it names if there are several.

    Raises:
        UsageError: E025, the network has no such operator; E150, E151, none is named, or one that
            is not there.
    """
    if waves is None or waves.operator is None:
        return waves
    names = {model.graph.name: operator_names(model.graph) for model in models}
    text = waves.operator
    word = Word(option="--waves-operator", text=text, name=text, kind="operator")
    networks = list(names)
    found = network_of(word, networks, lambda: {n: list(names[n].values()) for n in networks})
    network, operator = found or (networks[0], text)
    waves = replace(waves, operator=operator, network=networks.index(network))
    operator_number(waves, names[network])
    return waves


def operator_number(waves: Waves, names: Names) -> int | None:
    """Return the number of the operator that `waves` names, None if it names none.

    Raises:
        UsageError: E025, the network has no such operator.
    """
    if waves.operator is None:
        return None
    numbers = {name: number for number, name in names.items()}
    if waves.operator not in numbers:
        near = get_close_matches(waves.operator, numbers, n=NEAR, cutoff=0.0)
        raise UsageError(
            "E025",
            f"--waves-operator names '{waves.operator}', which the network does not have",
            remedy=f"name one of its operators, such as {', '.join(near)}",
        )
    return numbers[waves.operator]


def _bytes(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as fault:
        raise _refusal(f"--waves-limit: {fault}", "write a size such as '200 MiB'") from fault


def _refusal(message: str, remedy: str) -> UsageError:
    return UsageError("E089", message, remedy=remedy)
