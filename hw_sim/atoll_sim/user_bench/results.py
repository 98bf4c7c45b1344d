# SPDX-License-Identifier: Apache-2.0
"""What cocotb says of a test, and all of them as JUnit XML."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from atoll.api.bench import BenchTestResult
from atoll.records import dataclass

RESULTS = "results.xml"
FAILED = ("failure", "error")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a test ended.

    Attributes:
        passed: it, or the failure that its author expects.
        message: why not, "" if it passed.
        case: cocotb's own account.
    """

    passed: bool
    message: str
    case: Element | None


def read_verdict(file: Path, name: str, broke: str) -> Verdict:
    """Return what cocotb wrote of the test `name`.

    If it wrote nothing, the test failed, and `broke` says why its simulation did.
    """
    try:
        cases = ElementTree.parse(file).iter("testcase")
        case = next(each for each in cases if each.get("name") == name)
    except (OSError, ElementTree.ParseError, StopIteration):
        return Verdict(False, broke or "the simulation ended before the test", None)
    wrong = [each for kind in FAILED for each in case.iter(kind)]
    if not wrong:
        return Verdict(not broke, broke, case)
    return Verdict(False, wrong[0].get("message") or (wrong[0].text or "failed").strip(), case)


def junit_text(
    module: str, tests: Sequence[BenchTestResult], cases: Sequence[Element | None]
) -> str:
    """Return all tests as JUnit XML: each as cocotb tells it, and Atoll's checks of its run."""
    suite = Element("testsuite", name=module)
    count = failures = skipped = 0
    for test, case in zip(tests, cases, strict=True):
        if case is None:
            case = Element("testcase", name=test.name, classname=module)
            if test.skipped:
                SubElement(case, "skipped", message="its author wants it skipped")
            else:
                SubElement(case, "error", message=test.message)
        suite.append(case)
        count += 1
        failures += not test.passed
        skipped += test.skipped
        if test.faults:
            own = SubElement(
                suite, "testcase", name=f"{test.name} (checks of Atoll)", classname=module
            )
            SubElement(own, "failure", message=test.faults[0]).text = "\n".join(test.faults)
            count, failures = count + 1, failures + 1
    for key, value in (("tests", count), ("failures", failures), ("skipped", skipped)):
        suite.set(key, str(value))
    root = Element("testsuites", name="atoll")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
