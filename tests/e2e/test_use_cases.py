# SPDX-License-Identifier: Apache-2.0
"""M7: each use case from its YAML, or the same keys on the command line, to full RTL."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.artifacts.build_tree import build, interface_of, texts_of
from atoll.artifacts.samples import random_sample
from atoll.bsp.emitters import bsp_files
from atoll.cli import main
from atoll.diagnostics.errors import PlanError, ToolchainError, UsageError
from atoll.driver.pipeline import Compiled, compile_file, compile_models
from atoll.resolve import load_soc
from atoll_sim.inputs.build_folder import open_build
from atoll_sim.runs.checked_run import run_models

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = EXAMPLES / "03_two_networks"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SCRIPTS = {
    "u1": EXAMPLES / "02_internal_workspace" / "internal_workspace.py",
    "u3": EXAMPLES / "04_pinned_pools" / "pinned_pools.py",
    "u4": EXAMPLES / "05_mapped_ports" / "mapped_ports.py",
    "application": EXAMPLES / "06_application_pools" / "application_pools.py",
}


def load(script: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(case: str) -> Compiled:
    return compile_file(load_soc(SCRIPTS[case].parent / "chip.yaml"), DIGITS)


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("case", SCRIPTS)
def test_m7_the_example_runs_in_rtl(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert load(SCRIPTS[case]).main() == 0
    printed = capsys.readouterr().out
    assert "20 of 20 layers bit-exact over 2 samples" in printed
    assert "0 placement violations" in printed


CORE_SOFTMAX = "devices.npu.params.vector=1"
"""reef has no unit for SOFTMAX, so that the core needs a workspace of its own."""

IN_ARRAYS = ("pools.shared.provided=application", "pools.private.provided=application")


@pytest.mark.parametrize(
    ("case", "keys"),
    [
        ("u1", []),
        ("u4", ["interface.map_inputs=true", "interface.map_outputs=true"]),
        (
            "application",
            [*IN_ARRAYS, CORE_SOFTMAX],
        ),
    ],
)
def test_m7_the_command_line_says_the_same(case: str, keys: list[str]) -> None:
    by_keys = compile_file(load_soc("lagoon", keys), DIGITS)
    assert interface_of(by_keys) == interface_of(compiled(case))
    assert texts_of(by_keys)["plan.json"] == texts_of(compiled(case))["plan.json"]


def test_m7_u1_the_run_function_needs_no_pool() -> None:
    assert interface_of(compiled("u1")).parameters == ("inputs", "outputs", "devices")


@pytest.mark.rtl
def test_m7_u2_both_networks_run_in_rtl_in_one_image(capsys: pytest.CaptureFixture[str]) -> None:
    assert load(TWO / "two_networks.py").main() == 0
    printed = capsys.readouterr().out
    assert "digits_int8 on lagoon: 20 of 20 layers bit-exact over 2 samples" in printed
    assert "sampler on lagoon: 24 of 24 layers bit-exact over 2 samples" in printed
    assert printed.count("0 placement violations") == 2


@pytest.mark.slow
@pytest.mark.rtl
def test_m7_u2_and_u3_two_networks_fill_one_ram_with_constants() -> None:
    """The second network's part of ITCM comes from flash behind the first one's."""
    chip = load_soc(SCRIPTS["u3"].parent / "chip.yaml", ["memories.itcm.size=12 KiB"])
    models = compile_models(chip, (DIGITS, TWO / "sampler.tflite"))
    used = [model.plan.use["fast_weights"].used for model in models]
    assert min(used) > 0
    samples = [random_sample(model.graph) for model in models]
    assert [outcome.report.passed for outcome in run_models(models, samples)] == [True, True]


def together(*keys: str) -> tuple[Compiled, ...]:
    return compile_models(load_soc(TWO / "chip.yaml", keys), (DIGITS, TWO / "sampler.tflite"))


def span(model: Compiled, pool: str) -> range:
    placed = [
        (model.plan.address(name), model.plan.address(name) + model.module.entry.sizes[name])
        for name, place in model.plan.placements.items()
        if place.pool == pool
    ]
    return range(min(placed)[0], max(end for _, end in placed))


def test_m7_u2_the_workspace_is_as_large_as_the_largest() -> None:
    first, second = together()
    origin = first.soc.pool("shared").region.origin
    assert span(first, "shared") == range(origin, origin + 4608)
    assert span(second, "shared") == range(origin, origin + second.plan.use["shared"].used)
    assert second.plan.use["shared"].used < 4608, "max, not sum"


def test_m7_u2_constants_lie_side_by_side() -> None:
    first, second = together()
    assert span(first, "weights").stop <= span(second, "weights").start
    assert span(second, "weights").start - span(first, "weights").stop < 64
    alone = compile_file(load_soc(TWO / "chip.yaml"), DIGITS)
    assert texts_of(alone)["plan.json"] == texts_of(first)["plan.json"]


def test_m7_u2_one_array_of_the_application_serves_both() -> None:
    models = together(*IN_ARRAYS, CORE_SOFTMAX)
    source = bsp_files(models[0].soc, *map(interface_of, models))["main.c"]
    largest = {
        pool: max(model.plan.use[pool].used for model in models) for pool in ("shared", "private")
    }
    assert largest["private"] == models[1].plan.use["private"].used, "not always the first model"
    for pool, size in largest.items():
        assert source.count(f"static uint8_t pool_{pool}[{size}]") == 1


def test_m7_u2_no_room_for_the_second_networks_constants_is_an_error() -> None:
    with pytest.raises(PlanError, match="weights"):
        together("pools.weights.size=7KiB")


def test_m7_u2_two_networks_of_one_name_are_refused() -> None:
    with pytest.raises(ToolchainError, match="two models are called 'digits_int8'") as caught:
        compile_models(load_soc("lagoon"), (DIGITS, DIGITS))
    assert caught.value.faults[0].code == "E075"


def test_m7_u2_the_folder_of_two_networks_opens_with_both(tmp_path: Path) -> None:
    folder = build(together(), tmp_path / "both").folder
    assert {"digits_int8", "sampler", "bsp", "firmware.elf"} <= {p.name for p in folder.iterdir()}
    first = (folder / "firmware.elf").read_bytes()
    assert build(together(), folder).folder == folder, "a build folder is replaced"
    assert (folder / "firmware.elf").read_bytes() == first
    image = open_build(folder)
    assert [model.graph.name for model in image.models] == ["digits_int8", "sampler"]
    assert [texts_of(model) for model in image.models] == [texts_of(model) for model in together()]


@pytest.mark.parametrize("name", ["firmware.elf", "sampler/plan.json", "digits_int8/resolved.json"])
def test_m7_u2_a_changed_folder_of_two_networks_is_refused(tmp_path: Path, name: str) -> None:
    folder = build(together(), tmp_path / "both").folder
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    with pytest.raises(UsageError, match=name) as caught:
        open_build(folder)
    assert caught.value.faults[0].code == "E096"


BOTH = [str(TWO / "chip.yaml"), str(DIGITS), str(TWO / "sampler.tflite")]


@pytest.mark.rtl
def test_m7_u2_the_command_line_builds_runs_and_simulates_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run` and `simulate` of the folder that `build` wrote say the same, as text and as JSON."""
    folder, outputs = str(tmp_path / "both"), [tmp_path / "digits.npy", tmp_path / "sampler.npy"]
    assert main(["build", *BOTH, "-o", folder]) == 0
    assert f"wrote {folder}: firmware.elf" in capsys.readouterr().err
    writing = [word for path in outputs for word in ("--output", str(path))]
    assert main(["run", *BOTH, "--brief", *writing]) == 0
    ran = capsys.readouterr().out
    assert "digits_int8 on lagoon: 10 of 10 layers bit-exact over 1 sample" in ran
    assert "sampler on lagoon: 12 of 12 layers bit-exact over 1 sample" in ran
    assert [np.load(path).shape for path in outputs] == [(1, 10), (2, 5)]
    assert main(["simulate", folder, "--json"]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert [report["model"] for report in reports] == ["digits_int8", "sampler"]
    for report in reports:
        assert report["bit_exact"]
        assert report["placement"]["violations"] == []
        stack = report["stack"]["cpu"]
        assert stack["watermark_bytes"] <= stack["bound_bytes"]


@pytest.mark.rtl
def test_m7_u2_each_network_has_samples_of_its_own_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "digits.npy", tmp_path / "sampler.npy"]
    for file, model in zip(files, together(), strict=True):
        (sample,) = random_sample(model.graph, seed=5)
        (values,) = sample.values()
        np.save(file, np.concatenate([values, values]))
    reading = [word for path in files for word in ("--input", str(path))]
    assert main(["run", *BOTH, "--brief", *reading]) == 0
    assert capsys.readouterr().out.count("layers bit-exact over 2 samples") == 2


def test_the_second_network_is_what_its_source_makes(
    tflite_builder: ModuleType, every_operator: Any
) -> None:
    assert (TWO / "sampler.tflite").read_bytes() == tflite_builder.write(every_operator)


def test_m7_u3_buffers_are_in_the_first_pool_with_room() -> None:
    plan = compiled("u3").plan
    fast, slow = plan.use["fast_weights"], plan.use["weights"]
    assert 4000 < fast.used <= fast.size == 4096
    assert fast.used + slow.used <= 10752 + 2 * 64, "nothing is in both"
    pools = {name: place.pool for name, place in plan.placements.items()}
    assert pools["softmax_9_out"] == "private", "only the host touches it"
    assert pools["image"] == "shared", "the accelerator reads it, and does not reach DTCM"
    for buffer in plan.problem.buffers:
        if buffer.pools == ("fast_weights", "weights") and pools[buffer.name] == "weights":
            assert buffer.size > fast.size - fast.used, f"{buffer.name} has room in ITCM"


def test_m7_u3_preference_decides_on_the_command_line() -> None:
    chip = SCRIPTS["u3"].parent / "chip.yaml"
    plan = compile_file(load_soc(chip, ["pools.fast_weights.preference=2"]), DIGITS).plan
    assert plan.use["fast_weights"].used == 0
    assert plan.use["weights"].used == 10752


def test_m7_u4_a_run_takes_no_pointers() -> None:
    interface = interface_of(compiled("u4"))
    assert interface.parameters == ("devices",)
    assert interface.inputs[0].address == compiled("u4").plan.address("image")


def test_m1_the_application_gives_what_the_plan_uses() -> None:
    made = compiled("application")
    given = {pool.pool: pool.size for pool in interface_of(made).pools}
    assert given == {name: made.plan.use[name].used for name in ("private", "shared")}
    resolved = json.loads(texts_of(made)["resolved.json"])["soc"]["pools"]
    assert {pool["name"] for pool in resolved if pool["provided"] == "application"} == set(given)
