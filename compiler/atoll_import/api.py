# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.import_files`."""

from collections.abc import Sequence
from pathlib import Path

from atoll.api.imports import Import, LeftOut
from atoll.description.json_schemas import require_schema_beside, write_schema_beside
from atoll.diagnostics.errors import UsageError
from atoll.utils.files import write_text
from atoll.vela.ini_file import VelaChoice
from atoll_import.imported import import_files
from atoll_import.onto import put_onto
from atoll_import.reader import given_file
from atoll_import.zephyr_boards import board_source

_UNWRITTEN = Path("<text>")


def begin(
    files: Sequence[Path],
    output: Path | None,
    form: str,
    device: str,
    board: str,
    *,
    force: bool,
    onto: str = "",
    choice: VelaChoice | None = None,
) -> Import:
    """Return what `import_files` finds, written to `output` if there is one.

    Raises:
        UsageError: E090, no file and no board, or several onto a chip; E091, E092; as
            `import_files` and `put_onto`.
    """
    if output and output.exists() and not force:
        remedy = "choose another name, or overwrite it with --force"
        raise UsageError("E091", f"{output} exists already", remedy=remedy)
    if output:
        require_schema_beside(output)
    if not files and not board:
        remedy = "name a file of the chip's vendor, or a board of Zephyr's with --zephyr"
        raise UsageError("E090", "no file to import is given", remedy=remedy)
    if onto and (board or len(files) > 1):
        message = "--onto takes one file, and no board"
        raise UsageError("E090", message, remedy="name a configuration file of Vela")
    target, wanted = output or _UNWRITTEN, choice or VelaChoice()
    if onto:
        name, given = given_file(files[0], form, device, wanted)
        found = put_onto(given, name, onto, target)
    else:
        boards = (board_source(board),) if board else ()
        found = import_files((*boards, *files), target, form, device, wanted)
    if output:
        write_text(output, found.text)
        write_schema_beside(output)
    left_out = tuple(
        LeftOut(
            what=each.what,
            why=each.why,
            file=each.source.path,
            line=each.source.line,
            at=str(each.source),
        )
        for each in found.left_out
    )
    return Import(yaml=found.text, output=output, left_out=left_out, _questions=found.questions)
