# SPDX-License-Identifier: Apache-2.0
"""Planted faults: drawn the same each time, really wrong, and proven harmless only if they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from rich.console import Console
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.memory.checker import check
from atoll.memory.problem import Placement
from atoll.report.result import RunReport
from atoll.resolve import load_soc
from atoll_sim.engines.common.encode import with_check
from atoll_sim.faults.draw import Draw
from atoll_sim.faults.kinds import FaultKind
from atoll_sim.mutate.campaign import Campaign, Trial, to_trial
from atoll_sim.mutate.commands import address_words, command_lists, commands_elsewhere
from atoll_sim.mutate.firewall import firewall_windows
from atoll_sim.mutate.image import segments_of
from atoll_sim.mutate.kinds import KINDS, draw_mutants
from atoll_sim.mutate.mutant import Mutant, Right, move_buffers
from atoll_sim.mutate.places import place_of
from atoll_sim.mutate.proofs import differing_ranges, independent, proof, same_decisions
from atoll_sim.mutate.report import as_json, text_of, untried_kinds
from atoll_sim.mutate.trial import Verdict, expected_bytes
from atoll_sim.protocol.records import AFTER_RUN, AccessKind
from atoll_sim.simulate.firmware import Segment, data_taken, load_images, start_copies
from atoll_sim.trace.findings import unreachable_ports

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
ENOUGH = 3 * len(KINDS)
WORDS = {name for name, kind in KINDS.items() if kind.area == "mailbox"}
ABSENT = {
    *WORDS,
    *("output freed early", "other view", "tile moved", "halo short"),
    *("double buffer swapped early", "alias taken for memory", "code copied wrongly"),
}
"""Kinds that need an output which is there before the run ends, a chip with views or aliases,
stripes, constants that are copied ahead, code that start-up code copies, or another core's work."""


def right_build(chip: str, folder: Path, *overrides: str, place: Sequence[str] = ()) -> Right:
    """Return a right build that has not run: what it touches is what its contract allows."""
    options = BuildOptions(requests=load_requests(None, place))
    compiled = compile_file(load_soc(chip, overrides), DIGITS, options)
    elves = build((compiled,), folder / "build").firmware.elves
    touched: dict[tuple[str, AccessKind], list[range]] = {}
    for phase in compiled.contract.phases.values():
        for kind, spans in ((AccessKind.READ, phase.reads), (AccessKind.WRITE, phase.writes)):
            found = touched.setdefault((phase.device, kind), [])
            found += [range(span.address, span.end) for span in spans]
    host = compiled.soc.host_cpu
    touched[host.name, AccessKind.FETCH] = [range(host.code.origin, host.code.origin + 4096)]
    return Right(
        compiled=compiled,
        executable=folder / "model",
        segments=load_images(elves, compiled.soc),
        sample=random_sample(compiled.graph)[0],
        touched=touched,
        in_runs=touched,
        copied=tuple(start_copies(elves, compiled.soc)),
        data=data_taken(elves, compiled.soc),
        stack=512,
        cycles=1000,
    )


@pytest.fixture(scope="module")
def lagoon(tmp_path_factory: pytest.TempPathFactory) -> Right:
    """Return a build in which the core has an operator to run."""
    folder = tmp_path_factory.mktemp("lagoon")
    return right_build("lagoon", folder, "devices.npu.params.vector=1")


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Right:
    return right_build("twin", tmp_path_factory.mktemp("twin"))


@pytest.fixture(scope="module")
def drawn(twin: Right) -> Mapping[str, Sequence[Mutant]]:
    found: dict[str, list[Mutant]] = {}
    for mutant in draw_mutants(twin, ENOUGH, 1):
        found.setdefault(mutant.kind, []).append(mutant)
    return found


@pytest.fixture(scope="module")
def sixty(lagoon: Right) -> Sequence[Mutant]:
    return list(draw_mutants(lagoon, 60, 1))


def test_the_same_seed_draws_the_same_mutants(lagoon: Right, sixty: Sequence[Mutant]) -> None:
    first, again, other = (
        [str(mutant) for mutant in draw_mutants(lagoon, 12, seed)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert len({str(mutant) for mutant in sixty}) == 60


def test_every_kind_is_drawn_as_often_as_any_other(
    drawn: Mapping[str, Sequence[Mutant]],
) -> None:
    assert drawn.keys() == KINDS.keys() - ABSENT
    assert sum(map(len, drawn.values())) == ENOUGH
    assert max(map(len, drawn.values())) <= 5
    assert min(map(len, drawn.values())) >= 1


def test_a_kind_that_a_chip_cannot_have_is_left_out(sixty: Sequence[Mutant]) -> None:
    kinds = {mutant.kind for mutant in sixty}
    assert KINDS.keys() - kinds == {"dropped copy", "dropped wait", *ABSENT}


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - ABSENT))
def test_each_kind_changes_what_runs(
    kind: str, drawn: Mapping[str, Sequence[Mutant]], twin: Right, tmp_path: Path
) -> None:
    mutant = drawn[kind][0]
    segments = segments_of(mutant, tmp_path / "build")
    assert differing_ranges(twin, segments) or mutant.windows, mutant
    assert mutant.subject
    assert str(mutant).startswith(f"{kind}: ")


@pytest.mark.parametrize("mailbox", ["registers", "memory"])
def test_each_word_of_a_mailbox_goes_wrong(mailbox: str, tmp_path: Path) -> None:
    memory = ("devices.dsp.mailbox=sram", "devices.dsp.irq=null")
    place = ("add_3=dsp", "softmax_9=dsp")
    settings = memory if mailbox == "memory" else ()
    right = right_build("twin", tmp_path, *settings, place=place)
    kinds = {name: kind for name, kind in KINDS.items() if name in WORDS}
    drawn = draw_mutants(right, 3 * len(kinds), 1, kinds=kinds)
    of_memory = {"other half written", "mailbox elsewhere"}
    assert {each.kind for each in drawn} == WORDS - (set() if settings else of_memory)
    for kind in {each.kind for each in drawn}:
        mutant = next(each for each in drawn if each.kind == kind)
        segments = segments_of(mutant, tmp_path / kind.replace(" ", "_"))
        assert differing_ranges(right, segments), mutant
        assert place_of(mutant).at


@pytest.mark.parametrize(
    "kind", ["misaligned", "overlapping", "wrong pool", "early free", "shrunk"]
)
def test_a_plan_that_its_contract_follows_is_refused_by_the_checker(
    kind: str, drawn: Mapping[str, Sequence[Mutant]]
) -> None:
    for mutant in drawn[kind]:
        assert mutant.judged is mutant.built
        with pytest.raises(Exception, match=r"E06[34]"):
            check(mutant.built.plan)


@pytest.mark.parametrize("kind", ["moved", "shifted", "dropped copy", "wrong address"])
def test_what_is_not_planned_so_is_judged_by_the_right_contract(
    kind: str, drawn: Mapping[str, Sequence[Mutant]], twin: Right
) -> None:
    assert all(mutant.judged is twin.compiled for mutant in drawn[kind])


def test_addresses_in_commands_are_what_another_plan_changes(lagoon: Right) -> None:
    compiled = lagoon.compiled
    jobs = {job.commands: job for job in compiled.jobs.values()}
    for commands in command_lists(compiled):
        job = jobs[commands.name]
        words = address_words(
            replace(commands, data=commands.data[:64]), commands_elsewhere(compiled)
        )
        held = {commands.get(at, 4) for at in words}
        buffers = {
            compiled.plan.address(compiled.graph.storage(name))
            for name in (*job.reads, *job.writes)
        }
        assert buffers <= held
        assert words == {4, 8, 12, 16}


def test_an_engine_whose_commands_carry_no_check_gets_the_same_kinds(
    lagoon: Right, sixty: Sequence[Mutant], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_checks = {mutant.kind for mutant in sixty}
    assert FaultKind.DESCRIPTOR in drawn_faults(lagoon)
    monkeypatch.delattr("atoll_sim.engines.reef.emitter.ReefEmitter.sealed")
    assert {mutant.kind for mutant in draw_mutants(lagoon, 60, 1)} == with_checks
    for commands in command_lists(lagoon.compiled):
        assert [*commands.value_words()] == [*range(0, len(commands.data), 4)]
        assert commands.put_checked(4, 1, 7) == commands.put(4, 1, 7)
    assert FaultKind.DESCRIPTOR not in drawn_faults(lagoon)


def test_a_value_that_is_believed_has_a_right_check(lagoon: Right) -> None:
    for commands in command_lists(lagoon.compiled):
        data = commands.put_checked(64 + 8, 1, 7) if len(commands.data) > 64 else commands.data
        for begin in range(0, len(data), 64):
            assert with_check(data[begin : begin + 64]) == data[begin : begin + 64]


def test_a_sealed_command_of_another_size_is_refused(
    lagoon: Right, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "atoll_sim.engines.reef.emitter.ReefEmitter.sealed"
    monkeypatch.setattr(name, lambda self, command: command[1:])
    with pytest.raises(AtollError, match=r"E112.*'sealed' returned .*, no 64 bytes"):
        draw_mutants(lagoon, 60, 1)


def drawn_faults(right: Right) -> set[FaultKind]:
    makers = islice(Draw(right.compiled, 1000, Random(1)).makers(), 40)
    return {make().kind for make in makers}


def test_bits_of_what_an_engine_goes_on_with_are_flipped_too(lagoon: Right) -> None:
    makers = islice(Draw(lagoon.compiled, 1000, Random(1)).makers(), 900)
    flipped = [fault for make in makers if (fault := make()).kind is FaultKind.DESCRIPTOR]
    address = lagoon.compiled.plan.address
    places = {fault.where - address(fault.place.partition("+")[0]) for fault in flipped}
    assert min(places) < 64 <= max(places) < 128


def as_right(right: Right) -> Mutant:
    return Mutant(subject="", sentence="", built=right.compiled, judged=right.compiled)


def with_byte(right: Right, address: int) -> tuple[Segment, ...]:
    """Return the image with one byte more or another one at `address`."""
    for index, each in enumerate(right.segments):
        if each.address <= address < each.end:
            data = bytearray(each.data)
            data[address - each.address] ^= 1
            changed = replace(each, data=bytes(data))
            return (*right.segments[:index], changed, *right.segments[index + 1 :])
    return (*right.segments, Segment(right.segments[0].elf, address, b"\x01"))


def test_the_same_image_is_proven_equivalent(lagoon: Right) -> None:
    assert proof(lagoon, as_right(lagoon), lagoon.segments) == "the image is the same"


def test_a_pool_without_a_byte_may_be_anywhere(lagoon: Right) -> None:
    compiled, plan = lagoon.compiled, lagoon.compiled.plan
    image = with_byte(lagoon, compiled.contract.constants[0].end - 1)
    rest = {name: each for name, each in plan.placements.items() if each.pool != "private"}
    without = replace(compiled, plan=replace(plan, placements=rest))
    moved = replace(as_right(lagoon), subject="pool_private", script=(("a", "b"),))
    empty = replace(moved, built=without, judged=without)
    assert proof(replace(lagoon, compiled=without), empty, image) == (
        "nothing lies in pool 'private'"
    )
    assert proof(lagoon, moved, image) is None


def test_a_byte_that_nobody_reads_is_proven_equivalent(lagoon: Right) -> None:
    image = with_byte(lagoon, lagoon.compiled.soc.memory("flash").end - 1)
    found = proof(lagoon, as_right(lagoon), image)
    assert found == "no device reads the 1 bytes that differ"


def test_a_byte_that_is_read_is_not_proven_equivalent(lagoon: Right) -> None:
    for span in lagoon.compiled.contract.constants:
        image = with_byte(lagoon, span.end - 1)
        assert proof(lagoon, as_right(lagoon), image) is None


def test_padding_that_is_only_copied_is_proven_equivalent(lagoon: Right) -> None:
    ((load, to),) = lagoon.copied
    image = with_byte(lagoon, load[-1])
    startup = {("cpu", AccessKind.READ): [load]}
    right = replace(lagoon, touched={**lagoon.touched, **startup})
    found = proof(right, as_right(right), image)
    assert found == "the 1 bytes that differ are copied at start and never read"
    used = {("cpu", AccessKind.READ): [load, range(to, to + len(load))]}
    right = replace(lagoon, touched={**lagoon.touched, **used})
    assert proof(right, as_right(right), image) is None


def test_constants_that_agree_may_share_bytes(
    lagoon: Right, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of lists that go on with different ones none are alike."""
    monkeypatch.delattr("atoll_sim.engines.reef.emitter.ReefEmitter.link")
    compiled = lagoon.compiled
    one, other = sorted(compiled.commands)[:2]
    over = replace(compiled.plan.placements[one], buffer=other)
    built = move_buffers(compiled, (over,))
    different = replace(as_right(lagoon), built=built, judged=built)
    assert proof(lagoon, different, lagoon.segments) is None
    equal = replace(built, commands={**built.commands, other: built.commands[one]})
    same = replace(as_right(lagoon), built=equal, judged=equal)
    found = proof(lagoon, same, lagoon.segments)
    assert found == "constants share bytes, and all hold what was compiled"
    elsewhere = move_buffers(equal, (replace(over, pool="shared"),))
    wrong = replace(as_right(lagoon), built=elsewhere, judged=elsewhere)
    assert proof(lagoon, wrong, lagoon.segments) is None


def test_c3_the_host_must_reach_what_the_caller_fills(lagoon: Right) -> None:
    compiled = lagoon.compiled
    soc, name = compiled.soc, compiled.graph.inputs[0]
    assert [*unreachable_ports(soc, compiled.contract)] == []
    over = Placement(buffer=name, pool="weights", offset=0)
    (found,) = unreachable_ports(soc, move_buffers(compiled, (over,)).contract)
    assert (found.rule, found.device, found.buffer) == ("device without reach", "cpu", name)
    assert found.key == "pools.weights.reach.cpu"
    output = Placement(buffer=compiled.graph.outputs[0], pool="weights", offset=0)
    assert [*unreachable_ports(soc, move_buffers(compiled, (output,)).contract)] == []


def test_windows_count_by_what_they_decide(lagoon: Right) -> None:
    master, kind, index, window = next(
        each for each in firewall_windows(lagoon) if each[0].name == "npu" and each[1] == "writable"
    )
    signal = f"{master.signal}_{kind}"
    touched = max(span.stop for span in lagoon.touched["npu", AccessKind.WRITE])
    assert touched < window.stop
    for last, harmless in ((touched - 1, True), (touched - 2, False)):
        mutant = replace(as_right(lagoon), windows={(signal, index): (window.start, last)})
        assert same_decisions(lagoon, mutant) is harmless
        assert (proof(lagoon, mutant, lagoon.segments) is not None) is harmless


def test_steps_are_independent_if_neither_writes_what_the_other_touches(twin: Right) -> None:
    steps = twin.compiled.module.entry.steps
    for first in range(len(steps) - 1):
        one, two = steps[first], steps[first + 1]
        shared = {*one.writes} & {*two.reads, *two.writes} or {*two.writes} & {*one.reads}
        if shared:
            assert not independent(twin.compiled, first, first + 1)
    assert any(independent(twin.compiled, n, n + 1) for n in range(len(steps) - 1))


def test_every_result_and_the_outputs_are_expected(lagoon: Right) -> None:
    found = [*expected_bytes(lagoon.compiled, lagoon.sample)]
    graph = lagoon.compiled.graph
    assert [number for number, _, _ in found] == [*range(len(graph.operators)), AFTER_RUN]
    for _, name, data in found:
        assert len(data) == graph.tensor(name).size


def clean_report(compared: int = 1) -> RunReport:
    return RunReport(
        soc="lagoon",
        model="digits",
        model_sha256="",
        cpu="rtl",
        accelerator="rtl",
        samples=1,
        layers_compared=compared,
        layers_equal=1,
        mismatches=(),
        accesses=1000,
        violations=(),
        stack={},
        pools={},
        total_cycles=1,
        cycles_by_kind={},
        by_layer=(),
        wall={},
        host_clock=100_000_000,
    )


def campaign_of(*trials: Trial, compared: int = 1) -> Campaign:
    report = clean_report(compared)
    return Campaign(
        soc="lagoon",
        model="digits",
        seed=1,
        baseline=report,
        sound=report.passed,
        trials=trials,
    )


def shown(*trials: Trial, compared: int = 1) -> tuple[Campaign, str]:
    """Return a campaign of `trials` and what the command prints of it."""
    found = campaign_of(*trials, compared=compared)
    console = Console(file=StringIO(), width=100, highlight=False, markup=False)
    console.print(text_of([found]))
    assert isinstance(console.file, StringIO)
    return found, console.file.getvalue()


def test_a_fault_that_nobody_notices_counts_against_us(lagoon: Right) -> None:
    mutant = replace(as_right(lagoon), kind="moved", sentence="it is elsewhere")
    noticed = to_trial(mutant, Verdict(by="stale read", shadow=True, number="M2"))
    harmless = to_trial(mutant, Verdict(by="", equivalent="the image is the same"))
    silent = to_trial(mutant, Verdict(by=""))
    good, text = shown(noticed, harmless)
    assert good.passed
    assert "1 of 1 faults noticed, 1 by the shadow memory; 1 more" in text
    assert "digits, moved: it is elsewhere: the image is the same" in text
    bad, text = shown(noticed, harmless, silent)
    assert not bad.passed
    assert "1 of 2 faults noticed" in text
    assert "digits, moved: it is elsewhere: NOBODY NOTICED" in text
    assert "stale read 1, equivalent 1, survived 1" in text


def test_a_right_build_that_fails_is_no_success() -> None:
    good, text = shown()
    assert good.passed
    assert text == "digits on lagoon: 0 findings in 1,000 accesses\n"
    assert not shown(compared=2)[0].passed
    assert as_json(good)["mutants"] == []


def test_few_mutants_are_spread_over_all_parts_of_a_build(lagoon: Right) -> None:
    areas = {KINDS[mutant.kind].area for mutant in draw_mutants(lagoon, 5, 1)}
    assert areas == {"plan", "program", "commands", "linker", "firewall"}


def test_networks_that_share_few_mutants_get_different_kinds(lagoon: Right) -> None:
    kinds = [draw_mutants(lagoon, 2, 1, first)[0].kind for first in (0, 2, 4)]
    assert len(set(kinds)) == 3
    kinds = [mutant.kind for mutant in draw_mutants(lagoon, 60, 1, 7)]
    assert KINDS.keys() - set(kinds) == {"dropped copy", "dropped wait", *ABSENT}


def test_every_mutant_names_a_place(drawn: Mapping[str, Sequence[Mutant]]) -> None:
    for kind, mutants in drawn.items():
        for mutant in mutants:
            place = place_of(mutant)
            assert place.at.count(":") == 2, (kind, mutant.sentence)
            assert place.buffer or place.address is not None, (kind, mutant.sentence)
            if place.buffer:
                assert place.address == mutant.built.plan.address(place.buffer)


def test_the_text_names_every_mutant_and_the_kinds_that_are_left_out(lagoon: Right) -> None:
    trials = tuple(
        to_trial(mutant, Verdict(by="no buffer", shadow=True))
        for mutant in draw_mutants(lagoon, 3, 1)
    )
    (few,) = untried_kinds(trials)
    assert few.startswith(f"not planted, --mutants {len(KINDS)} or more tries them too: ")
    names = set(few.partition(": ")[2].split(", "))
    assert names == KINDS.keys() - {trial.kind for trial in trials}
    first = trials[0].subject
    place = place_of(first)
    told = f"{first}; buffer '{place.buffer}', address {place.address:#010x}, {place.at}: no buffer"
    campaign = campaign_of(*trials)
    for verbose in (False, True):
        console = Console(file=StringIO(), width=300)
        console.print(text_of([campaign], verbose=verbose))
        assert isinstance(console.file, StringIO)
        assert (told in console.file.getvalue()) is verbose
        assert "not planted, --mutants" in console.file.getvalue()
