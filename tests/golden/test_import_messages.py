"""What the user reads when a chip cannot be imported; every file stays as it was."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.refusal import refusal
from tests.unit.importing.vendor import FILES

from atoll.cli import main

MESSAGES = Path(__file__).parent / "importing"
TO = ["-o", "chip.yaml"]
CASES: dict[str, list[str]] = {
    "missing": ["import", "absent.svd", *TO],
    "folder": ["import", "folder", *TO],
    "unknown_format": ["import", "text.txt", *TO],
    "no_such_format": ["import", "gull.svd", "--format", "svg", *TO],
    "other_format": ["import", "gull.svd", "--format", "litex", *TO],
    "damaged": ["import", "cut.svd", *TO],
    "expression": ["import", "skua2.xml", *TO],
    "which_device": ["import", "gull.pdsc", *TO],
    "no_such_device": ["import", "gull.pdsc", "--device", "GULL7", *TO],
    "exists": ["import", "gull.svd", "-o", "mine.yaml"],
    "pool_rights": ["import", "tern2.mpool", *TO],
    "vela_which": ["import", "tern2.ini", *TO],
    "vela_no_such": ["import", "tern.ini", *TO, "--memory-mode", "Sram_Only"],
    "vela_npu": ["import", "tern.ini", *TO, "--device", "ethos-u55-127"],
    "vela_value": ["import", "tern3.ini", *TO],
    "vela_mode": ["import", "tern4.ini", *TO],
    "vela_inherit": ["import", "tern2.ini", *TO, "--system-config", "Tern", "--memory-mode", "A"],
    "onto_without_npu": ["import", "tern.ini", *TO, "--onto", "lagoon"],
    "onto_other_npu": [
        *("import", "tern.ini", *TO, "--onto", "corstone300_u55", "--device", "ethos-u65-256"),
    ],
    "onto_other_format": ["import", "gull.svd", *TO, "--onto", "corstone300_u55"],
    "onto_two_files": ["import", "tern.ini", "gull.svd", *TO, "--onto", "corstone300_u55"],
    "onto_itself": ["import", "tern.ini", "-o", "mine.yaml", "--force", "--onto", "mine.yaml"],
    "nothing": ["import", *TO],
    "zephyr_board": ["import", "--zephyr", "gul/m4", *TO],
    "zephyr_targets": ["import", "--zephyr", "tern@B", *TO],
    "zephyr_word": ["import", "--zephyr", "../gull", *TO],
    "into_missing_folder": ["import", "gull.svd", "-o", "absent/chip.yaml"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    boards = tmp_path / "zephyr" / "boards" / "nobody"
    for board in ("gull/gull_m4", "tern/tern_m4", "tern/tern_m7"):
        (boards / board).parent.mkdir(parents=True, exist_ok=True)
        (boards / f"{board}.dts").write_text("/dts-v1/;\n")
    monkeypatch.setenv("ZEPHYR_BASE", "zephyr")
    for name, text in {**FILES, "text.txt": "text\n", "mine.yaml": "soc: mine\n"}.items():
        (tmp_path / name).write_text(text)
    words = FILES["skua.xml"].replace("4096</ipxact:range>", "4 * ROWS</ipxact:range>", 1)
    (tmp_path / "skua2.xml").write_text(words)
    (tmp_path / "cut.svd").write_text(FILES["gull.svd"][:400])
    (tmp_path / "tern2.mpool").write_text(FILES["tern.mpool"].replace("ACC_READ", "ACC_RED", 1))
    ini = FILES["tern.ini"]
    more = "[System_Config.Skua]\n[Memory_Mode.A]\ninherit=Memory_Mode.B\n"
    (tmp_path / "tern2.ini").write_text(ini + more)
    (tmp_path / "tern3.ini").write_text(ini.replace("=0.125", "=12.5 %"))
    (tmp_path / "tern4.ini").write_text(ini.replace("cache_mem_area=Axi0", "cache_mem_area=Axi1"))
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    golden(MESSAGES / f"{name}.txt", refusal(CASES[name], capsys))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_force_overwrites(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "gull.svd", "-o", "mine.yaml", "--force"]) == 0
    assert (folder / "mine.yaml").read_text().count("soc: gull_1\n") == 1
    assert "wrote mine.yaml: 4 questions" in capsys.readouterr().err


def test_there_is_a_case_for_every_golden_file() -> None:
    assert {*CASES} == {path.stem for path in MESSAGES.glob("*.txt")}
