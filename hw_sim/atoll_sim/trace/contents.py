# SPDX-License-Identifier: Apache-2.0
"""What the constants of a compiled network must hold while it runs."""

from collections.abc import Mapping

from atoll.codegen.commands import link_lists
from atoll.driver.pipeline import Compiled


def contents_of(compiled: Compiled) -> Mapping[str, bytes]:
    """Return the bytes of every constant that the image carries, command lists included."""
    commands = link_lists(compiled.commands, compiled.module, compiled.plan, compiled.soc)
    return {
        constant.name: commands[constant.name] if constant.data is None else constant.data
        for constant in compiled.module.entry.constants
    }
