# SPDX-License-Identifier: Apache-2.0
"""200 single mistakes in valid descriptions: does the first remedy, to the letter, mend the file?

The mistakes that count are those that Atoll refuses. After a wrong reach and a size that is too
small a network has to compile as well. Then remedies are followed until nothing is wrong; a
description that was there before would be a circle.
"""

import random
from pathlib import Path

import pytest
from tests.effort import cases
from tests.mistakes import KINDS, dump, load
from tests.remedy_follower import NotMechanicalError, follow

from atoll.diagnostics.errors import AtollError, Fault
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = ("lagoon", "twin", "atoll2", "duo", "pair", "islands", "islands_dma")
COUNT = cases(200, least=60)
MOST_STEPS = 8
COMPILED = ("wrong reach", "too small")


def source(chip: str) -> str:
    """Return the text of a chip."""
    shipped = ROOT / "socs" / f"{chip}.yaml"
    return (shipped if shipped.exists() else ROOT / "tests" / "data" / f"{chip}.yaml").read_text()


def first_fault(path: Path, kind: str) -> Fault | None:
    """Return the first thing that Atoll says is wrong, None if it takes the description."""
    try:
        soc = load_soc(path)
        if kind in COMPILED:
            compile_file(soc, DIGITS)
    except AtollError as error:
        return error.faults[0]
    return None


def planted(kind: str, seed: int, path: Path) -> tuple[str, Fault]:
    """Write a description with a mistake that is refused; return what it is, and the fault."""
    for attempt in range(100):
        rng = random.Random(f"{kind} {seed} {attempt}")
        chip = rng.choice(CHIPS)
        data = load(source(chip))
        what = KINDS[kind](data, rng)
        path.write_text(dump(data))
        if fault := first_fault(path, kind):
            return f"{chip}: {what}", fault
    raise AssertionError(f"no mistake of kind {kind} is refused")


def steps_to_mend(kind: str, fault: Fault, path: Path) -> int:
    """Follow remedies until nothing is wrong; return how many it took, 0 for never."""
    seen = [path.read_bytes()]
    next_one: Fault | None = fault
    for step in range(1, MOST_STEPS + 1):
        assert next_one is not None
        try:
            follow(next_one, path)
        except NotMechanicalError:
            return 0
        next_one = first_fault(path, kind)
        if next_one is None:
            return step
        assert path.read_bytes() not in seen, f"in a circle: {next_one}"
        seen.append(path.read_bytes())
    return 0


@pytest.mark.parametrize("chip", CHIPS)
def test_the_writer_of_descriptions_changes_nothing(chip: str, tmp_path: Path) -> None:
    (tmp_path / "chip.yaml").write_text(dump(load(source(chip))))
    assert first_fault(tmp_path / "chip.yaml", "too small") is None


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=pytest.mark.slow) if k == "too small" else k for k in KINDS]
)
def test_first_remedies_mend_nine_of_ten_mistakes_and_none_leads_in_a_circle(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chip.yaml"
    seeds = range(list(KINDS).index(kind), COUNT, len(KINDS))
    steps = []
    failures = []
    for seed in seeds:
        what, fault = planted(kind, seed, path)
        steps.append(steps_to_mend(kind, fault, path))
        if steps[-1] != 1:
            failures.append(f"{what}\n  {fault.code} {fault.message}\n  {fault.remedy}")
    later = sum(step > 1 for step in steps)
    with capsys.disabled():
        row = f"{len(steps)} planted, first remedy mends {steps.count(1)}, later ones {later}"
        print(f"\n{kind:12} {row}")
    assert steps.count(1) >= 0.9 * len(steps), "\n".join(failures)
