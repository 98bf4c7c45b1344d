# SPDX-License-Identifier: Apache-2.0
"""C5: every buffer has a place, a rule, its users, and what each other place lacks."""

import json
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.diagnostics.errors import UsageError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.report.explain_buffers import BufferStory, stories_of
from atoll.report.explanation import explanation
from atoll.resolve import load_soc

ISLANDS = Path(__file__).parents[2] / "data" / "islands.yaml"
DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
PACKED = ("weights", "parameters", "commands")
CORE_SOFTMAX = "devices.npu.params.vector=1"


def compiled(*overrides: str, accelerators: bool = True) -> Compiled:
    """Compile for a reef that has no unit for SOFTMAX, whose kernel has a buffer of its own."""
    soc = load_soc("lagoon", (CORE_SOFTMAX, *overrides))
    return compile_file(soc, DIGITS, BuildOptions(accelerators=accelerators))


def stories(network: Compiled) -> dict[str, BufferStory]:
    return {story.name: story for story in explanation(network).buffers}


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    return compiled()


def test_c5_every_buffer_has_a_place_and_the_rule_that_put_it_there(lagoon: Compiled) -> None:
    told = stories(lagoon)
    assert set(lagoon.plan.placements) < set(told)
    for name, story in told.items():
        assert story.rule.split(":")[0] in ("C3", "C4", "K1", "K2", "K6", "M6"), name
        assert story.uses, name
        assert story.scope != "global", name
        if placement := lagoon.plan.placements.get(name):
            assert (story.place, story.offset) == (placement.pool, placement.offset)
            assert story.address == lagoon.plan.address(name)
            assert story.scope == f"global.{placement.pool}"
        else:
            assert story.place in ("cpu.stack", "registers")


def test_c5_every_pool_is_the_place_or_an_alternative_with_its_lack(lagoon: Compiled) -> None:
    pools = {pool.name for pool in lagoon.soc.pools}
    for story in stories(lagoon).values():
        others = {each.place for each in story.alternatives}
        assert others | {story.place} >= pools
        assert story.place not in others
        assert all(each.lacks or each.remark for each in story.alternatives)


def test_c3_what_an_alternative_lacks_names_device_access_and_role(lagoon: Compiled) -> None:
    shared = {each.place: each.lacks for each in stories(lagoon)["conv_2d_0_out"].alternatives}
    assert shared == {
        "private": ("'npu' has access none, rw needed",),
        "weights": ("its role is constants, not workspace", "'npu' has access ro, rw needed"),
    }


def test_c5_a_pool_that_is_too_small_says_so() -> None:
    told = stories(compiled("pools.private.size=1 KiB", accelerators=False))
    lacks = {each.place: each.lacks for each in told["conv_2d_0_out"].alternatives}
    assert lacks["private"] == ("it has 1 KiB, 1536 B needed",)


def test_c5_a_pool_without_room_says_how_much_is_free() -> None:
    told = stories(compiled("pools.private.size=1552", accelerators=False))
    crowded = [
        lack
        for story in told.values()
        for each in story.alternatives
        if each.place == "private"
        for lack in each.lacks
        if lack.startswith("no room: at most ")
    ]
    assert crowded


def test_c5_a_preferred_place_is_why_another_was_not_taken(lagoon: Compiled) -> None:
    (shared, _) = stories(lagoon)["softmax_9_out"].alternatives
    assert str(shared) == "shared: possible; 'private' is tried first"


def test_k1_explain_names_the_limit_that_moved_a_buffer_off_the_stack(lagoon: Compiled) -> None:
    story = stories(lagoon)["softmax_9.powers"]
    assert (story.place, story.scope, story.what) == ("cpu.stack", "cpu.stack", "local")
    told = stories(compiled("devices.cpu.limits.max_stack_alloca_size=39"))["softmax_9_powers"]
    assert (told.what, told.place) == ("workspace", "private")
    assert told.rule.startswith("K1: a kernel's buffer that left the stack, max_stack_alloca_size")
    assert "is 39 B (--set), 40 B needed" in told.rule
    assert told.alternatives[0].place == "cpu.stack"


def test_k2_explain_names_the_total_that_moved_a_buffer_off_the_stack() -> None:
    told = stories(compiled("devices.cpu.limits.max_stack_size=1792"))["softmax_9_powers"]
    assert told.rule.startswith(
        "K2: a kernel's buffer that left the stack, max_stack_size is 1,792 B for all of a run"
    )


def test_c4_explain_says_what_a_copy_is_for() -> None:
    network = compile_file(load_soc(ISLANDS), DIGITS)
    copies = [story for story in stories(network).values() if story.what == "copy"]
    assert len(copies) == sum(op.kind == "copy" for op in network.graph.operators) > 0
    assert all(story.rule.startswith("C4: a copy of '") for story in copies)


def test_c5_an_unknown_buffer_is_an_error_with_the_nearest_name(lagoon: Compiled) -> None:
    with pytest.raises(UsageError, match="no buffer 'conv_2d_0_ot'") as caught:
        stories_of(explanation(lagoon).buffers, "conv_2d_0_ot")
    assert "error[E028]" in str(caught.value)
    assert "did you mean 'conv_2d_0_out'?" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("reshape_7_out", ["average_pool_2d_6_out"]),
        ("conv_2d_0_filter", ["conv_2d_0_weights", "conv_2d_0_parameters"]),
        ("conv_2d_0_*", ["conv_2d_0_out", *(f"conv_2d_0_{part}" for part in PACKED)]),
        ("conv_2d_[05]_o?t", ["conv_2d_0_out", "conv_2d_5_out"]),
        ("softmax_9_powers", ["softmax_9.powers"]),
        ("softmax_9.*", [f"softmax_9.{part}" for part in ("powers", "greatest", "total")]),
    ],
)
def test_c1_c5_a_buffer_has_the_names_that_scopes_take(
    lagoon: Compiled, name: str, found: list[str]
) -> None:
    assert [each.name for each in stories_of(explanation(lagoon).buffers, name)] == found


def test_c5_a_pattern_that_matches_nothing_is_refused(lagoon: Compiled) -> None:
    with pytest.raises(UsageError, match=r"no buffer of the program matches the pattern 'conf\*'"):
        stories_of(explanation(lagoon).buffers, "conf*")


def test_c5_few_buffers_are_all_named(lagoon: Compiled) -> None:
    few = explanation(lagoon).buffers[:2]
    with pytest.raises(UsageError) as caught:
        stories_of(few, "zzz")
    assert "use one of image, softmax_9_out" in str(caught.value)


def test_c5_the_command_tells_all_of_one_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    without = ["--set", "devices.npu.params.vector=0"]
    assert main(["explain", "lagoon", str(DIGITS), "--buffer", "conv_2d_0_out", *without]) == 0
    assert capsys.readouterr().out == (
        "conv_2d_0_out: activation, 1,536 B, steps 0..3\n"
        "  where: shared at 0x20000000, offset 0; scope global.shared\n"
        "  why: C3: 'shared' is the first of the pools that all its devices (npu rw, cpu ro) "
        "reach: shared\n"
        "  touched by:\n"
        "    npu writes (step 0 conv_2d_0)\n"
        "    npu reads (step 1 depthwise_conv_2d_1)\n"
        "    cpu reads (step 3 add_3)\n"
        "  not in:\n"
        "    private: 'npu' has access none, rw needed\n"
        "    weights: its role is constants, not workspace; 'npu' has access ro, rw needed\n"
        "  operators:\n"
        "    conv_2d_0 on npu: about 1,816 cycles ± 15 %; "
        "not cpu: about 395,094 cycles -21 to +26 % (basis: counted x measured), 393,278 more\n"
        "    depthwise_conv_2d_1 on npu: about 1,717 cycles ± 15 %; "
        "not cpu: about 421,896 cycles -21 to +26 % (basis: counted x measured), 420,179 more\n"
        "    add_3 on cpu: no accelerator can run it; not npu: vector is 0, at least 1\n"
    )


def test_c5_text_and_data_of_the_command_agree(
    lagoon: Compiled, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["lagoon", str(DIGITS), "--set", CORE_SOFTMAX]
    assert main(["explain", *asked, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [buffer["name"] for buffer in data["buffers"]] == list(stories(lagoon))
    assert {operator["operator"] for operator in data["operators"]} >= {"conv_2d_0", "softmax_9"}
    assert main(["explain", *asked]) == 0
    lines = capsys.readouterr().out.splitlines()
    first_words = [line.split()[0] for line in lines if line]
    assert set(stories(lagoon)) <= set(first_words)


@pytest.mark.parametrize(
    "option", ["--buffer", "--place", "--pin", "--free", "--build", "--overlap"]
)
def test_c5_what_is_about_a_network_needs_one(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "lagoon", option, "all" if option == "--overlap" else "x=y"]) == 1
    assert capsys.readouterr().err.startswith(f"error[E090]: {option} needs a MODEL")


def test_p4_explain_follows_wishes(capsys: pytest.CaptureFixture[str]) -> None:
    wishes = ["--place", "softmax_9=dsp", "--pin", "softmax_9_out=shared:out"]
    name = "softmax_9_out"
    assert main(["explain", "twin", str(DIGITS), *wishes, "--buffer", name]) == 0
    told = capsys.readouterr().out
    assert "    dsp writes (step " in told
    assert "  where: shared at " in told
    reason = "asked for by 'place.softmax_9'; not cpu: 'dsp' is asked for; not npu_large: "
    assert f"    softmax_9 on dsp: {reason}" in told


def test_c5_explain_finds_a_view_in_its_storage(lagoon: Compiled) -> None:
    view = next(tensor for tensor in lagoon.graph.tensors if tensor.view)
    told = explanation(lagoon)
    assert told.text(view.name) == told.text(view.view)
    assert f"\n  is also: {view.name}\n" in told.text(view.view)
    (found,) = json.loads(json.dumps(told.as_json(view.name)))["buffers"]
    assert (found["name"], found["views"]) == (view.view, [view.name])


def test_c5_a_buffer_has_the_address_of_each_viewer() -> None:
    bay = compile_file(load_soc(ISLANDS.parent / "bay.yaml"), DIGITS)
    name = bay.graph.outputs[0]
    on_bus = bay.plan.address(name)
    seen = {"cpu": on_bus - 0x1FFF_0000, "dsp": on_bus + 0x4000_0000, "npu": on_bus + 0x1000_0000}
    told = explanation(bay)
    line = ", ".join(f"{device} at {address:#010x}" for device, address in seen.items())
    assert f"\n  seen by: {line}\n" in told.text(name)
    (found,) = json.loads(json.dumps(told.as_json(name)))["buffers"]
    assert (found["address"], found["seen_at"]) == (on_bus, seen)


def test_c5_what_all_see_where_the_bus_has_it_is_not_repeated(lagoon: Compiled) -> None:
    name = lagoon.graph.outputs[0]
    told = explanation(lagoon)
    assert "seen by" not in told.text(name)
    (found,) = json.loads(json.dumps(told.as_json(name)))["buffers"]
    assert set(found["seen_at"].values()) == {found["address"]}
