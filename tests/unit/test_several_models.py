# SPDX-License-Identifier: Apache-2.0
"""Networks of one firmware: where each is, and who notices if that is wrong (M7, U2)."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest

from atoll.artifacts.samples import Sample, random_sample
from atoll.contract.image_check import check_image
from atoll.diagnostics.errors import AtollError, PlanError, ToolchainError
from atoll.driver.pipeline import Compiled, compile_file, compile_models
from atoll.resolve import load_soc
from atoll_sim.check.layers import check_layers
from atoll_sim.host.native_run import run_native
from atoll_sim.simulate.turns import turn_of
from atoll_sim.trace.findings import violations

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SAMPLER = EXAMPLES / "03_two_networks" / "sampler.tflite"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Three files of networks with three names."""
    third = tmp_path_factory.mktemp("networks") / "third.tflite"
    third.write_bytes(DIGITS.read_bytes())
    return DIGITS, SAMPLER, third


def constants(model: Compiled) -> list[range]:
    plan, entry = model.plan, model.module.entry
    begins = {constant.name: plan.address(constant.name) for constant in entry.constants}
    return [range(begins[each.name], begins[each.name] + each.size) for each in entry.constants]


def check(models: tuple[Compiled, ...]) -> None:
    check_image(
        models[0].soc,
        {f"{each.graph.name}_{n}": each.plan for n, each in enumerate(models)},
        {f"{each.graph.name}_{n}": each.contract for n, each in enumerate(models)},
    )


def test_m7_u2_constants_of_three_networks_never_share_a_byte(three: tuple[Path, ...]) -> None:
    models = compile_models(load_soc("lagoon"), three)
    for one, other in combinations(models, 2):
        for left in constants(one):
            for right in constants(other):
                assert left.stop <= right.start or right.stop <= left.start, (left, right)


def test_m7_u2_workspaces_of_three_networks_share_the_first_bytes(three: tuple[Path, ...]) -> None:
    models = compile_models(load_soc("lagoon", ("devices.npu.params.vector=1",)), three)
    for pool in ("shared", "private"):
        origin = models[0].soc.pool(pool).region.origin
        for model in models:
            places = [p for p in model.plan.placements.values() if p.pool == pool]
            assert min(model.plan.address(place.buffer) for place in places) == origin


def test_m3_a_network_that_forgets_an_earlier_one_is_refused(three: tuple[Path, ...]) -> None:
    soc = load_soc("lagoon")
    first, second, _ = compile_models(soc, three)
    behind_first = {"weights": first.plan.use["weights"].used // 64 * 64 + 64}
    forgetful = compile_file(soc, three[2], taken=behind_first)
    with pytest.raises(PlanError) as caught:
        check((first, second, forgetful))
    assert [fault.code for fault in caught.value.faults] == ["E063"]
    assert "of 'sampler_1' and constant '" in str(caught.value)
    assert "in pool 'weights'" in str(caught.value)
    check((first, second))


def test_m3_the_last_byte_of_a_constant_counts(three: tuple[Path, ...]) -> None:
    soc = load_soc("lagoon")
    first = compile_file(soc, DIGITS)
    end = max(span.stop for span in constants(first)) - soc.pool("weights").region.origin
    step = soc.pool("weights").alignment
    assert end % step == 0, "the next network can begin right behind"
    check((first, compile_file(soc, three[2], taken={"weights": end})))
    with pytest.raises(PlanError, match="share 16 B"):
        check((first, compile_file(soc, three[2], taken={"weights": end - step})))


def test_m7_u2_a_workspace_behind_another_one_is_refused(three: tuple[Path, ...]) -> None:
    soc = load_soc("lagoon")
    apart = compile_file(soc, three[2], taken={"weights": 1 << 16, "shared": 8192})
    with pytest.raises(PlanError, match="workspace of 'third_1' in pool 'shared'") as caught:
        check((compile_file(soc, DIGITS), apart))
    assert [fault.code for fault in caught.value.faults] == ["E064"]


def test_a_fault_says_which_network_it_is_about(three: tuple[Path, ...]) -> None:
    with pytest.raises(PlanError, match=r"error\[E06.\]: network 'third': ") as caught:
        compile_models(load_soc("lagoon", ["pools.weights.size=15KiB"]), three)
    assert all(fault.message.startswith("network 'third': ") for fault in caught.value.faults)
    with pytest.raises(AtollError, match=r"error\[E06.\]: constant '"):
        compile_models(load_soc("lagoon", ["pools.weights.size=2KiB"]), three[:1])


def test_files_that_give_one_name_are_refused(three: tuple[Path, ...], tmp_path: Path) -> None:
    twins = [tmp_path / "a-b.tflite", tmp_path / "a_b.tflite"]
    for twin in twins:
        twin.write_bytes(DIGITS.read_bytes())
    with pytest.raises(ToolchainError, match="two models are called 'a_b'"):
        compile_models(load_soc("lagoon"), twins)


def test_the_native_host_notices_constants_that_share_bytes(three: tuple[Path, ...]) -> None:
    """The shadow memory beside the native host follows whose turn it is."""
    soc = load_soc("lagoon")
    right = compile_models(soc, three[:2])
    samples = [random_sample(model.graph) * 2 for model in right]
    assert findings(right, samples) == [0, 0]
    wrong = (right[0], compile_file(soc, SAMPLER))
    assert sum(findings(wrong, samples)) > 0


def findings(models: tuple[Compiled, ...], samples: Sequence[Sequence[Sample]]) -> list[int]:
    result = run_native(models, samples)
    turns = [turn_of(result, number, len(models)) for number in range(len(models))]
    return [
        len(violations(turn)) + len(check_layers(model.graph, given, turn).mismatches)
        for model, given, turn in zip(models, samples, turns, strict=True)
    ]
