# SPDX-License-Identifier: Apache-2.0
"""What the page shows: compile what was asked for and draw it, noting which files were read."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

import atoll
from atoll.cli.options import PlacementOptions
from atoll.cli.requests import build_options, compile_files
from atoll.diagnostics.progress import line, report_to
from atoll.records import dataclass
from atoll.utils.cache import cache_folder

Mark = tuple[int, int, int] | None
"""How a file is told from another version of it; None if there is none."""
Marks = dict[Path, Mark]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A chip and the networks on it, as the command line names them."""

    soc: Path
    models: tuple[Path, ...]
    placement: PlacementOptions
    overrides: tuple[str, ...]
    accelerators: bool

    @property
    def title(self) -> str:
        """What is drawn, in a line."""
        networks = ", ".join(model.name for model in self.models)
        return f"{networks} on {self.soc}" if networks else str(self.soc)

    def compile(self) -> atoll.Soc | atoll.Compilation:
        """Compile, or only load the chip if there are no networks.

        Raises:
            AtollError: as `load_soc` and `compile`.
        """
        chip = atoll.load_soc(self.soc, overrides=self.overrides)
        if not self.models:
            return chip
        options = build_options(self.models, self.placement, accelerators=self.accelerators)
        return compile_files(chip, self.models, options)


def draw(asked: Asked, results: Sequence[Path], tell: Tell) -> str:
    """Return a page about what was asked for and the results of runs in files.

    Raises:
        AtollError: as `Asked.compile`.
    """
    with report_to(lambda what, /, *, left=None: tell(line(what, left))):
        return atoll.make_report(asked.compile(), *results, try_seconds=0).to_html()


def mark(path: Path) -> Mark:
    """Tell the file of now from any other; devices are all alike."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not S_ISREG(found.st_mode):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@contextmanager
def noting_files(marks: Marks) -> Iterator[None]:
    """Note every file that the block reads, or finds missing, as it is before it is read.

    Files of this Python, of Atoll's cache and modules are none that a user saves.
    """
    global _marks
    _hear_once()
    marks |= {path: mark(path) for path in marks}
    _marks = marks
    try:
        yield
    finally:
        _marks = None


_marks: Marks | None = None
_hearing = False


def _hear_once() -> None:
    """An audit hook cannot be taken away again, so there is one for all draws."""
    global _hearing
    if not _hearing:
        sys.addaudithook(_hear)
        _hearing = True


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event != "open" or _marks is None:
        return
    name, mode = arguments[:2]
    if isinstance(name, str | bytes | os.PathLike) and mode in (None, "r", "rb"):
        path = Path(os.fsdecode(name)).absolute()
        if path.suffix not in (".py", ".pyc") and not any(map(path.is_relative_to, _apart())):
            _marks[path] = mark(path)


def _apart() -> Iterator[Path]:
    yield from map(Path, (sys.prefix, sys.base_prefix, "/proc", "/sys", "/etc"))
    yield cache_folder()
