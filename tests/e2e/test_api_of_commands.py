# SPDX-License-Identifier: Apache-2.0
"""Each function returns what its command prints with `--json`."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.unit.api.both import plain, printed
from tests.unit.importing.vendor import SVD

import atoll
from atoll.bsp.doctor import Check
from atoll.cli import main
from atoll.report.schema_files import schema_text

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
HELD_OUT = EXAMPLES / "01_digits" / "digits_test.npz"
IDEA = "accelerator: idea\nversion: 1\noperators: {ADD: {cost: 100 + elements}}\n"
LOG = """\
selftest begin version=1 chip=lagoon tests=3
selftest 1 march device=cpu place=shared memory=sram expect=works found=works
selftest 2 read device=npu place=shared expect=works found=refused
selftest end failed=1
"""
NATIVE = ("--cpu", "native", "--accelerator", "model")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def made() -> atoll.Compilation:
    return atoll.compile("lagoon", DIGITS)


@pytest.fixture(scope="module")
def build(made: atoll.Compilation, tmp_path_factory: pytest.TempPathFactory) -> atoll.Build:
    return atoll.build(made, tmp_path_factory.mktemp("built") / "build")


@pytest.fixture(scope="module")
def image(build: atoll.Build) -> Path:
    return next(build.folder.rglob("firmware.elf"))


def shown(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<p>{html}</p>")


def without(data: Any, *keys: str) -> Any:
    """Return plain data without keys whose values are times."""
    match data:
        case dict():
            return {name: without(each, *keys) for name, each in data.items() if name not in keys}
        case list():
            return [without(each, *keys) for each in data]
    return data


def test_an_image_and_its_stack(
    image: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = atoll.check_image("lagoon", image)
    assert found.passed
    assert plain(found.to_json()) == printed(capsys, "check-image", "lagoon", str(image))
    assert {row["memory"] for row in found.rows()} == {"dtcm", "flash", "sram"}
    assert f"{image}: " in found.text()
    shown(found._repr_html_())
    (tmp_path / "image.json").write_text(json.dumps(found.to_json()))
    report = atoll.make_report(tmp_path / "image.json").documents
    assert report == plain(atoll.make_report(found).to_json())
    assert "/image/0/sections/0/size_bytes" in atoll.Report(report).to_html()
    alone = atoll.check_image(None, str(image), entries=["atoll_reset"])
    words = ("check-image", "--stack-only", str(image), "--entry", "atoll_reset")
    assert plain(alone.to_json()) == printed(capsys, *words)
    assert alone.stack is not None
    assert alone.stack.entry_bytes
    assert alone.text() == alone.stack.text()
    shown(alone._repr_html_())


def test_what_disagrees_is_data(image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chip = atoll.load_soc("lagoon").with_({"devices.cpu.stack.size": "2 KiB"})
    found = atoll.check_image(chip, image)
    assert not found.passed
    assert {each.code for each in found.faults} == {"E140"}
    assert all(each.remedy for each in found.faults)
    words = ("check-image", "lagoon", str(image), "--set", "devices.cpu.stack.size=2KiB")
    assert plain(found.to_json()) == printed(capsys, *words, status=1)
    with pytest.raises(atoll.UsageError, match="E142"):
        atoll.check_image("lagoon", image, core="nobody")


def test_an_image_runs(
    made: atoll.Compilation, image: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    found = atoll.run_image("lagoon", [image], cpu="iss", networks=made)
    assert found.passed, found.ended
    words = ("run-image", "lagoon", str(image), "--cpu", "iss", "--network", str(DIGITS))
    command = printed(capsys, *words)
    assert without(plain(found.to_json()), "seconds") == without(command, "seconds")
    with pytest.raises(atoll.UsageError, match="E134"):
        atoll.run_image("lagoon", [image, image, image, image], cpu="iss")
    with pytest.raises(atoll.UsageError, match="E089"):
        atoll.run_image("lagoon", [image], cpu="native")  # type: ignore[arg-type]


def test_a_log_is_a_file_a_text_or_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    Path("uart.log").write_text(LOG)
    told = printed(capsys, "selftest", "uart.log", "--soc", "lagoon", status=1)
    for log in (Path("uart.log"), "uart.log", LOG, io.BytesIO(LOG.encode())):
        found = atoll.check_selftest(log, soc="lagoon")
        assert plain(found.to_json()) == told
        assert not found.passed
    assert found.findings[-1].at
    assert (found.tests, found.passed_tests, found.missing) == (3, 1, (3,))
    assert [row["found"] for row in found.rows()] == ["works", "refused"]
    shown(found._repr_html_())
    with pytest.raises(atoll.UsageError, match="E133"):
        atoll.check_selftest(LOG, soc="atoll2")
    with pytest.raises(atoll.UsageError, match="the log has no line"):
        atoll.check_selftest("nothing\nhere\n")


def test_a_description_begins_with_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("chip.svd").write_text(SVD)
    told = printed(capsys, "import", "chip.svd", "-o", "chip.yaml")
    found = atoll.import_files(["chip.svd"], "other.yaml")
    assert plain(found.to_json()) == told | {"wrote": ["other.yaml"]}
    assert Path("other.yaml").read_text() == found.yaml == Path("chip.yaml").read_text()
    assert found.rows()
    shown(found._repr_html_())
    unwritten = atoll.import_files([Path("chip.svd")])
    assert unwritten.output is None
    assert unwritten.yaml == found.yaml
    assert plain(unwritten.to_json()) == told | {"wrote": []}
    with pytest.raises(atoll.UsageError, match="E091"):
        atoll.import_files(["chip.svd"], "other.yaml")
    assert atoll.import_files(["chip.svd"], "other.yaml", force=True).output
    with pytest.raises(atoll.DescriptionError, match="E137"):
        atoll.load_soc(found.yaml)


def test_chips_and_builds_differ(build: atoll.Build, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "diff", "lagoon", "lagoon", "--set", "pools.shared.size=64KiB")
    chip = atoll.load_soc("lagoon")
    smaller = chip.with_({"pools.shared.size": "64 KiB"})
    found = atoll.diff(chip, smaller)
    assert plain(found.to_json()) == told
    assert atoll.diff("lagoon", chip, overrides={"pools.shared.size": "64 KiB"}) == found
    assert [each.name for each in found] == ["shared"]
    assert [row["key"] for row in found.rows()] == ["size"]
    shown(found._repr_html_())
    mapping = {"extends": "lagoon", "soc": "lagoon", "version": 1}
    assert atoll.diff(chip, mapping).text() == "no difference\n"
    with_plan = atoll.diff(smaller, build.folder)
    folder = str(build.folder)
    assert plain(with_plan.to_json())["changes"][0]["after"] == 262144
    assert plain(atoll.diff("lagoon", folder).to_json()) == printed(
        capsys, "diff", "lagoon", folder
    )
    with pytest.raises(atoll.UsageError, match="E090"):
        atoll.diff(chip, build.folder, overrides=["pools.shared.size=64KiB"])


def test_files_to_start_from(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--core", "ibex", "--memory", "sram=512KiB", "--memory", "flash=rom:1MiB")
    told = printed(capsys, "new", "chip", *words, "--accelerator", "none")
    assert told == {"wrote": ["chip.yaml"]}
    made = atoll.new_soc(
        "chip",
        "mine.yaml",
        cores=["ibex"],
        accelerators=[],
        memories=["sram=512KiB", "flash=rom:1MiB"],
    )
    assert made.to_json() == {"wrote": ["mine.yaml"]}
    assert made.files[0].read_text() == Path("chip.yaml").read_text()
    assert atoll.load_soc(made.files[0]).devices == ("cpu",)
    for wrong, code in (("chip", "E091"), ("Not-A-Name", "E099")):
        with pytest.raises(atoll.UsageError, match=code):
            atoll.new_soc(wrong)
    assert printed(capsys, "core", "new", "own", "--isa", "rv32imc") == {"wrote": ["own.yaml"]}
    made_core = atoll.new_core("own", "other.yaml", isa="rv32imc")
    assert made_core.files[0].read_text() == Path("own.yaml").read_text()
    told = printed(capsys, "new", "accelerator", "mine_too", "-o", "a")
    files = atoll.new_accelerator("mine_too", "b").files
    assert [Path(each).relative_to("a") for each in told["wrote"]] == [
        each.relative_to("b") for each in files
    ]


def test_schemas(capsys: pytest.CaptureFixture[str]) -> None:
    for which in ("soc", "run-output"):
        assert main(["schema", which]) == 0
        assert capsys.readouterr().out == schema_text(which)
        assert printed(capsys, "schema", which) == atoll.schema(which)
    told = printed(capsys, "schema", "--write", "schemas")
    assert atoll.write_schemas("schemas").to_json() == told
    with pytest.raises(atoll.UsageError, match="E094"):
        atoll.schema("sox")


def test_operators(capsys: pytest.CaptureFixture[str]) -> None:
    found = atoll.operators()
    assert plain(found.to_json()) == printed(capsys, "operators")
    assert found.soc is None
    of_chip = atoll.operators("twin")
    assert plain(of_chip.to_json()) == printed(capsys, "operators", "twin")
    assert len(of_chip.rows()) == len(found.names)
    shown(of_chip._repr_html_())


def test_tools(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    there = Check(name="make", ok=True, found="4.4")
    lacking = Check(name="perl", ok=False, found="not on the PATH", remedy="install perl")
    monkeypatch.setattr("atoll.api.doctor.diagnose", lambda: (there, lacking))
    found = atoll.doctor()
    assert not found.ok
    assert plain(found.to_json()) == printed(capsys, "doctor", status=1)
    assert "missing perl" in found.text()
    shown(found._repr_html_())


def test_an_accelerator_is_tested(capsys: pytest.CaptureFixture[str]) -> None:
    Path("idea.yaml").write_text(IDEA)
    found = atoll.check_accelerator("idea.yaml", operators=2)
    assert found.passed
    told = printed(capsys, "accelerator", "test", "idea.yaml", "--operators", "2")
    assert without(plain(found.to_json()), "wall_ns") == without(told, "wall_ns")
    assert found.coverage_rows()
    assert found.text().endswith("checks right; there is no RTL\n")
    shown(found._repr_html_())


@pytest.mark.rtl
@pytest.mark.slow
def test_an_adapter_is_tested(capsys: pytest.CaptureFixture[str]) -> None:
    found = atoll.check_core("picorv32", seed=2)
    assert found.passed
    assert plain(found.to_json()) == printed(capsys, "core", "test", "picorv32", "--seed", "2")
    assert "core picorv32, rv32im: 21 of 21 checks right" in found.text()


def test_what_a_core_cannot_run_is_refused() -> None:
    with pytest.raises(atoll.UsageError, match="E040"):
        atoll.check_core("picorv32", isa="rv64gc")


def test_a_dataset(made: atoll.Compilation, capsys: pytest.CaptureFixture[str]) -> None:
    found = atoll.run(made, cpu="native", accelerator="model", dataset=HELD_OUT)
    words = ("run", "lagoon", str(DIGITS), "--dataset", str(HELD_OUT), *NATIVE)
    told = printed(capsys, *words)
    assert without(plain(found.to_json()), "wall_seconds", "layer") == without(
        told, "wall_seconds", "layer"
    )
    accuracy = found.network.accuracy
    assert accuracy is not None
    assert accuracy.compared == accuracy.equal == len(found.network.outputs) == 2
    assert sum(int(str(row["samples"])) for row in accuracy.rows()) == accuracy.samples
    assert len(accuracy.outputs) == accuracy.samples
    assert f"{accuracy.right:,} of {accuracy.samples:,} samples" in found.text()
    shown(accuracy._repr_html_())
    zeros = np.zeros((1, 8, 8, 1), np.int8)
    with pytest.raises(atoll.UsageError, match="E090"):
        atoll.run(made, zeros, cpu="native", accelerator="model", dataset=HELD_OUT)


def test_a_chip_that_makes_other_bytes_of_a_dataset_has_not_passed(
    made: atoll.Compilation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atoll_sim.dataset.judged.outputs_equal", lambda *both: False)
    found = atoll.run(made, cpu="native", accelerator="model", dataset=HELD_OUT)
    assert found.network.bit_exact
    assert not found.passed
    words = ("run", "lagoon", str(DIGITS), "--dataset", str(HELD_OUT), *NATIVE)
    assert printed(capsys, *words, status=1)["dataset"]["equal_samples"] == 0


def test_an_oracle(made: atoll.Compilation, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tflite_micro")
    found = atoll.run(made, cpu="native", accelerator="model", oracle=True)
    told = printed(capsys, "run", "lagoon", str(DIGITS), "--oracle", *NATIVE)
    assert without(plain(found.to_json()), "wall_seconds", "layer") == without(
        told, "wall_seconds", "layer"
    )
    assert found.network.oracle is not None
    assert found.network.oracle.passed
    graph = atoll.compile("lagoon", atoll.load_network(DIGITS).graph)
    with pytest.raises(atoll.UsageError, match="E182"):
        atoll.run(graph, cpu="native", accelerator="model", oracle=True)


def test_a_board_package(made: atoll.Compilation, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "bsp", "lagoon", str(DIGITS), "-o", "one", "--only", "svd,gdb")
    found = atoll.write_bsp("lagoon", "two", networks=made, only=["svd", "gdb"])
    assert plain(found.to_json()) == told | {"folder": "two"}
    assert found.written
    again = atoll.write_bsp("lagoon", "two", networks=made, only=["svd", "gdb"], check=True)
    assert {row["file"] for row in again.rows()} == {"same"}
    shown(found._repr_html_())


def test_passes(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["fuse-activations", "plan-devices", "lower"]
    found = atoll.run_passes(DIGITS, names, soc="lagoon")
    asked = [word for name in names for word in ("--pass", name)]
    assert plain(found.to_json()) == printed(capsys, "opt", str(DIGITS), "--soc", "lagoon", *asked)
    graph = atoll.run_passes(DIGITS)
    assert atoll.run_passes(graph.text()).text() == graph.text()
    known = atoll.passes()
    assert plain(known.to_json()) == printed(capsys, "opt", "--list")
    assert {*names} <= {row["name"] for row in known.rows()}
    shown(known._repr_html_())


BESIDE: dict[str, Callable[[], object]] = {
    "atoll_image": lambda: atoll.check_image(None, "x.elf"),
    "atoll_selftest": lambda: atoll.check_selftest(LOG),
    "atoll_import": lambda: atoll.import_files([]),
    "atoll_compare": lambda: atoll.diff("lagoon", "lagoon"),
    "atoll_report": lambda: atoll.make_report("x.json"),
    "atoll_board": lambda: atoll.write_bsp("lagoon", "x"),
    "atoll_sim": lambda: atoll.check_core("ibex"),
}


@pytest.mark.parametrize("package", BESIDE)
def test_a_package_that_is_missing_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atoll.api.beside.find_spec", lambda name: None)
    with pytest.raises(atoll.UsageError, match="which is not installed") as caught:
        BESIDE[package]()
    assert caught.value.code == "E090"
    assert f"'{package}'" in str(caught.value)


def test_the_core_imports_no_package_beside_it() -> None:
    modules = {
        f"atoll.api.{path.stem}" for path in Path(atoll.__file__).parent.glob("api/[!_]*.py")
    }
    code = f"import sys\nfor name in {sorted(modules)!r}: __import__(name)\n"
    code += "print([m for m in sys.modules if m.startswith('atoll_')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
