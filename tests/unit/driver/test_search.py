# SPDX-License-Identifier: Apache-2.0
"""The driver: candidates are values, so are their costs and refusals; one loop compiles them."""

import ast
import json
from collections.abc import Iterator, Set
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks.estimate_layers import small_network
from benchmarks.placements import chip
from tests import tflite_builder
from tests.property.test_random_networks import random_network as drawn_network
from tests.requests import load_requests

import atoll.driver.task
from atoll.cli import main
from atoll.description.build import node_of, requests_from
from atoll.diagnostics.errors import AtollError, PlacementError
from atoll.driver.candidate import Candidate, Infeasible
from atoll.driver.compiled import Compiled, expected_length
from atoll.driver.pipeline import compile_file, compile_graph
from atoll.driver.search import Search, Trial
from atoll.driver.stages import Compiler, compile_candidate
from atoll.driver.task import BuildOptions, Task, prepare
from atoll.driver.usual import propose
from atoll.frontend.registry import Source, load_network, read_source
from atoll.resolve import load_soc
from atoll.rewrite.passes import Rewritten, rewrite
from atoll.tile.cut import Cut, Tiling
from atoll_sim.core_calibration.random_layers import random_network

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
UNLIKE = str(ROOT / "tests" / "data" / "unlike.yaml")
NOWHERE = Source("", b"", Path())


def task_of(chip: str, *overrides: str) -> Task:
    return prepare(
        load_soc(chip, overrides), load_network(DIGITS), read_source(DIGITS), BuildOptions()
    )


def plain(task: Task) -> Candidate:
    return Candidate(overlap=task.overlaps[0])


def test_a_candidate_becomes_a_plan() -> None:
    task = task_of("lagoon")
    made = compile_candidate(task, plain(task))
    assert isinstance(made, Compiled)
    assert made.plan == compile_file(load_soc("lagoon"), DIGITS).plan


@pytest.mark.parametrize("size", ["2 KiB", "3 KiB"])
def test_a_candidate_that_does_not_fit_says_what_it_lacks(size: str) -> None:
    key = "pools.shared.size"
    task = task_of("lagoon", f"{key}={size}")
    refused = compile_candidate(task, plain(task))
    assert isinstance(refused, Infeasible)
    assert list(refused.lacks) == [key]
    larger = task_of("lagoon", f"{key}={refused.lacks[key]}")
    assert isinstance(compile_candidate(larger, plain(larger)), Compiled)


def test_what_candidates_differ_in_is_in_the_plan() -> None:
    task = task_of("lagoon")
    cut = replace(plain(task), tiling=Tiling(cuts=(Cut(begin=0, end=2, stripes=3),)))
    made = compile_candidate(task, cut)
    assert isinstance(made, Compiled)
    assert made.tiling == cut.tiling
    spared = replace(plain(task), spared=frozenset({"shared"}))
    made = compile_candidate(task, spared)
    assert isinstance(made, Compiled)
    assert {op.device for op in made.graph.operators} == {"cpu"}


def test_a_candidate_may_choose_devices() -> None:
    task = task_of("lagoon")
    made = compile_candidate(task, replace(plain(task), devices=(("conv_2d_0", "cpu"),)))
    assert isinstance(made, Compiled)
    (chosen,) = (each for each in made.decisions if each.operator == "conv_2d_0")
    assert chosen.device == "cpu"
    assert "not on 'npu'" in chosen.reason
    wrong = compile_candidate(task, replace(plain(task), devices=(("softmax_9", "nobody"),)))
    assert isinstance(wrong, Infeasible)
    assert wrong.error.faults[0].code == "E048"


def test_candidates_that_differ_in_overlaps_are_placed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = task_of("lagoon")
    compiler = Compiler(task)
    placed = [compiler.place(replace(plain(task), overlap=each)) for each in task.overlaps]
    assert len(placed) == 2
    assert placed[0] is placed[1]
    assert compiler.place(replace(plain(task), unlike=True)) is not placed[0]


def test_a_network_is_rewritten_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*given: Any) -> Rewritten:
        made.append(given)
        return rewrite(*given)

    monkeypatch.setattr(atoll.driver.task, "rewrite", counted)
    compiled = compile_file(load_soc("lagoon", ("pools.shared.size=2 KiB",)), DIGITS)
    assert compiled.tiling.cuts
    assert len(compiled.candidates) > 2
    assert len(made) == 1


def test_the_budget_bounds_the_search() -> None:
    task = task_of("lagoon", "pools.shared.size=2 KiB")
    whole, short = Search(task), Search(task)
    whole.run(propose(whole))
    short.run(propose(short), budget=2)
    assert whole.best is not None
    assert short.best is None
    assert [each.candidate for each in short.trials] == [
        each.candidate for each in whole.trials[:2]
    ]


def test_a_candidate_that_is_proposed_again_is_not_compiled_again() -> None:
    task = task_of("lagoon")
    search = Search(task)
    search.run([plain(task), plain(task)])
    assert len(search.trials) == 1


def of_cycles(search: Search, cycles: int, candidate: Candidate) -> Trial:
    result = search.trials[0].result
    return Trial(candidate=candidate, result=result, cycles=cycles, weight=(False, cycles))


def test_copies_have_to_save_clearly() -> None:
    task = task_of("lagoon")
    search = Search(task).run([plain(task)])
    base, spared = plain(task), replace(plain(task), spared=frozenset({"slow"}))
    direct = of_cycles(search, 3200, base)
    assert search.beats(of_cycles(search, 3199, base), direct)
    assert not search.beats(of_cycles(search, 3200, base), direct)
    assert search.beats(of_cycles(search, 3100, spared), direct)
    assert not search.beats(of_cycles(search, 3101, spared), direct)
    assert search.beats(of_cycles(search, 3101, base), of_cycles(search, 3102, spared))


def test_unlike_cores_run_networks_in_stripes() -> None:
    """Nobody asks for the faster core, and the network does not fit as it is."""
    network = random_network(8)
    soc = load_soc(UNLIKE, ("pools.shared.size=8 KiB",))
    made = compile_graph(soc, network, NOWHERE)
    assert made.tiling.cuts
    assert "quick" in {op.device for op in made.graph.operators}
    chosen = next(each for each in made.candidates if each.outcome == "chosen")
    usual = [each for each in made.candidates if each.cycles and not each.choices["unlike_cores"]]
    assert chosen.choices["unlike_cores"]
    assert all(each.cycles > expected_length(made) for each in usual if each.cycles)


def test_streams_that_are_asked_for_come_with_a_tiling_that_cuts_nothing(tmp_path: Path) -> None:
    """Tensors lie apart, and constants are streamed all the same, at more cycles than without."""
    path = tmp_path / "drawn.tflite"
    path.write_bytes(drawn_network(tflite_builder, Random("drawn 7")))
    chip = str(ROOT / "examples" / "12_streamed_weights" / "chip.yaml")
    soc = load_soc(chip, ("pools.shared.size=10 KiB", "pools.weights.preference=2"))
    requests = load_requests(None, overlap="none")
    asked = requests.model.model_copy(update={"stream": "always"})
    made = compile_file(soc, path, BuildOptions(requests=replace(requests, model=asked)))
    assert made.tiling.apart
    assert not made.tiling.cuts
    assert made.streaming.chosen
    lost = [each.cycles or 0 for each in made.candidates if each.outcome == "not as asked"]
    assert lost
    assert min(lost) < expected_length(made)


def test_unlike_cores_that_take_nothing_are_not_tried() -> None:
    made = compile_file(load_soc(UNLIKE, ("devices.quick.clock=25 MHz",)), DIGITS)
    assert not any(each.choices["unlike_cores"] for each in made.candidates)
    made = compile_file(load_soc(UNLIKE), DIGITS)
    assert [each.choices["unlike_cores"] for each in made.candidates] == [False, True]


@pytest.mark.parametrize(("seed", "best"), [(1, "npu1"), (3, "npu0")])
def test_one_of_several_accelerators_runs_all_that_it_can(seed: int, best: str) -> None:
    """One operator alone is faster on the other; in RTL the network takes 28 and 32 % less."""
    made = compile_graph(chip(seed), small_network(seed, "small"), NOWHERE, BuildOptions())
    assert [op.device for op in made.graph.operators] == [best] * 3
    first, *others = made.candidates
    assert first.outcome == "slower"
    assert not first.choices["devices"]
    assert "chosen" in [each.outcome for each in others if each.choices["devices"]]


def test_one_accelerator_takes_nothing_that_is_asked_to_be_elsewhere() -> None:
    options = BuildOptions(
        requests=requests_from(node_of({"place": {"fully_connected_2": "npu0"}}))
    )
    made = compile_graph(chip(1), small_network(1, "small"), NOWHERE, options)
    assert [op.device for op in made.graph.operators] == ["npu1", "npu1", "npu0"]


def told(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    command = ["explain", "lagoon", str(DIGITS), "--candidates", "--json", *options]
    assert main(command) == 0
    candidates: list[dict[str, object]] = json.loads(capsys.readouterr().out)["candidates"]
    return candidates


def test_c7_explain_tells_what_was_tried_and_why_it_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, second, third, fourth = told(capsys, "--set", "pools.shared.size=2 KiB")
    assert first["outcome"] == second["outcome"] == "refused"
    assert first["cycles"] is None
    assert first["lacks_bytes"] == {"pools.shared.size": 4608}
    assert first["why"] == "needs 'pools.shared.size' of 4608 B"
    assert third["outcome"] == "chosen"
    assert third["why"] == ""
    assert fourth["outcome"] == "slower"
    more = fourth["cycles"] - third["cycles"]  # type: ignore[operator]
    assert fourth["why"] == f"{more:,} cycles more"


def test_c7_what_a_candidate_lacks_is_enough_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    (refused, *_) = told(capsys, "--set", "pools.shared.size=2 KiB")
    lacks = refused["lacks_bytes"]
    assert isinstance(lacks, dict)
    size = lacks["pools.shared.size"]
    (made, *_) = told(capsys, "--set", f"pools.shared.size={size}")
    assert made["outcome"] == "chosen"
    (less, *_) = told(capsys, "--set", f"pools.shared.size={size - 16}")
    assert less["outcome"] == "refused"


REFUSALS = frozenset({"PlacementError", "PlanError", "Refusal"})

ERRORS = REFUSALS | {"AtollError", *(each.__name__ for each in AtollError.__subclasses__())}

SEARCHES = tuple(
    ROOT / "compiler/atoll" / room
    for room in (
        *("diagnostics", "driver", "memory", "place", "resolve/remedy", "rewrite"),
        *("stream", "tile"),
    )
)
"""Rooms that search, which no error at all may steer."""


def handlers(tree: ast.AST, refusals: Set[str] = REFUSALS) -> Iterator[tuple[int, bool]]:
    """Yield the lines that catch refusals, and whether they raise in the end."""

    def named(node: ast.AST | None) -> bool:
        nodes = tuple(ast.walk(node)) if node else ()
        found = {each.id for each in nodes if isinstance(each, ast.Name)}
        found |= {each.attr for each in nodes if isinstance(each, ast.Attribute)}
        return not found.isdisjoint(refusals)

    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and named(node.type):
            yield node.lineno, isinstance(node.body[-1], ast.Raise)
        if isinstance(node, ast.Call) and "suppress" in ast.unparse(node.func):
            yield from ((node.lineno, False) for each in node.args if named(each))


def test_refusals_steer_nothing_but_by_value() -> None:
    """Whoever catches one raises it again, with more words; `attempt…` alone make it a value.

    A search does without its machine code where no compiler makes it.
    """
    caught = []
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        search = any(map(path.is_relative_to, SEARCHES))
        refusals = ERRORS if search else REFUSALS
        if any(name in (text := path.read_text("utf-8")) for name in refusals):
            caught += [path.name for _, raises in handlers(ast.parse(text), refusals) if not raises]
    assert caught == ["errors.py", "errors.py", "search_native.py"]


@pytest.mark.parametrize(
    "text",
    [
        "try: f()\nexcept (PlanError, KeyError): g()",
        "try: f()\nexcept errors.PlanError: g()",
        "try: f()\nexcept PlanError:\n  if x: raise\n  g()",
        "with suppress(PlacementError): h()",
        "with contextlib.suppress(PlacementError): h()",
        "try: f()\nexcept DescriptionError: g()",
    ],
)
def test_steering_by_exceptions_is_found(text: str) -> None:
    ((_, raises),) = handlers(ast.parse(text), ERRORS)
    assert not raises


def test_what_raises_in_the_end_steers_nothing() -> None:
    text = "try: f()\nexcept PlanError as error:\n  g()\n  raise error.about(x) from error"
    assert list(handlers(ast.parse(text))) == [(2, True)]


def test_refusals_of_plans_are_raised_in_the_end() -> None:
    with pytest.raises(PlacementError) as caught:
        compile_file(load_soc("lagoon", ("pools.shared.size=256", "pools.private.size=16")), DIGITS)
    (key, size), *_ = caught.value.faults[0].wants
    assert key == "pools.shared.size"
    compile_file(load_soc("lagoon", (f"{key}={size}",)), DIGITS)
