# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.sweep`."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.api.chips import data_text, is_text
from atoll.api.sweeps import Objectives, SweepResults, SweepSource
from atoll.description.sweep import Sweep, read_sweep
from atoll.description.yaml_text import parse_yaml, read_yaml
from atoll.diagnostics.errors import ToolchainError, path_of_text
from atoll.utils.scratch import temporary_folder

if TYPE_CHECKING:
    import pyarrow as pa

_NEEDED = ("distributed", "optuna", "pandas", "pyarrow")


def compute(
    source: SweepSource,
    output: Path | None,
    folder: Path,
    objectives: Objectives,
    workers: int | None,
    scheduler: str | None,
    resume: bool,
) -> SweepResults:
    """Compute a sweep; see `atoll.sweep`."""
    require_packages()
    from atoll_sweep.crew import Crew
    from atoll_sweep.sweeping import run

    asked = sweep_of(source, folder)
    names = tuple(objectives)
    crew = Crew(workers, scheduler)
    if output is not None:
        table = run(asked, output, objectives, crew, resume=resume)
        return _results(asked, table, names, output)
    with temporary_folder() as temporary:
        table = run(asked, temporary, objectives, crew, resume=False)
        return _results(asked, table, names, None)


def read(folder: Path) -> SweepResults:
    """Read the results of a sweep; see `atoll.load_sweep`."""
    require_packages()
    from atoll_sweep.results import FIRST, document_in, is_finished, tables_in
    from atoll_sweep.table import functions_of, with_stages

    document, base = document_in(folder)
    asked = sweep_of(document, base)
    table = with_stages(tables_in(folder), FIRST)
    names = functions_of(table, asked)
    return _results(asked, table, names, folder, finished=is_finished(folder, asked.stages[1:]))


def sweep_of(source: SweepSource, folder: Path) -> Sweep:
    """Read a sweep file, or what it would say.

    Raises:
        DescriptionError: it is wrong.
    """
    if isinstance(source, str | Path) and not is_text(source):
        path = Path(source)
        return read_sweep(read_yaml(path), path.parent)
    text = source if isinstance(source, str) else data_text(source)
    return read_sweep(parse_yaml(text, path_of_text(text, "sweep", folder)), folder)


def require_packages() -> None:
    """Refuse to begin without a package that sweeps need.

    Raises:
        ToolchainError: E213.
    """
    for name in _NEEDED:
        if find_spec(name) is None:
            raise ToolchainError(
                "E213",
                f"'atoll sweep' needs the package '{name}', which is not installed",
                remedy="install it with: pip install 'atoll[sweep]'",
            )


def _results(
    asked: Sweep,
    table: "pa.Table",
    names: tuple[str, ...],
    folder: Path | None,
    *,
    finished: bool = True,
) -> SweepResults:
    from atoll_sweep.answers import Answers

    objectives = (*asked.model.objectives, *names)
    answers = Answers(asked, table, objectives, finished)
    return SweepResults(
        asked.model.sweep,
        folder,
        asked.size,
        len(answers.rows),
        finished,
        answers.failures,
        objectives,
        answers,
    )
