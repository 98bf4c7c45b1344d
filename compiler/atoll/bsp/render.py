# SPDX-License-Identifier: Apache-2.0
"""Fill the templates of the BSP. Every file opens with what it was made from and how."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.bsp.c_names import c_name
from atoll.bsp.interface import ModelInterface
from atoll.description.fields import ADDRESS_SPACE
from atoll.resolve.soc import ResolvedSoc

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
BY_BUILD = "by `atoll build`; edits are lost."


def opening_sentence(soc: ResolvedSoc, *models: ModelInterface) -> str:
    """Return the sentence that opens a generated file."""
    sources = (f"{soc.name}.yaml", *(f"{model.name}{model.suffix}" for model in models))
    return f"Made from {' and '.join(sources)} {BY_BUILD}"


def render(template: str, **values: object) -> str:
    """Fill ``templates/<template>.j2``; a name that the template misses is our own bug."""
    return _environment().get_template(f"{template}.j2").render(values)


@cache
def _environment() -> "Environment":
    return environment_of(FOLDER / "templates")


def environment_of(*folders: Path) -> "Environment":
    """Return what fills the templates of folders; the first that has a name counts."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    from atoll.utils.kept_templates import KeptTemplates

    environment = Environment(
        bytecode_cache=KeptTemplates(),
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["quote"] = lambda value: f"'{value}'"
    environment.filters["c_name"] = c_name
    environment.filters["hex"] = lambda value: f"0x{value:08X}"
    environment.filters["address"] = c_address
    return environment


def c_address(address: int) -> str:
    """Write an address as a constant of C that is wide enough."""
    return f"UINT{32 if address < ADDRESS_SPACE else 64}_C(0x{address:08X})"
