# SPDX-License-Identifier: Apache-2.0
"""The command `atoll import`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption
from atoll.cli.output import log, log_room
from atoll.description.json_schemas import require_schema_beside, write_schema_beside
from atoll.diagnostics.columns import wrapped
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import cut, json_text, shown
from atoll.utils.files import write_text
from atoll_import.imported import Imported, import_files

_LONGEST = 200


def import_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Files that describe one chip.")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="CHIP.yaml", help="File to write.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="Format of the files; default: told by each."
        ),
    ] = "",
    device: Annotated[
        str,
        typer.Option(
            "--device", metavar="NAME", help="The device, of files that describe several."
        ),
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file that is there.")
    ] = False,
    machine: JsonOption = False,
) -> None:
    """Begin a description with what files of a chip's vendor say.

    What no file decides is 'undecided' in it: 'atoll check' names each such key until a human has
    answered. Several files are read as one chip.

    Example: atoll import vendor.pdsc chip.svd --device NAME -o chip.yaml
    """
    if output.exists() and not force:
        remedy = "choose another name, or overwrite it with --force"
        raise UsageError("E091", f"{output} exists already", remedy=remedy)
    require_schema_beside(output)
    imported = import_files(files, output, form, device)
    write_text(output, imported.text)
    write_schema_beside(output)
    if machine:
        print(json_text({"wrote": [str(output)], **_json(imported)}), end="")
    else:
        _print(imported, output)


def _print(imported: Imported, output: Path) -> None:
    lines = [f"wrote {output}: {len(imported.questions)} questions"]
    lines += [
        f"  {output}:{question.at.line}: {'.'.join(question.key)}: {question.wants}"
        for question in imported.questions
        if question.at
    ]
    if imported.left_out:
        lines.append(f"left out: {len(imported.left_out)}")
        lines += [
            f"  {each.source}: {cut(shown(each.what), _LONGEST)}: {each.why}"
            for each in imported.left_out
        ]
    log("\n".join(wrapped(shown(line), log_room()) for line in lines))


def _json(imported: Imported) -> dict[str, object]:
    return {
        "questions": [
            {
                "key": ".".join(question.key),
                "line": question.at.line if question.at else 0,
                "asks": question.asks,
                "answers": list(question.answers),
                "example": question.example,
            }
            for question in imported.questions
        ],
        "left_out": [
            {
                "what": cut(each.what, _LONGEST),
                "why": each.why,
                "file": str(each.source.path),
                "line": each.source.line,
            }
            for each in imported.left_out
        ],
    }
