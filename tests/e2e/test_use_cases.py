"""M7: each use case from its YAML, or the same keys on the command line, to full RTL."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from atoll.pipeline import Compiled, compile_file, interface_of, texts_of
from atoll.resolve import load_soc

EXAMPLES = Path(__file__).parents[2] / "examples"
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


@pytest.mark.rtl
@pytest.mark.parametrize("case", SCRIPTS)
def test_m7_the_example_runs_in_rtl(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert load(SCRIPTS[case]).main() == 0
    printed = capsys.readouterr().out
    assert "22 of 22 layers bit-exact over 2 samples" in printed
    assert "0 placement violations" in printed


@pytest.mark.parametrize(
    ("case", "keys"),
    [
        ("u1", []),
        ("u4", ["interface.map_inputs=true", "interface.map_outputs=true"]),
        (
            "application",
            ["pools.shared.provided=application", "pools.private.provided=application"],
        ),
    ],
)
def test_m7_the_command_line_says_the_same(case: str, keys: list[str]) -> None:
    by_keys = compile_file(load_soc("lagoon", keys), DIGITS)
    assert interface_of(by_keys) == interface_of(compiled(case))
    assert texts_of(by_keys)["plan.json"] == texts_of(compiled(case))["plan.json"]


def test_m7_u1_the_run_function_needs_no_pool() -> None:
    assert interface_of(compiled("u1")).parameters == ("inputs", "outputs", "devices")


def test_m7_u3_buffers_are_in_the_first_pool_with_room() -> None:
    plan = compiled("u3").plan
    fast, slow = plan.use["fast_weights"], plan.use["weights"]
    assert 4000 < fast.used <= fast.size == 4096
    assert fast.used + slow.used <= 8800 + 2 * 64, "nothing is in both"
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
    assert plan.use["weights"].used == 8800


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
