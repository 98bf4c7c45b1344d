# SPDX-License-Identifier: Apache-2.0
"""The crate compiles without a warning, and calls what the C interface declares."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

EXAMPLES = Path(__file__).parents[3] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
GIVEN = str(EXAMPLES / "13_application_parameters" / "chip.yaml")
STUB = """
#include "digits_int8.h"
#include "atoll_devices.h"
int32_t digits_int8_run(const struct digits_int8_inputs *inputs,
                        const struct digits_int8_outputs *outputs,
                        const struct digits_int8_devices *devices) {
  if (devices->npu != ATOLL_DEVICE_NPU) { return -1; }
  outputs->softmax_9_out[9] = inputs->image[63];
  return inputs->image[0];
}
"""
MAIN = """
use lagoon_networks::{digits_int8::Network, Status};
fn main() {
    let mut network = unsafe { Network::take() };
    let (mut image, mut scores) = ([0i8; 64], [0i8; 10]);
    image[63] = 42;
    assert_eq!(network.run(&image, &mut scores), Ok(()));
    assert_eq!(scores[9], 42);
    image[0] = -7;
    assert_eq!(network.run(&image, &mut scores), Err(Status(-7)));
}
"""

pytestmark = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")


def written(chip: str, folder: Path, *edits: str) -> Path:
    """Write the crate and the headers of a chip with digits."""
    compiled = compile_file(load_soc(chip, edits), DIGITS)
    board = Board.of(compiled.soc, [compiled], [random_sample(compiled.graph)])
    for files in package_files(board, ["rust", "headers"]).values():
        for path, entry in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(entry.data)
    return folder / "rust"


def cargo(folder: Path, *words: str, flags: str = "-D warnings") -> None:
    environment = {**os.environ, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(folder / "target")}
    command = ["cargo", *words, "--offline", "--quiet"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "chip",
    ["twin", GIVEN, *(pytest.param(chip, marks=pytest.mark.slow) for chip in ("rp2040", "litex"))],
)
def test_the_crate_is_accepted_without_a_warning(chip: str, tmp_path: Path) -> None:
    cargo(written(chip, tmp_path), "check")


@pytest.mark.parametrize("thread", ["", "net"])
def test_a_run_has_the_arguments_of_the_c_interface(thread: str, tmp_path: Path) -> None:
    """Of a network on a thread, the function that switches to its stack is the one there is."""
    edits = ("devices.cpu.stack.threads={net: 4 KiB}", f"devices.cpu.stack.runs={thread}")
    written("lagoon", tmp_path, *(edits if thread else ()))
    name = "digits_int8_run_on_net" if thread else "digits_int8_run"
    (tmp_path / "stub.c").write_text(STUB.replace("digits_int8_run(", f"{name}("))
    compile_stub = ["cc", "-c", "-Iinclude", "stub.c", "-o", "stub.o"]
    subprocess.run(compile_stub, cwd=tmp_path, check=True)
    caller = tmp_path / "caller"
    (caller / "src").mkdir(parents=True)
    (caller / "src" / "main.rs").write_text(MAIN)
    (caller / "Cargo.toml").write_text(
        '[package]\nname = "caller"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n'
        '[dependencies]\nlagoon_networks = {path = "../rust"}\n'
    )
    cargo(caller, "run", flags=f"-C link-arg={tmp_path / 'stub.o'}")


def test_no_crate_without_networks() -> None:
    assert not package_files(Board(soc=load_soc("lagoon")), ["rust"])["rust"]
