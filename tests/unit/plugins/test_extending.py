# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/extending.md, installed outside the tree and used as they stand there."""

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.bsp.emitters import bsp_files
from atoll.bsp.interface import ModelInterface
from atoll.cli import main
from atoll.description.accelerator_files import find_accelerator
from atoll.description.core_files import known_cores
from atoll.frontend.registry import load_network
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll_sim.chip.generate import generate
from atoll_sim.chip.plan import plan_chip
from atoll_sim.inputs.build_folder import open_build

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "extending.md").read_text()
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
RTL = pytest.param(("--brief",), marks=pytest.mark.rtl)
NATIVE = ("--cpu", "native", "--accelerator", "model", "--brief")

Install = Callable[..., None]


def section(title: str) -> dict[str, str]:
    """Return the files of a section by name."""
    text = re.split(r"^## ", TEXT, flags=re.M)
    (body,) = (each for each in text if each.startswith(f"{title}\n"))
    return dict(re.findall(r"`([\w.]+)`:\n\n```\w*\n(.*?)^```", body, re.M | re.S))


@pytest.fixture
def installed(install: Install) -> Callable[[str], dict[str, str]]:
    """Install the example of a section; return its files."""

    def run(title: str) -> dict[str, str]:
        files = section(title)
        project = tomllib.loads(files["pyproject.toml"])["project"]
        lines = [
            line
            for group, points in project["entry-points"].items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
        ]
        (module,) = (name for name in files if name.endswith(".py"))
        beside = {name: text for name, text in files.items() if name.endswith(".c")}
        install(module.removesuffix(".py"), files[module], "\n".join(lines), beside)
        return files

    return run


Installed = Callable[[str], dict[str, str]]


def network_of(tflite_builder: ModuleType, folder: Path, name: str) -> Path:
    """Write a network of two custom operators with a RESHAPE between them."""
    shapes = ((2, 3, 5), (2, 3, 5), (6, 5), (6, 5))
    tensors = (
        tflite_builder.Tensor(shape=shape, scales=(0.5,), zero_points=(-3,)) for shape in shapes
    )

    def made(code: str, number: int, custom: str = "") -> Any:
        return tflite_builder.Operator(
            code=code, custom=custom, inputs=(number,), outputs=(number + 1,)
        )

    operators = (made("CUSTOM", 0, name), made("RESHAPE", 1), made("CUSTOM", 2, name))
    model = tflite_builder.Model(
        tensors=tuple(tensors), operators=operators, inputs=(0,), outputs=(3,)
    )
    path = folder / "network.tflite"
    path.write_bytes(tflite_builder.write(model))
    return path


@pytest.fixture
def mirrored(tflite_builder: ModuleType, tmp_path: Path) -> Path:
    """A network of two MIRRORs with a RESHAPE between them."""
    return network_of(tflite_builder, tmp_path, "Mirror")


def test_an_operator(
    installed: Installed, mirrored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "lagoon", str(mirrored)]) == 1
    assert "error[E053]" in capsys.readouterr().err
    installed("An operator")
    graph = load_network(mirrored)
    assert [op.name for op in graph.operators] == ["mirror_0", "reshape_1", "mirror_2"]
    sample = np.arange(30, dtype=np.int8).reshape(2, 3, 5)
    values = reference.run(graph, {graph.inputs[0]: sample})
    assert values["mirror_0_out"][0, 0].tolist() == [4, 3, 2, 1, 0]
    assert values[graph.outputs[0]].tolist() == sample.reshape(6, 5).tolist()
    assert main(["run", "lagoon", str(mirrored), *NATIVE]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 layers bit-exact" in out, out


def test_operators_of_other_packages_are_listed(
    installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["operators"]) == 0
    assert "CUSTOM Mirror" not in capsys.readouterr().out
    installed("An operator")
    assert main(["operators"]) == 0
    assert "CUSTOM Mirror" in capsys.readouterr().out


@pytest.fixture
def halved(tflite_builder: ModuleType, tmp_path: Path) -> Path:
    """A network of two HALVEs with a RESHAPE between them."""
    return network_of(tflite_builder, tmp_path, "Halve")


@pytest.mark.parametrize("how", [NATIVE, ("--cpu", "iss", "--brief"), RTL])
def test_an_operator_in_c(
    installed: Installed, halved: Path, how: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    installed("An operator in C")
    graph = load_network(halved)
    sample = np.arange(-15, 15, dtype=np.int8).reshape(2, 3, 5)
    values = reference.run(graph, {graph.inputs[0]: sample})
    once = np.trunc(sample / 2).astype(np.int8)
    assert values["halve_0_out"].tolist() == once.tolist()
    assert main(["run", "lagoon", str(halved), *how]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 layers bit-exact" in out, out


@pytest.mark.slow
def test_c_on_several_cores_and_as_source(
    installed: Installed, halved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The DSP runs one of the two, its compiler the C of the network."""
    installed("An operator in C")
    words = ["build", "twin", str(halved), "--place", "halve_0=dsp", "--place", "halve_2=cpu"]
    assert main([*words, "--output", str(tmp_path / "object")]) == 0
    assert main(["simulate", str(tmp_path / "object"), "--cpu", "iss"]) == 0
    assert "3 of 3 layers bit-exact" in capsys.readouterr().out
    assert main([*words, "--emit", "c", "--output", str(tmp_path / "c")]) == 0
    for name in ("model.c", "dsp_model.c"):
        assert "static int8_t halved(int8_t x)" in (tmp_path / "c" / name).read_text()
    assert main(["simulate", str(tmp_path / "c"), "--cpu", "iss"]) == 0
    assert "3 of 3 layers bit-exact" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(int8_t)(x / 2);", "(int8_t)(x / );", "halve.c:3"),
        ("int32_t elements)", "int64_t elements)", "conflicting types for 'atoll_c"),
        ("void halve", "void halves", "does not define the function 'halve'"),
        ("i < elements", "i < elements + 3", "'halve' of 'halve.c' writes past its result"),
    ],
    ids=["syntax", "types", "name", "bounds"],
)
def test_mistakes_in_c(
    installed: Installed,
    halved: Path,
    old: str,
    new: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed = TEXT.replace(old, new, 1)
    assert changed != TEXT
    monkeypatch.setattr(sys.modules[__name__], "TEXT", changed)
    installed("An operator in C")
    assert main(["run", "lagoon", str(halved), *NATIVE]) == 1
    err = capsys.readouterr().err
    assert "error[E152]" in err
    assert message in err
    assert "Traceback" not in err


def test_a_front_end(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed("A front end")
    (example,) = re.findall(r"for example `sums.lines`:\n\n```\n(.*?)^```", TEXT, re.M | re.S)
    path = tmp_path / "sums.lines"
    path.write_text(example)
    assert [str(op.kind) for op in load_network(path).operators] == ["add", "reshape"]
    assert main(["run", "lagoon", str(path), *NATIVE]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 layers bit-exact" in out, out


def test_a_build_of_another_format_can_be_simulated(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed("A front end")
    path, out = tmp_path / "sums.lines", tmp_path / "out"
    path.write_text("input x 1x8 0.5 0\nadd y 1x8 0.5 0 x x\n")
    assert main(["build", "lagoon", str(path), "-o", str(out)]) == 0
    assert (out / "sums.lines").read_bytes() == path.read_bytes()
    assert "Made from lagoon.yaml and sums.lines" in (out / "bsp" / "sums.h").read_text()
    assert [each.graph.name for each in open_build(out).models] == ["sums"]


def test_what_a_front_end_refuses(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed("A front end")
    path = tmp_path / "sums.lines"
    path.write_text("input x 1xy 0.5 0\n")
    assert main(["plan", "lagoon", str(path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error[E052]: {path}: cannot read 'input x 1xy 0.5 0': invalid literal")


def test_an_emitter(installed: Installed, tmp_path: Path) -> None:
    soc, model = load_soc("lagoon"), ModelInterface(name="m", inputs=(), outputs=())
    before = bsp_files(soc, model)
    installed("A BSP emitter")
    files = bsp_files(soc, model)
    assert files.keys() - before.keys() == {"memory_map.csv"}
    out = tmp_path / "out"
    assert main(["build", "lagoon", str(DIGITS), "-o", str(out)]) == 0
    assert (out / "bsp" / "memory_map.csv").read_text() == (
        "pool,origin,bytes\n"
        "private,0x10003000,49152\n"
        "shared,0x20000000,262144\n"
        "weights,0x00020000,917504\n"
    )


def test_a_planner(installed: Installed, capsys: pytest.CaptureFixture[str]) -> None:
    plan = ["plan", "lagoon", str(DIGITS), "--algorithm", "stacked"]
    assert main(plan) == 1
    assert "error[E094]: no planning algorithm 'stacked'" in capsys.readouterr().err
    installed("A planner")
    assert main(plan) == 0
    assert "planned by stacked" in capsys.readouterr().out


def test_a_strategy(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build.yaml").write_text("strategy: least\n")
    tried = ["explain", "lagoon", str(DIGITS), "--candidates", "--json", "--build"]
    tried += [str(tmp_path / "build.yaml"), "--set", "pools.shared.size=2 KiB"]
    assert main(tried) == 1
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["code"], fault["message"]) == ("E094", "no strategy 'least'")
    assert (fault["at"]["line"], fault["at"]["column"]) == (1, 11)
    installed("A strategy")
    assert main(tried) == 0
    first, *others = json.loads(capsys.readouterr().out)["candidates"]
    assert first["choices"]["overlap"] == {"commands": 128, "apart": "none"}
    assert first["outcome"] == "refused"
    assert [each["outcome"] for each in others].count("chosen") == 1


def test_a_build_folder_knows_its_strategy(installed: Installed, tmp_path: Path) -> None:
    installed("A strategy")
    (tmp_path / "build.yaml").write_text("strategy: least\n")
    out = str(tmp_path / "out")
    options = ["--build", str(tmp_path / "build.yaml"), "-o", out]
    assert main(["build", "lagoon", str(DIGITS), *options]) == 0
    (compiled,) = open_build(tmp_path / "out").models
    assert compiled.options.requests.model.strategy == "least"
    assert compiled.splits > 1


MISTAKES = {
    "def least(search):\n    yield 3\n": "E112]: strategy 'least' proposed 3, no candidate",
    "def least(search):\n    yield from ()\n": "E112]: strategy 'least' proposed nothing",
    "def least(search):\n    return 3\n": "E112]: strategy 'least' returned no candidates",
    "def least(search):\n    yield 1 / 0\n": "E111]: strategy 'least' failed: ZeroDivisionError",
}


@pytest.mark.parametrize("code", MISTAKES)
def test_mistakes_of_strategies(
    code: str, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("least", code, "[atoll.strategies]\nleast = least:least\n")
    (tmp_path / "build.yaml").write_text("strategy: least\n")
    assert main(["plan", "lagoon", str(DIGITS), "--build", str(tmp_path / "build.yaml")]) == 1
    assert MISTAKES[code] in capsys.readouterr().err


def test_an_engine(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = ["check", "twin", "--set", "devices.dma.engine=pump"]
    assert main(check) == 1
    assert "error[E022]: no accelerator 'pump' is described" in capsys.readouterr().err
    installed("An engine")
    folder = tmp_path / "site" / "pump"
    folder.mkdir()
    (tmp_path / "site" / "pump.py").rename(folder / "__init__.py")
    ripple = find_accelerator("ripple", Path(), None).read_text()
    (folder / "pump.yaml").write_text(ripple.replace("accelerator: ripple", "accelerator: pump"))
    assert main(check) == 0
    assert re.search(r"^dma .* pump at ", capsys.readouterr().out, re.M)
    assert main(["run", "twin", str(DIGITS), *NATIVE, *check[2:]]) == 0
    assert "pump" not in sys.modules, "its description is found without running its code"


TIDE = ("--set", "devices.cpu.core=tide")


@pytest.fixture
def tide(installed: Installed, tmp_path: Path) -> Path:
    """The package of the section about cores, installed."""
    files = installed("A core")
    folder = tmp_path / "site" / "tide"
    folder.mkdir()
    (tmp_path / "site" / "tide.py").rename(folder / "__init__.py")
    for name in ("tide.yaml", "tide.sv"):
        (folder / name).write_text(files[name])
    return folder


def test_a_core_that_is_not_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lagoon", *TIDE]) == 1
    said = capsys.readouterr().err
    assert f"error[E042]: core 'tide' of 'cpu' is none of {', '.join(known_cores())}" in said
    assert "picorv32" in said


def test_a_core(tide: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lagoon", *TIDE]) == 0
    assert re.search(r"^cpu .* tide rv32imc", capsys.readouterr().out, re.M)
    assert main(["check", "lagoon", *TIDE, "--set", "devices.npu.irq=31"]) == 1
    assert "use a line from 3 to 30" in capsys.readouterr().err
    assert main(["check", "lagoon", *TIDE, "--set", "devices.cpu.isa=rv32im"]) == 1
    said = capsys.readouterr().err
    assert "error[E040]: core 'tide' of 'cpu' cannot run 'rv32im'" in said
    assert "use one of rv32imc" in said
    start = (ROOT / "compiler" / "atoll" / "bsp" / "startup" / "picorv32.S").read_text()
    (tide / "start.S").write_text(f"# of tide\n{start}")
    text = (tide / "tide.yaml").read_text()
    (tide / "tide.yaml").write_text(text.replace("startup: picorv32.S", "startup: ./start.S"))
    assert main(["build", "lagoon", str(DIGITS), "-o", str(tmp_path / "out"), *TIDE]) == 0
    assert (tmp_path / "out" / "bsp" / "tide.S").read_text().startswith("# of tide\n")
    chip = generate(plan_chip(load_soc("lagoon", TIDE[1:])))["atoll_chip.sv"]
    assert "  tide #(\n    .Start(32'h00000000),\n    .Multiplies(1'b1),\n" in chip
    assert "tide" not in sys.modules, "its description is found without running its code"


@pytest.mark.rtl
@pytest.mark.slow
def test_a_core_in_rtl(tide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lagoon", *TIDE, "--simulate"]) == 0
    assert main(["run", "lagoon", str(DIGITS), *TIDE, "--brief"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out
    adapter = tide / "tide.sv"
    text = adapter.read_text().replace(" instr_o,", " fetch_o,")
    adapter.write_text(text.replace(".instr_o,", ".instr_o(fetch_o),"))
    assert main(["check", "lagoon", *TIDE, "--simulate"]) == 1
    said = capsys.readouterr().err
    assert "error[E114]: the RTL of core 'tide' has" in said
    assert "has no port 'instr_o' in module 'tide'" in said


def test_an_engine_whose_package_is_gone(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("other", "", "[atoll.engines]\npump = pump_that_is_gone\n")
    assert main(["check", "twin", "--set", "devices.dma.engine=pump"]) == 1
    said = capsys.readouterr().err
    assert (
        "error[E041]: cannot find 'pump_that_is_gone', which entry points of atoll.engines" in said
    )
    assert "help: install the package again" in said
