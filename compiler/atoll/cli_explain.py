"""What `atoll explain SOC MODEL...` prints: of one network, or of several in one firmware."""

import json
from collections.abc import Mapping, Sequence

from atoll.networks import Word, network_of
from atoll.report.explain_text import Explanation


def explained(told: Sequence[Explanation], buffer: str | None, *, machine: bool) -> str:
    """Return what is told of networks, or of one buffer of one of them.

    Args:
        told: of each network.
        buffer: its name; of several networks ``NETWORK:NAME``.
        machine: as JSON: an object for one network, a list for several.

    Raises:
        UsageError: E028, there is no such buffer; E150, E151, of no network or of a wrong one.
    """
    shown, name = tuple(told), buffer
    if buffer is not None:
        network, name = _buffer_of(told, buffer)
        shown = tuple(each for each in told if each.model == network)
    if machine:
        objects = [each.as_json(name) for each in shown]
        return json.dumps(objects if len(told) > 1 else objects[0], indent=2) + "\n"
    return "\n".join(f"{_title(each, told)}{each.text(name)}" for each in shown)


def _title(one: Explanation, told: Sequence[Explanation]) -> str:
    return f"{one.model} on {one.soc}\n\n" if len(told) > 1 else ""


def _buffer_of(told: Sequence[Explanation], text: str) -> tuple[str, str]:
    """Return the network and the name of a buffer."""
    word = Word(option="--buffer", text=text, name=text, kind="buffer")
    found = network_of(word, [each.model for each in told], lambda: _buffers(told))
    return found or (told[0].model, text)


def _buffers(told: Sequence[Explanation]) -> Mapping[str, tuple[str, ...]]:
    return {
        each.model: tuple(name for story in each.buffers for name in (story.name, *story.views))
        for each in told
    }
