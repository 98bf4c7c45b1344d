# SPDX-License-Identifier: Apache-2.0
"""D1, D2: one table of devices, which real tools read alike in every language."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cmsis_svd.parser import SVDParser
from devicetree.dtlib import DT

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.device_table import device_rows
from atoll.resolve.explain_devices import devices
from atoll.resolve.export import to_json, without_positions
from atoll.resolve.soc import ResolvedSoc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
DASHED = ROOT / "tests" / "data" / "dashed.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
DEVICES = (
    ("always_on_cpu", "always-on.cpu", "cpu", 1, 0, "llvm", "", "xip"),
    ("audio_dsp", "audio-dsp", "dsp", 1, 1, "llvm", "", "xip"),
    ("npu_conv_0", "npu.conv-0", "npu", 12, 0, "reef", "reef", "none"),
    ("dma_a_b", "dma-a.b", "dma", 12, 1, "", "ripple", "none"),
    ("cam_0", "cam-0", "master", 12, 2, "", "", "none"),
)
"""Name, label, kind, DLPack type and id, code generator, accelerator, loader; by ordinal."""

NUMBERS = tuple((name.upper(), number) for number, (name, *_) in enumerate(DEVICES))
NO_CARGO = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package of the chip with dashes and dots."""
    folder = tmp_path_factory.mktemp("package")
    compiled = compile_file(load_soc(str(DASHED)), DIGITS)
    board = Board.of(compiled.soc, [compiled], [random_sample(compiled.graph)])
    names = ["headers", "python", "rust", "devicetree", "svd"]
    for files in package_files(board, names).values():
        for path, entry in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(entry.data)
    return folder


def told(command: list[str], folder: Path) -> Any:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(row) for row in json.loads(done.stdout)]


def rows() -> list[tuple[object, ...]]:
    return [
        (number, name.upper(), label, *rest) for number, (name, label, *rest) in enumerate(DEVICES)
    ]


def test_d2_python_has_the_table(package: Path) -> None:
    program = (
        "import json; from dashed_networks.devices import Device, TABLE;"
        "from enum import IntEnum; assert issubclass(Device, IntEnum);"
        "print(json.dumps([(int(d), d.name, *TABLE[d]) for d in Device]))"
    )
    assert told([sys.executable, "-c", program], package / "python") == rows()


@NO_CARGO
def test_d2_rust_has_the_table(package: Path) -> None:
    (package / "rust" / "examples").mkdir()
    (package / "rust" / "examples" / "table.rs").write_text(
        "use dashed_networks::devices::TABLE;\n"
        "fn main() {\n"
        "    let rows: Vec<String> = TABLE.iter().map(|r| format!(\n"
        '        "[{}, \\"{:?}\\", {:?}, {:?}, {}, {}, {:?}, {:?}, {:?}]",\n'
        "        r.device as i32, r.device, r.label, r.kind, r.device_type, r.device_id,\n"
        "        r.generator, r.accelerator, r.loader\n"
        "    )).collect();\n"
        '    println!("[{}]", rows.join(", "));\n'
        "}\n"
    )
    command = ["cargo", "run", "--offline", "--quiet", "--example", "table"]
    assert told(command, package / "rust") == rows()


def test_d2_c_has_the_table(package: Path) -> None:
    said = ", ".join(
        f"ATOLL_DEVICE_{name}, ATOLL_DEVICE_{name}_NAME, ATOLL_DEVICE_{name}_TYPE,"
        f" ATOLL_DEVICE_{name}_ID, ATOLL_DEVICE_{name}_GENERATOR, ATOLL_DEVICE_{name}_ACCELERATOR,"
        f" ATOLL_DEVICE_{name}_LOADER"
        for name, _ in NUMBERS
    )
    form = ", ".join(['[%d, \\"%s\\", %d, %d, \\"%s\\", \\"%s\\", \\"%s\\"]'] * len(NUMBERS))
    (package / "table.c").write_text(
        '#include <stdio.h>\n#include "atoll_devices.h"\n'
        f'int main(void) {{ printf("[{form}]\\n", {said}); return 0; }}\n'
    )
    compile_it = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Iinclude", "table.c"]
    subprocess.run([*compile_it, "-o", "table"], cwd=package, check=True)
    found = told(["./table"], package)
    assert found == [(number, label, *rest) for number, _, label, _, *rest in rows()]


def test_d1_the_loader_says_where_code_is(tmp_path: Path) -> None:
    path = tmp_path / "ram.yaml"
    path.write_text(
        f"extends: {DASHED}\nsoc: ram\n"
        "devices: {audio-dsp: {code: {memory: fast.ram, size: 64 KiB}}}\n"
    )
    loaders = {row.name: row.loader for row in device_rows(load_soc(str(path)))}
    assert (loaders["always_on_cpu"], loaders["audio_dsp"]) == ("xip", "external")


def test_d1_a_loader_is_described_shown_and_exported() -> None:
    """What is described wins where it can be; `check` and resolved.json say who decided."""
    soc = load_soc(str(DASHED), ("devices.cam_0.loader=external", "devices.audio-dsp.loader=xip"))
    rows = {row.name: row.loader for row in device_rows(soc)}
    assert (rows["cam_0"], rows["audio_dsp"], rows["npu_conv_0"]) == ("external", "xip", "none")
    assert soc.layers["devices.cam_0.loader"] == "--set"
    assert soc.layers["devices.npu_conv_0.loader"] == "derived"
    exported = json.loads(to_json(soc))["soc"]["devices"]
    assert {each["name"]: each["loader"] for each in exported} == rows
    shown = devices(soc)
    at = shown.keys.index("loader")
    assert {row[0]: row[at] for row in shown.rows} == rows


def test_d2_devicetree_and_svd_have_the_names(package: Path) -> None:
    subprocess.run(
        ["dtc", "-I", "dts", "-O", "dtb", "-o", "host.dtb", "devicetree/dashed.dts"],
        cwd=package,
        check=True,
        capture_output=True,
    )
    tree = DT(str(package / "devicetree" / "dashed.dts"))
    nodes = {name: node for node in tree.node_iter() for name in node.labels}
    seen = {
        name: nodes[label].props["label"].to_string()
        for name, *_ in DEVICES
        for label in (f"device_{name}", f"mailbox_{name}")
        if label in nodes
    }
    assert seen == {name: label for name, label, *_ in DEVICES if name != "cam_0"}
    ordinals = {
        node.props["label"].to_string(): (
            node.props["atoll,ordinal"].to_num(),
            node.props["atoll,kind"].to_string(),
            node.props["atoll,loader"].to_string(),
        )
        for node in tree.node_iter()
        if "atoll,ordinal" in node.props
    }
    assert ordinals == {
        label: (number, kind, loader)
        for number, (name, label, kind, *_, loader) in enumerate(DEVICES)
        if name != "cam_0"
    }
    extension = ElementTree.parse(package / "svd" / "dashed.svd").getroot()[-1]
    assert extension.tag == "vendorExtensions"
    assert [
        [each.attrib[key] for key in ("ordinal", "name", "label", "kind", "loader")]
        for each in extension.iter("{urn:atoll:chip}device")
    ] == [
        [str(number), name, label, kind, loader]
        for number, (name, label, kind, *_, loader) in enumerate(DEVICES)
    ]
    device: Any = SVDParser.for_xml_file(package / "svd" / "dashed.svd").get_device(
        xml_validation=True, schema_version_detection=False
    )
    peripherals = {each.name for each in device.peripherals} - {"atoll_console", "atoll_guard"}
    assert peripherals == {"audio_dsp", "npu_conv_0", "dma_a_b"}


def plain(folder: Path) -> ResolvedSoc:
    """Return the chip whose file has the identifiers, and the labels apart."""
    text = DASHED.read_text()
    for name, label, *_ in DEVICES:
        text = text.replace(f"  {label}: {{kind", f"  {name}: {{label: {label}, kind")
        text = text.replace(f"  {label}:\n", f"  {name}:\n    label: {label}\n")
        text = text.replace(f"{{{label}: ", f"{{{name}: ").replace(f": {label}\nd", f": {name}\nd")
    for word in ("net-0", "boot-rom", "fast.ram", "w-0", "act.0"):
        text = text.replace(word, word.replace("-", "_").replace(".", "_"))
    path = folder / DASHED.name
    path.write_text(text)
    return load_soc(str(path))


def test_d1_a_name_is_mapped_once_for_every_file(tmp_path: Path) -> None:
    dashed, other = load_soc(str(DASHED)), plain(tmp_path)

    def described(soc: ResolvedSoc) -> Any:
        chip = json.loads(to_json(without_positions(soc)).replace(file_of(soc), ""))["soc"]
        return chip | {"layers": None}

    def file_of(soc: ResolvedSoc) -> str:
        at = soc.device("always_on_cpu").at
        assert at is not None
        return str(at.path)

    assert described(dashed) == described(other)

    def texts(soc: ResolvedSoc) -> dict[str, str]:
        made = package_files(Board(soc=soc))
        return {
            path: entry.data.decode(errors="replace")
            for files in made.values()
            for path, entry in files.items()
            if not path.endswith(".spdx.json")
        }

    assert texts(dashed) == texts(other)


def test_d1_the_command_line_takes_either_spelling() -> None:
    for name in ("always_on_cpu", "audio-dsp"):
        soc = load_soc(str(DASHED), (f"devices.{name}.clock=50MHz",))
        assert soc.device(name.replace("-", "_")).clock == 50_000_000


def test_d1_the_chip_itself_may_have_dashes(tmp_path: Path) -> None:
    path = tmp_path / "over.yaml"
    path.write_text(f"extends: {DASHED}\nsoc: my-chip.v2\n")
    soc = load_soc(str(path), ("devices.cam-0=null",))
    assert soc.name == "my_chip_v2"
    (files,) = package_files(Board(soc=soc), ["devicetree"]).values()
    assert "devicetree/my_chip_v2.dts" in files
    assert load_soc(str(path), ("soc=other-one",)).name == "other_one"


def test_d1_a_layer_may_spell_a_name_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "over.yaml"
    path.write_text(
        f"extends: {DASHED}\nsoc: over\n"
        "devices: {audio_dsp: {clock: 50 MHz}, cam.0: null}\npools: {act-0: {alignment: 64}}\n"
    )
    soc = load_soc(str(path))
    assert (soc.device("audio_dsp").clock, soc.device("audio_dsp").label) == (
        50_000_000,
        "audio-dsp",
    )
    assert [device.name for device in soc.devices] == [name for name, *_ in DEVICES[:-1]]
    assert soc.pool("act_0").alignment == 64
