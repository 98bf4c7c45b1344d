"""P1: what placement and scheduling assume of cores and engines, held against RTL.

Cycle counts of the simulator are deterministic; nothing here measures time.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.pipeline import BuildOptions, compile_file
from atoll.place.core_cycles import RATES
from atoll.place.costs import cycles_of
from atoll.resolve import load_soc
from atoll_sim.run import AcceleratorKind, CpuKind, run_compiled
from atoll_sim.samples import random_sample

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CLOSE = 0.25
# The rescaling of an addition takes longer the more it shifts; small layers hide in their overhead.
SPREAD = {"add": 0.45, "mul": 0.45}
SMALL = 500

pytestmark = pytest.mark.rtl


def errors(soc: str, model: Path, *, accelerators: bool) -> dict[tuple[str, str, str], float]:
    """Return estimate / measured - 1 by operator, kind and device, of all but the smallest."""
    compiled = compile_file(load_soc(soc), model, BuildOptions(accelerators=accelerators))
    kind = AcceleratorKind.RTL if accelerators else AcceleratorKind.NONE
    sample = random_sample(compiled.graph)
    report = run_compiled(compiled, sample, cpu=CpuKind.RTL, accelerator=kind).report
    assert report.passed
    estimates = cycles_of(compiled.graph, compiled.soc)
    return {
        (layer.operator, layer.kind, layer.device): estimates[layer.operator] / layer.worked - 1
        for layer in report.by_layer
        if layer.worked > SMALL
    }


def assert_close(found: dict[tuple[str, str, str], float]) -> None:
    far = {key: error for key, error in found.items() if abs(error) > SPREAD.get(key[1], CLOSE)}
    assert far == {}


def test_p1_cycles_of_a_core_are_near_the_estimate(
    tflite_builder: ModuleType, every_operator: Any, tmp_path: Path
) -> None:
    path = tmp_path / "every_operator.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    found = errors("lagoon", DIGITS, accelerators=False)
    found |= errors("lagoon", path, accelerators=False)
    assert_close(found)
    assert {kind for _, kind, _ in found} >= set(RATES) - {"copy", "reshape"}


@pytest.mark.parametrize("chip", ["islands", "islands_dma"])
def test_p1_cycles_of_engines_are_near_the_estimate(chip: str) -> None:
    found = errors(str(ROOT / "tests" / "data" / f"{chip}.yaml"), DIGITS, accelerators=True)
    assert_close(found)
    engines = {device for _, _, device in found} - {"cpu"}
    assert engines == {"npu_a", "npu_b"} | ({"dma"} if chip == "islands_dma" else set())
