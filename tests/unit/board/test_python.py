# SPDX-License-Identifier: Apache-2.0
"""The Python package: its types hold, and libraries of this machine compute what the chip does."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.recurrent_samples import recurrent

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_models
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
DOCUMENT = ROOT / "docs" / "board.md"
GOLDEN = ROOT / "tests" / "golden" / "board"
TOOLS = Path(sys.executable).parent
RUN = """
import sys, threading
from array import array
from pathlib import Path
import numpy as np
import {package}
from {package} import digits_int8, sampler

def right(module, data):
    (given,), (made,) = module.INPUTS, module.OUTPUTS
    folder = Path(module.NETWORK.name)
    wanted = (folder / made.name).read_bytes()
    outputs = module.run({{given.name: data}})
    assert {{*outputs}} == {{made.name}}
    found = np.asarray(outputs[made.name])
    assert (found.shape, found.dtype) == (made.shape, made.dtype)
    assert found.tobytes() == wanted, (module, found)

def together(module, inputs):
    # Runs in several threads disturb nobody.
    (given,), (made,) = module.INPUTS, module.OUTPUTS
    wanted = [module.run({{given.name: data}})[made.name].tobytes() for data in inputs]
    wrong = []
    def repeat(data, result):
        for _ in range(300):
            if module.run({{given.name: data}})[made.name].tobytes() != result:
                wrong.append(module)
    pairs = [*zip(inputs, wanted)] * 2
    threads = [threading.Thread(target=repeat, args=pair) for pair in pairs]
    [each.start() for each in threads]
    [each.join() for each in threads]
    assert not wrong

for module in (digits_int8, sampler):
    (given,) = module.INPUTS
    raw = (Path(module.NETWORK.name) / given.name).read_bytes()
    values = np.frombuffer(raw, given.dtype).reshape(given.shape)
    for data in (raw, bytearray(raw), values, np.asfortranarray(values)):
        right(module, data)
    flat = memoryview(array("b", values.ravel().tolist()))
    right(module, flat.cast("B").cast("b", given.shape))
    together(module, [raw, bytes(each ^ 255 for each in raw)])
print("done")
"""


GOLDENS = """
import numpy as np
from lagoon_networks import {network} as module
ports = np.load("{golden}")
(given,), (made,) = module.INPUTS, module.OUTPUTS
for data, wanted in zip(ports["inputs"], ports["outputs_tflm"]):
    found = module.run({{given.name: data.reshape(given.shape)}})[made.name]
    assert found.tobytes() == wanted.tobytes()
print(len(ports["inputs"]))
"""

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


@pytest.fixture(scope="module")
def networks() -> tuple[Compiled, ...]:
    """Digits, which runs on the accelerator of the chip, and the sampler."""
    return compile_models(load_soc("lagoon"), [DIGITS, SAMPLER])


def written(networks: tuple[Compiled, ...], folder: Path) -> Board:
    """Write the package; of each network, its example's tensors in a folder of its name."""
    samples = [random_sample(each.graph, seed=7) for each in networks]
    board = Board.of(networks[0].soc, networks, samples)
    for path, entry in package_files(board, ["python"])["python"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(entry.data)
    for example in board.examples:
        (folder / example.name).mkdir()
        for name, data in {**example.inputs, **example.outputs}.items():
            (folder / example.name / name).write_bytes(data)
    return board


@pytest.fixture(scope="module")
def package(networks: tuple[Compiled, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without libraries."""
    folder = tmp_path_factory.mktemp("package")
    written(networks, folder)
    return folder


def python(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a program that may import the package."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "python")}
    command = [sys.executable, "-W", "error", "-c", text]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def build(folder: Path) -> None:
    """Make the libraries of a package; no compiler warns."""
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    environment["CFLAGS"] = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror"
    for words in (["--preset", "host"], ["--build", "--preset", "host"]):
        done = subprocess.run(
            ["cmake", *words],
            cwd=folder / "python",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
def test_results_are_the_chips(networks: tuple[Compiled, ...], tmp_path: Path) -> None:
    written(networks, tmp_path)
    build(tmp_path)
    (example,) = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    done = python(tmp_path, example + RUN.format(package="lagoon_networks"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    "network", ["kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8"]
)
def test_results_are_the_goldens(shared_models: Path, network: str, tmp_path: Path) -> None:
    soc = load_soc("lagoon")
    path = shared_models / f"{network}.tflite"
    compiled = compile_file(soc, path, BuildOptions(accelerators=False))
    written((compiled,), tmp_path)
    build(tmp_path)
    golden = shared_models / "golden" / f"{network}.npz"
    done = python(tmp_path, GOLDENS.format(network=network, golden=golden))
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\n", "")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ("{}", "ValueError: digits_int8 takes image, not nothing"),
        ("{'image': b'', 'b': b''}", "ValueError: digits_int8 takes image, not image, b"),
        ("{'image': b'12'}", "ValueError: input 'image' has 64 bytes, not 2"),
        ("{'image': 3}", "TypeError: input 'image' has no buffer: int"),
        (
            "{'image': memoryview(bytes(64)).cast('b', (8, 8))}",
            "ValueError: input 'image' is int8 of shape (1, 8, 8, 1), not int8 of shape (8, 8)",
        ),
        (
            "{'image': memoryview(bytes(64)).cast('B', (1, 8, 8, 1))}",
            "ValueError: input 'image' is int8 of shape (1, 8, 8, 1), not uint8 of shape",
        ),
        (
            "{'image': memoryview(bytes(512)).cast('d', (1, 8, 8, 1))}",
            "ValueError: input 'image' is int8 of shape (1, 8, 8, 1), not float64 of shape",
        ),
        ("{'image': bytes(64)}", "is not built: cmake --preset host && cmake --build --preset"),
    ],
)
def test_wrong_inputs_are_named(package: Path, inputs: str, said: str) -> None:
    done = python(package, f"from lagoon_networks import digits_int8\ndigits_int8.run({inputs})")
    assert said in done.stderr.splitlines()[-1]


def test_types_hold(package: Path) -> None:
    user = (
        "from lagoon_networks import digits_int8\n"
        "scores: memoryview = digits_int8.run({'image': b''})['softmax_9_out']\n"
        "digits_int8.run({'picture': b''})\n"
    )
    (package / "python" / "user.py").write_text(user)
    command = [str(TOOLS / "mypy"), "--strict", "--cache-dir", os.devnull, "."]
    done = subprocess.run(
        command, cwd=package / "python", capture_output=True, text=True, check=False
    )
    faults = [line for line in done.stdout.splitlines() if "error:" in line]
    assert faults
    assert all(line.startswith("user.py:3:") for line in faults), done.stdout


def test_scales_are_the_networks(networks: tuple[Compiled, ...], package: Path) -> None:
    text = "from lagoon_networks import digits_int8 as d\nprint([*d.INPUTS, *d.OUTPUTS])"
    graph = networks[0].graph
    wanted = []
    for tensor in map(graph.tensor, (*graph.inputs, *graph.outputs)):
        assert tensor.quantization
        (scale,), (zero_point,) = tensor.quantization.scales, tensor.quantization.zero_points
        shape = f"shape={tensor.shape}, dtype='{tensor.dtype}'"
        wanted.append(
            f"Tensor(name='{tensor.name}', {shape}, scale={scale}, zero_point={zero_point})"
        )
    assert python(package, text).stdout == f"[{', '.join(wanted)}]\n"


def test_names_of_python_are_names(tmp_path: Path) -> None:
    """Modules of networks hide nothing of each other, and no module of the package itself."""
    names = ("lambda", "__init__", "_runtime", "devices", "math", "Tensor", "a b'; import os")
    models = [tmp_path / f"{name}.tflite" for name in names]
    for model in models:
        shutil.copy(DIGITS, model)
    compiled = compile_models(load_soc("lagoon"), models)
    board = written(compiled, tmp_path)
    folder = tmp_path / "python" / "lagoon_networks"
    modules = [path.stem for path in sorted(folder.glob("*.py"))]
    own = [name for name in modules if name not in {"__init__", "_runtime", "devices"}]
    assert len(own) == len(names)
    text = f"""from importlib import import_module
found = [import_module("lagoon_networks." + name) for name in {own}]
print(sorted(each.NETWORK.name for each in found))
print({{tensor.nbytes for each in found for tensor in each.INPUTS}})
"""
    wanted = sorted(example.name for example in board.examples)
    assert python(tmp_path, text).stdout == f"{wanted}\n{{64}}\n"


def test_golden(networks: tuple[Compiled, ...], golden: Callable[[Path, str], None]) -> None:
    """The emitted C is that of `atoll build --emit c`, and held by what it computes.

    Files have ``.txt`` at the end, which keeps the tools of this repository from them.
    """
    board = Board.of(networks[0].soc, networks, [random_sample(each.graph) for each in networks])
    files = package_files(board, ["python"])["python"]
    texts = {
        f"{path}.txt": entry.data.decode() for path, entry in files.items() if "/src/" not in path
    }
    for path, text in texts.items():
        golden(GOLDEN / path, text)
    held = (path for path in (GOLDEN / "python").rglob("*") if path.is_file())
    assert {path.relative_to(GOLDEN).as_posix() for path in held} == {*texts}


def test_without_networks_there_are_devices_alone() -> None:
    files = package_files(Board(soc=load_soc("lagoon")), ["python"])["python"]
    assert list(files) == ["python/lagoon_networks/devices.py"]


IN_TURN = """
import numpy as np
from lagoon_networks import streaming as module
given, wanted = np.load("in_turn.npz"), np.load("wanted.npz")
(port,) = module.INPUTS
for again in range(2):
    for number, data in enumerate(given["samples"]):
        made = module.run({port.name: data})
        for name, values in made.items():
            assert bytes(values) == wanted[f"{name}_{number}"].tobytes(), (again, number, name)
    module.reset()
print("done")
"""


@needs_compiler
def test_states_are_reset(tmp_path: Path, tflite_builder: ModuleType) -> None:
    model = tmp_path / "streaming.tflite"
    model.write_bytes(tflite_builder.write(recurrent(tflite_builder)))
    networks = compile_models(load_soc("lagoon"), [model])
    graph = networks[0].network
    samples = [random_sample(graph, seed=seed)[0] for seed in range(3)]
    written(networks, tmp_path)
    build(tmp_path)
    given = np.array([each[graph.inputs[0]] for each in samples])
    np.savez(tmp_path / "in_turn.npz", samples=given)
    results = enumerate(reference.run_in_turn(graph, samples))
    wanted: dict[str, Any] = {
        f"{n}_{number}": values[n] for number, values in results for n in graph.outputs
    }
    np.savez(tmp_path / "wanted.npz", **wanted)
    done = python(tmp_path, IN_TURN)
    assert (done.stdout, done.stderr) == ("done\n", "")
