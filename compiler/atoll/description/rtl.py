# SPDX-License-Identifier: Apache-2.0
"""The RTL that a description names, alike for cores, accelerators and function units."""

from typing import Literal

from pydantic import Field

from atoll.description.fields import (
    MAX_ENTRIES,
    Described,
    FileName,
    MacroName,
    MacroValue,
    ModuleName,
    PackageName,
)


class RtlFiles(Described):
    """A module and where it comes from."""

    module: ModuleName = Field(description="Its name.", examples=["mine"])
    sources: tuple[FileName, ...] = Field(
        min_length=1,
        max_length=4 * MAX_ENTRIES,
        description="In compile order, after those of 'packages': names of files that Atoll ships, "
        "or with a '/' paths relative to this file. A folder, with a '/' at its end, is searched "
        "for what they include; a list of files ends in .f, settings of Verilator in .vlt.",
        examples=["[./mine.sv]"],
    )
    language: Literal["systemverilog", "verilog-2001"] = Field(
        default="systemverilog",
        description="What the sources that end in .v are written in. In Verilog, words such as "
        "'int', 'do' and 'bit' are names.",
    )
    packages: dict[PackageName, tuple[FileName, ...]] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Python packages that bring sources, and their files in each, in compile "
        "order; a folder, with a '/' at its end, is searched for what they include.",
    )
    defines: dict[MacroName, MacroValue] = Field(
        default={}, max_length=MAX_ENTRIES, description="Macros of the sources.", examples=["{}"]
    )
