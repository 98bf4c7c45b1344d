# SPDX-License-Identifier: Apache-2.0
"""One page that shows what was found: `Report` has the documents, and draws them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import Soc, SocCheck
from atoll.api.compilation import Compilation
from atoll.api.differences import Diff
from atoll.api.estimates import Estimate
from atoll.api.images import ImageCheck
from atoll.api.runs import Run
from atoll.api.simulation import Validation
from atoll.api.sweeps import SweepResults
from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass
from atoll.utils.files import require_writable, write_text

TRY_SECONDS = 0.5

GENERATOR = b'<meta name="generator" content="Atoll'
"""In the head of each page."""
_HEAD = 4096

Subject = (
    Soc
    | SocCheck
    | Compilation
    | Estimate
    | Run
    | Validation
    | ImageCheck
    | Diff
    | SweepResults
    | Path
    | str
)
"""What a report can be about."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the commands found, as one page of HTML that needs nothing else.

    Attributes:
        documents: what they print with ``--json``, by subject; nothing else is in the page.
        files: where all of it comes from; none if Atoll found some of it just now.
    """

    documents: Mapping[str, Any]
    files: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll report --json`` prints."""
        return dict(self.documents)

    def to_html(self) -> str:
        """Return the page.

        Raises:
            UsageError: E224; figures of `files` contradict each other.
        """
        html_of = function_of("atoll_report.api:html_of", "report")
        try:
            html: str = html_of(self.documents)
        except (LookupError, ArithmeticError, TypeError, ValueError) as fault:
            if not self.files:
                raise
            raise UsageError(
                "E224",
                f"figures of {', '.join(map(repr, self.files))} contradict each other, so that "
                "no page shows them",
                remedy="run the command that printed them again, and give what it prints then",
            ) from fault
        return html

    def write(self, path: Path | str) -> Path:
        """Write the page into a file, and return its path.

        Raises:
            UsageError: E091, another file is there; E092, it cannot be written; as `to_html`.
        """
        require_page(path)
        write_text(Path(path), self.to_html())
        return Path(path)


def require_page(path: Path | str) -> None:
    """Refuse a file that a page could not or should not take the place of.

    Raises:
        UsageError: E091, E092.
    """
    require_writable(Path(path), lambda target: GENERATOR in target.read_bytes()[:_HEAD])


def make_report(
    *subjects: Subject, before: Report | None = None, try_seconds: float = TRY_SECONDS
) -> Report:
    """Collect what is known of chips and networks.

    Args:
        subjects: results of this module's functions; the folder of a build; a file with what a
            command printed with ``--json``; an earlier report. Of two of a kind the last counts.
        before: another report, to show side by side with this one.
        try_seconds: for so long, changes of the chip of a compilation are tried that might help its
            slowest operators; one that has begun is finished.

    Raises:
        AtollError: as `load_soc`; E223, a file is no JSON; E224, it is of a command that failed, or
            of another version; E226, it holds nothing that a report shows; E227, it is a damaged
            report.
        UsageError: E090; the package `atoll_report` is missing.

    >>> import atoll
    >>> made = atoll.compile("lagoon", "examples/01_digits/digits_int8.tflite")
    >>> atoll.make_report(made).documents["plan"][0]["pools"]["shared"]["used_bytes"]
    4608
    """
    documents: Mapping[str, Any] = function_of("atoll_report.api:documents_of", "make_report")(
        subjects, try_seconds
    )
    files = tuple(
        str(each) for each in subjects if isinstance(each, Path | str) and Path(each).is_file()
    )
    found = files if len(files) == len(subjects) and (before is None or before.files) else ()
    documents = {**documents, "before": _alone(before)} if before else documents
    return Report(documents, files=(*found, *(before.files if found and before else ())))


def _alone(report: Report) -> dict[str, Any]:
    return {key: value for key, value in report.documents.items() if key != "before"}
