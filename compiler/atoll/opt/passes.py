# SPDX-License-Identifier: Apache-2.0
"""All passes by name, in the order of the compiler; and a pass as the command line asks for it."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from atoll.diagnostics.errors import UsageError
from atoll.opt.graph_passes import GRAPH_PASSES
from atoll.opt.module_passes import MODULE_PASSES
from atoll.opt.text_pass import Chip, PassOption, TextPass
from atoll.records import dataclass

PASSES = (*GRAPH_PASSES, *MODULE_PASSES)
BY_NAME: Mapping[str, TextPass] = {each.name: each for each in PASSES}


@dataclass(frozen=True, slots=True)
class Requested:
    """A pass with its options."""

    each: TextPass
    options: Mapping[str, Any]


def read_request(text: str, *, chip: bool) -> Requested:
    """Return the pass that ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE`` asks for.

    Args:
        text: as the command line has it.
        chip: whether one is given.

    Raises:
        UsageError: E209, there is no such pass, or none that text is enough for; E208, an option
            is none of the pass, or has no value that it takes; E199, the pass needs a chip.
    """
    name, _, written = text.partition(":")
    if name not in BY_NAME:
        near = get_close_matches(name, BY_NAME, 1)
        offer = f"write '{near[0]}'" if near else "use one that 'atoll opt --list' names"
        raise UsageError("E209", f"there is no pass '{name}'", remedy=offer)
    each = BY_NAME[name]
    if each.run is None:
        raise UsageError(
            "E209",
            f"pass '{name}' needs {each.lacks}, which no text holds",
            remedy=f"see what it makes with 'atoll build --dump-after {each.stage}'",
        )
    if each.chip is Chip.NEEDED and not chip:
        raise UsageError(
            "E199", f"pass '{name}' needs a chip", remedy="add '--soc CHIP', such as '--soc lagoon'"
        )
    return Requested(each, _options(each, written))


def _options(each: TextPass, written: str) -> Mapping[str, Any]:
    known = {option.name: option for option in each.options}
    values: dict[str, Any] = {}
    for part in filter(None, written.split(",")):
        key, equals, value = part.partition("=")
        if key not in known:
            listed = ", ".join(known) or "none"
            remedy = f"its options: {listed}"
            raise UsageError("E208", f"pass '{each.name}' has no option '{key}'", remedy=remedy)
        try:
            values[key] = known[key].read(value if equals else "")
        except ValueError as fault:
            raise _wrong_option(each, known[key], f"is '{value}'", str(fault)) from fault
    for option in each.options:
        if option.name not in values and option.default is None:
            raise _wrong_option(each, option, "is not given", option.help)
        values.setdefault(option.name, option.default)
    return values


def _wrong_option(each: TextPass, option: PassOption, what: str, wanted: str) -> UsageError:
    return UsageError(
        "E208",
        f"option '{option.name}' of pass '{each.name}' {what}",
        remedy=f"write '--pass {each.name}:{option.name}=...' with {wanted}",
    )
