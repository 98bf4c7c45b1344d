"""What `atoll plan` says of instances and command lines that cannot be."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
MESSAGES = Path(__file__).parent / "plan"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"

HEAD = "id,lower,upper,size\n"
INSTANCES: dict[str, str] = {
    "no_lines": "",
    "no_buffers": HEAD,
    "columns_missing": "id,lower,bytes\na,0,1\n",
    "column_twice": "id,lower,upper,size,size\na,0,1,1,1\n",
    "too_few_values": HEAD + "a,0,1,8\nb,0,1\n",
    "no_number": HEAD + "a,0,1,8\nb,0,one,8\nc,0,1.5,8\n",
    "no_id": HEAD + ",0,1,8\n",
    "negative_size": HEAD + "a,0,1,-8\nb,0,1,0\n",
    "empty_life": HEAD + "a,5,5,8\nb, 7, 6, 8\n",
    "id_twice": HEAD + "a,0,1,8\nb,0,1,8\na,1,2,8\n",
    "overflow": HEAD + "a,0,1,9007199254740993\nb,0,99999999999999999999999999,8\n",
    "alignment": "id,lower,upper,size,alignment\na,0,1,8,3\nb,0,1,8,0\n",
}
CAPACITIES: dict[str, list[str]] = {
    "one_too_large": ["--capacity", "15"],
    "together_too_large": ["--capacity", "31"],
}
PLAN = ["plan", "--instance", "good.csv"]
NETWORK = ["plan", "lagoon", "digits.tflite"]
TWO_POOLS = ["plan", "chip.yaml", "two_pools.pte"]
USES: dict[str, list[str]] = {
    "nothing": ["plan"],
    "no_model": ["plan", "lagoon"],
    "both": ["plan", "lagoon", "--instance", "good.csv"],
    "capacity_of_network": [*NETWORK, "--capacity", "100"],
    "capacity_none": [*PLAN, "--capacity", "0"],
    "capacity_no_size": [*PLAN, "--capacity", "1 kB"],
    "alignment_odd": [*PLAN, "--alignment", "12"],
    "instance_missing": ["plan", "--instance", "absent.csv"],
    "instance_folder": ["plan", "--instance", "."],
    "instance_not_text": ["plan", "--instance", "digits.tflite"],
    "export_unknown": [*PLAN, "--export", "xml"],
    "export_tflm_of_instance": [*PLAN, "--export", "tflm", "-o", "out.tflite"],
    "export_tflm_to_nowhere": [*NETWORK, "--export", "tflm"],
    "output_without_export": [*PLAN, "-o", "out.csv"],
    "output_into_missing_folder": [*PLAN, "--export", "csv", "-o", "absent/out.csv"],
    "figure_onto_folder": [*PLAN, "--figure", "."],
    "program_too_large": [*TWO_POOLS, "--set", "pools.private.size=288"],
    "program_of_more_pools": ["plan", "lagoon", "two_pools.pte", "--set", "pools.private=null"],
    "program_and_network": [*TWO_POOLS, "digits.tflite"],
    "program_is_none": ["plan", "lagoon", "digits.pte"],
    "program_cut_off": ["plan", "lagoon", "cut.pte"],
    "overlap_unknown": [*NETWORK, "--overlap", "some"],
}
GOOD = HEAD + "a,0,2,16\nb,1,3,16\n"


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(DIGITS, tmp_path / "digits.tflite")
    (tmp_path / "good.csv").write_text(GOOD)
    program = (ROOT / "tests" / "data" / "executorch" / "two_pools.pte").read_bytes()
    (tmp_path / "two_pools.pte").write_bytes(program)
    shutil.copyfile(ROOT / "socs" / "lagoon.yaml", tmp_path / "chip.yaml")
    (tmp_path / "cut.pte").write_bytes(program[:400])
    shutil.copyfile(DIGITS, tmp_path / "digits.pte")
    return tmp_path


@pytest.mark.parametrize("name", INSTANCES)
def test_e057_e058_instances(
    name: str,
    folder: Path,
    golden: Callable[[Path, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / f"{name}.csv").write_text(INSTANCES[name])
    message = refusal(["plan", "--instance", f"{name}.csv"], capsys)
    assert message.count(f"{name}.csv:") >= message.count("error[E05") > 0
    golden(MESSAGES / f"{name}.txt", message)


@pytest.mark.parametrize("name", CAPACITIES)
def test_m5_capacities(
    name: str,
    folder: Path,
    golden: Callable[[Path, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    golden(MESSAGES / f"{name}.txt", refusal([*PLAN, *CAPACITIES[name]], capsys))


@pytest.mark.parametrize("name", USES)
def test_command_lines(
    name: str,
    folder: Path,
    golden: Callable[[Path, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(folder.iterdir())
    golden(MESSAGES / f"{name}.txt", refusal(USES[name], capsys))
    assert sorted(folder.iterdir()) == before


def test_e057_a_huge_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "huge.csv").open("wb") as file:
        file.truncate(2**30)
    message = refusal(["plan", "--instance", "huge.csv"], capsys)
    assert "huge.csv has 1073741824 bytes, the most is 67108864" in message


def test_e016_no_more_than_100_faults(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (f"b{number},1,1,1\n" for number in range(500))
    (folder / "bad.csv").write_text(HEAD + "".join(lines))
    assert refusal(["plan", "--instance", "bad.csv"], capsys).count("error[E058]") == 100
