# SPDX-License-Identifier: Apache-2.0
"""Groups of options that several commands take together."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any


def with_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that takes the options of its groups one by one.

    A group is a parameter whose type is a dataclass; each of its fields is an option.
    """
    signature = inspect.signature(command, eval_str=True)
    asked = signature.parameters.values()
    groups: dict[str, Any] = {
        each.name: each.annotation for each in asked if is_dataclass(each.annotation)
    }
    if not groups:
        return command

    @wraps(command)
    def run(**given: Any) -> Any:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    flat = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in asked
        for option in _options(each)
    ]
    run.__annotations__ = {each.name: each.annotation for each in flat}
    run.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    return run


def _options(parameter: inspect.Parameter) -> tuple[inspect.Parameter, ...]:
    if not is_dataclass(parameter.annotation):
        return (parameter,)
    make: Any = parameter.annotation
    return tuple(inspect.signature(make, eval_str=True).parameters.values())
