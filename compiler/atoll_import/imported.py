# SPDX-License-Identifier: Apache-2.0
"""From files to a description to start from, and what a human still has to say."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atoll.description.undecided import Question, questions_of
from atoll.records import dataclass
from atoll.vela.ini_file import VelaChoice
from atoll_import.aliases import with_aliases
from atoll_import.chip_text import chip_text
from atoll_import.facts import Core, Facts, LeftOut
from atoll_import.merge import merge
from atoll_import.reader import read_file
from atoll_import.reserved import without_reserved
from atoll_import.vela import with_areas
from atoll_import.windows import with_windows


@dataclass(frozen=True, slots=True)
class Imported:
    """A description that begins a chip.

    Attributes:
        text: YAML, with comments that say where each value comes from.
        questions: the keys that are undecided.
        left_out: what the files have and the description has not.
    """

    text: str
    questions: tuple[Question, ...]
    left_out: tuple[LeftOut, ...]


def import_files(
    files: Sequence[Path], target: Path, form: str, device: str, choice: VelaChoice | None = None
) -> Imported:
    """Return what `files` say of one chip.

    Args:
        files: of any formats.
        target: the file that the text is for; questions are about its lines.
        form: name of the format of all files; empty if each tells its own.
        device: the device that is wanted of files that describe several.
        choice: what is wanted of a configuration of Vela.

    Raises:
        UsageError: see `read_file`.
    """
    read = [read_file(path, form, device, choice) for path in files]
    facts = _with_host(merge([facts for _, facts in read]))
    facts = with_areas(with_windows(without_reserved(with_aliases(facts))))
    named = [(path, name) for path, (name, _) in zip(files, read, strict=True)]
    text = chip_text(facts, named, target.parent)
    return Imported(text, questions_of(text, target), facts.left_out)


def _with_host(facts: Facts) -> Facts:
    """Return what files say with a core that starts the others, if they have none that can."""
    if all(core.has_mailbox for core in facts.cores):
        return replace(facts, cores=(Core(name="cpu"), *facts.cores))
    return facts
