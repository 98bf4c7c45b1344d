# SPDX-License-Identifier: Apache-2.0
"""What the loader refuses of an enumeration, the JSON schema refuses, so that editors complain."""

import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from atoll.description.json_schemas import schema_text
from atoll.description.tree import plain
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
TWIN = (ROOT / "socs" / "twin.yaml").read_text()
REEF = (ROOT / "hw_sim" / "atoll_sim" / "engines" / "reef" / "reef.yaml").read_text()

CHIP_WORDS = [
    ("kind: cpu", "kind: gpu"),
    ("isa: rv32imc", "isa: rv64gch"),
    ("isa: rv32im\n", "isa: rv32mi\n"),
    ("kind: dsp", "kind: dsp\n    core: cortex_m34"),
    ("kind: dsp", "kind: dsp\n    toolchain: icc"),
    ("kind: dsp", "kind: dsp\n    reach: wo"),
    ("accelerator: reef", "accelerator: reff"),
    ("runs: [DEPTHWISE_CONV_2D]", "runs: [CONV_3D]"),
    ("runs: [DEPTHWISE_CONV_2D]", "runs: []"),
    ("engine: ripple", "engine: riple"),
    ("engine: ripple", "engine: reef"),
    ("kind: rom", "kind: flash"),
    ("kind: rom", "kind: rom, reach: r"),
    ("width: 16", "width: 32"),
    ("banks: 4", "banks: 3"),
    ("role: constants", "role: weights"),
    ("role: constants", "role: constants\n    provided: user"),
    ("role: constants", "role: constants\n    others: all"),
    ("{cpu: ro, dsp", "{cpu: r, dsp"),
    ("version: 1", "version: 2"),
]
ACCELERATOR_WORDS = [
    ("  CONV_2D:", "  CONV_3D:"),
    ("reduced:", "reducd:"),
    ("driver: command_list", "driver: command_lst"),
    ("asynchronous: true", "asynchronous: maybe"),
]


@cache
def validator(which: str) -> Any:
    schema = json.loads(schema_text(which))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def accepts(which: str, text: str) -> bool:
    """Tell whether the JSON schema called `which` accepts a document."""
    valid: bool = validator(which).is_valid(plain(parse_yaml(text, Path("x"))))
    return valid


@pytest.mark.parametrize(("old", "new"), CHIP_WORDS)
def test_words_of_a_chip(old: str, new: str, tmp_path: Path) -> None:
    assert old in TWIN
    text = TWIN.replace(old, new, 1)
    (tmp_path / "chip.yaml").write_text(text)
    with pytest.raises(AtollError):
        load_soc(tmp_path / "chip.yaml")
    assert accepts("soc", TWIN)
    assert not accepts("soc", text)
    assert accepts("soc", f"extends: base.yaml\n{TWIN}")
    assert not accepts("soc", f"extends: base.yaml\n{text}")


@pytest.mark.parametrize(("old", "new"), ACCELERATOR_WORDS)
def test_words_of_an_accelerator(old: str, new: str) -> None:
    assert old in REEF
    assert accepts("accelerator", REEF)
    assert not accepts("accelerator", REEF.replace(old, new, 1))


def test_a_file_that_extends_may_leave_out_and_delete() -> None:
    head = "extends: lagoon\n"
    assert accepts("soc", f"{head}devices: {{npu: null, cpu: {{clock: 50 MHz, stack: ~}}}}")
    assert accepts("soc", f"{head}pools: {{shared: {{reach: {{npu: null}}, others: rw}}}}")
    assert not accepts("soc", f"{head}devices: {{npu: {{colour: red}}}}")
    assert not accepts("soc", f"{head}devices: {{cpu: {{isa: rv32imc, irqs: 3}}}}")
    assert not accepts("soc", "soc: x\nversion: 1\ndevices: {npu: null}")


@pytest.mark.parametrize("word", ["./mine.yaml", "parts/mine", "mine.yml"])
def test_paths_of_own_accelerators_are_allowed(word: str) -> None:
    assert accepts("soc", TWIN.replace("accelerator: reef", f"accelerator: {word}"))
    assert accepts("soc", TWIN.replace("engine: ripple", f"engine: {word}"))


def test_the_words_are_those_of_the_stages() -> None:
    from atoll.bsp.toolchain import TOOLCHAINS
    from atoll.description import vocabulary
    from atoll.description.accelerator_files import OWN, find_accelerator
    from atoll.description.core import FACTS
    from atoll.description.devices import Cpu
    from atoll.ops.registry import OPERATORS
    from atoll_sim.chip import rtl_cores

    assert tuple(sorted(OWN)) == vocabulary.ACCELERATORS
    engines = [
        name for name in sorted(OWN) if "COPY" in find_accelerator(name, Path(), None).read_text()
    ]
    assert tuple(engines) == vocabulary.ENGINES
    in_parts = {"pack", "split", "split_v", "unpack"}
    assert {word.lower() for word in vocabulary.OPERATORS} == {*OPERATORS} - in_parts
    assert {*rtl_cores.FACTS} == {*FACTS}
    assert {*get_args(Cpu.model_fields["toolchain"].annotation)} == {*TOOLCHAINS}
