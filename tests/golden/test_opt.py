"""`atoll opt`: what each pass makes of a small text, and what it says of texts that are wrong.

A file ``opt/PASS.txt`` has the options in its first line, then the text before, then that after.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.driver.pipeline import STAGES
from atoll.ir.tir import IRModule
from atoll.opt.passes import PASSES
from atoll.opt.read_program import read_program
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES
from atoll.rewrite.passes import PASSES as REWRITES

ROOT = Path(__file__).parents[2]
CASES = sorted((Path(__file__).parent / "opt").glob("*.txt"), key=lambda path: path.stem)
BAD = ROOT / "tests" / "bad"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
AFTER = "----\n"
PLACING = tuple(each.name for each in (*DEVICE_PASSES, *STORAGE_PASSES))
LOWERING = ("lower", "share-constants", "separate-kernels", "specialize-storage")

Golden = Callable[[Path, str], None]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def ran(capsys: Capture, *words: str) -> str:
    assert main(["opt", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_pass(case: Path, golden: Golden, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    options, text = case.read_text().partition(AFTER)[0].split("\n", 1)
    assert options.split()[1].split(":")[0] == case.stem
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    made = ran(capsys, "-", *options.split())
    assert made != text, "the pass finds nothing to do"
    golden(case, f"{options}\n{text}{AFTER}{made}")
    monkeypatch.setattr("sys.stdin", io.StringIO(made))
    assert ran(capsys, "-") == made, "what is printed reads back"


def test_each_pass_that_runs_on_text_has_a_case() -> None:
    assert {case.stem for case in CASES} == {each.name for each in PASSES if each.run}


@pytest.mark.parametrize("chip", ["lagoon", "twin", "stm32h747"])
def test_one_pass_after_the_other_is_the_compiler(
    chip: str, tmp_path: Path, capsys: Capture
) -> None:
    """What passes over text make is what `atoll build` makes of the same network."""
    rewrites = [word for each in REWRITES for word in ("--pass", each.name)]
    places = [word for name in PLACING for word in ("--pass", name)]
    lowers = [word for name in LOWERING for word in ("--pass", name)]
    placed = ran(capsys, str(DIGITS), "--soc", chip, *rewrites, *places)
    (tmp_path / "placed.graph").write_text(placed)
    made = ran(capsys, str(tmp_path / "placed.graph"), "--soc", chip, *lowers)
    for stage, expected in (("place", placed), ("specialize-storage", made)):
        dump = tmp_path / stage
        build = ["build", chip, str(DIGITS), "-o", str(tmp_path / "out"), "--objects"]
        assert main([*build, "--dump-after", stage, "--dump-to", str(dump)]) == 0
        capsys.readouterr()
        assert dump.read_text() == expected
    assert isinstance(read_program(tmp_path / "specialize-storage"), IRModule)


MESSAGES = {
    "opt_no_file": [],
    "opt_missing": ["absent.graph"],
    "opt_not_text": ["{bad}/opt_not_text.graph"],
    "opt_other_text": ["{bad}/opt_other_text.graph"],
    "opt_damaged_graph": ["{bad}/opt_damaged_graph.graph"],
    "opt_damaged_module": ["{bad}/opt_damaged_module.tir"],
    "opt_undeclared": ["{bad}/opt_undeclared.graph"],
    "opt_for_people": ["{bad}/opt_for_people.graph"],
    "opt_out_of_order": ["{bad}/opt_out_of_order.graph"],
    "opt_misfit": ["{bad}/opt_misfit.graph"],
    "opt_unknown_pass": ["digits", "--pass", "fuse-pad"],
    "opt_no_such_pass": ["digits", "--pass", "vectorize"],
    "opt_pass_without_text": ["digits", "--pass", "vela-subgraphs", "--soc", "lagoon"],
    "opt_unknown_option": ["digits", "--pass", "fuse-pads:kep=x"],
    "opt_wrong_option": ["digits", "--pass", "plan-devices:spread=yes", "--soc", "lagoon"],
    "opt_option_left_out": ["digits", "--pass", "overlap-runs", "--soc", "lagoon"],
    "opt_without_chip": ["digits", "--pass", "plan-devices"],
    "opt_module_pass": ["digits", "--pass", "share-constants"],
    "opt_not_placed": ["digits", "--pass", "lower", "--soc", "lagoon"],
    "opt_placed_elsewhere": [
        *("{bad}/opt_placed_elsewhere.graph", "--pass", "insert-copies", "--soc", "lagoon")
    ],
    "opt_cycles_missing": [
        *("{bad}/../golden/opt/overlap-runs.tir", "--soc", "lagoon"),
        *("--pass", "overlap-runs:cycles=one:1+two:2"),
    ],
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str, golden: Golden, capsys: Capture, tmp_path: Path) -> None:
    given = {"digits": str(DIGITS.relative_to(ROOT))}
    words = [given.get(word, word).replace("{bad}", "tests/bad") for word in MESSAGES[name]]
    if words and words[0].endswith("overlap-runs.tir"):
        text = (Path(__file__).parent / "opt" / "overlap-runs.txt").read_text()
        path = tmp_path / "overlap-runs.tir"
        path.write_text(text.partition(AFTER)[0].split("\n", 1)[1])
        words[0] = str(path)
    assert main(["opt", *words]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    golden(BAD / f"{name}.txt", captured.err)


def test_no_verify_lets_a_wrong_graph_through(capsys: Capture) -> None:
    wrong = "tests/bad/opt_out_of_order.graph"
    assert ran(capsys, wrong, "--no-verify").startswith("graph m(")


def test_json_has_the_text_and_the_list_has_every_pass(capsys: Capture) -> None:
    made = json.loads(ran(capsys, str(DIGITS), "--pass", "remove-dead-code", "--json"))
    assert made == {
        "kind": "graph",
        "passes": ["remove-dead-code"],
        "text": ran(capsys, str(DIGITS)),
    }
    listed = json.loads(ran(capsys, "--list", "--json"))["passes"]
    shown = ran(capsys, "--list")
    assert {each.stage for each in PASSES if each.lacks} <= {*STAGES}
    assert not [each.name for each in PASSES if bool(each.lacks) == bool(each.run)]
    for each in listed:
        assert each["name"] in shown
        assert each["summary"] in shown
        assert each["lacks"] in shown
    assert [each["name"] for each in listed if each["lacks"]] == ["vela-subgraphs"]
