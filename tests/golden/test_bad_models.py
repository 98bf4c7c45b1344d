"""Each broken model of tests/bad is refused with exactly the message beside it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.frontend.registry import load_network
from atoll.frontend.tflite.load import load_tflite

ROOT = Path(__file__).parents[2]
BAD = ROOT / "tests" / "bad"
FILES = sorted(path.name for path in BAD.glob("model_*.tflite"))
ONNX = sorted(path.name for path in BAD.glob("model_*.onnx"))


@pytest.mark.parametrize("name", FILES)
def test_message(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(ModelError) as caught:
        load_tflite(Path(name))
    golden((BAD / name).with_suffix(".txt"), f"{caught.value}\n")


@pytest.mark.parametrize("name", ONNX)
def test_message_of_onnx(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(BAD)
    with pytest.raises(ModelError) as caught:
        load_network(Path(name))
    golden(Path(f"{BAD / name}.txt"), f"{caught.value}\n")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read") as caught:
        load_tflite(tmp_path / "absent.tflite")
    assert caught.value.faults[0].code == "E050"


@pytest.mark.parametrize(("script", "files"), [("make_tflite", FILES), ("make_onnx", ONNX)])
def test_the_files_are_what_their_script_writes(
    script: str, files: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", f"tests.bad.{script}", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {name: (BAD / name).read_bytes() for name in files}
