# SPDX-License-Identifier: Apache-2.0
"""C1, C2, P1, P2, P4, U3: what is asked of buffers, from the command line and a file to a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.refusal import refusal
from tests.requests import load_requests

from atoll.cli import main
from atoll.diagnostics.errors import AtollError, PlacementError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.driver.task import BuildOptions
from atoll.ir.tir import Allocate, PrimFunc
from atoll.ir.walk import statements
from atoll.memory.checker import violations
from atoll.resolve import load_soc
from atoll.resolve.storage_scope import ScopeNames

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
RFC = ROOT / "tests" / "data" / "rfc_pools.yaml"
ROWS = "depthwise_conv_2d_1.rows"


def compiled(path: Path | None = None, *sets: str, **words: Any) -> Compiled:
    requests = load_requests(path, **words)
    return compile_file(load_soc(RFC, sets), DIGITS, BuildOptions(requests=requests))


def place(made: Compiled, buffer: str) -> str:
    return made.plan.placements[buffer].pool


def refused(**words: Any) -> str:
    with pytest.raises(AtollError) as caught:
        compiled(**words)
    return str(caught.value)


@pytest.mark.parametrize(
    ("tensor", "scope", "left"),
    [
        ("average_pool_2d_6_out", "global", {"dtcm", "sram"}),
        ("average_pool_2d_6_out", "global.workspace", {"dtcm", "sram"}),
        ("average_pool_2d_6_out", "global.sram", {"sram"}),
        ("average_pool_2d_6_out", "global.dtcm", {"dtcm"}),
        ("average_pool_2d_6_out", "global.stack", None),
        ("average_pool_2d_6_out", "cpu.stack", None),
        ("average_pool_2d_6_out", "local", None),
        ("conv_2d_0_out", "global.dtcm", None),
        ("conv_2d_0_weights", "global.flash", {"flash"}),
        ("conv_2d_0_weights", "global.itcm", None),
        ("conv_2d_0_weights", "global.workspace", None),
        (ROWS, "global", {"stack"}),
        (ROWS, "global.stack", {"stack"}),
        (ROWS, "cpu.stack", {"stack"}),
        (ROWS, "local", {"stack"}),
        (ROWS, "global.workspace", {"dtcm", "sram"}),
        (ROWS, "global.sram", {"sram"}),
        (ROWS, "global.flash", None),
        ("depthwise_conv_2d_1_rows", "global.sram", {"sram"}),
        ("depthwise_conv_2d_1.sum0", "local", {"local"}),
        ("depthwise_conv_2d_1.sum0", "global.stack", {"stack"}),
        ("depthwise_conv_2d_1.sum0", "global.workspace", None),
    ],
)
def test_c1_every_form_of_scope_narrows_or_is_refused(
    tensor: str, scope: str, left: set[str] | None
) -> None:
    words: dict[str, Any] = {"scope": [f"{tensor}={scope}"]}
    if tensor == "conv_2d_0_out":
        words["place"] = ["conv_2d_0=accel"]
    if left is None:
        assert "error[E205]" in refused(**words)
        return
    made = compiled(**words)
    buffers = {each.name: {*each.pools} for each in made.plan.problem.buffers}
    inside = {
        f"{function.name}.{each.buffer}": each.scope
        for function in made.module.functions
        for each in allocations(function)
    }
    name = tensor.replace(".", "_") if tensor not in inside else tensor
    found = buffers[name] if name in buffers else {inside[name].removeprefix("global.")}
    assert found == left
    assert not [*violations(made.plan)]


def allocations(function: PrimFunc) -> list[Allocate]:
    return [each for each in statements(function.body) if isinstance(each, Allocate)]


def test_c1_a_thread_names_its_own_stack() -> None:
    deep = ROOT / "tests" / "data" / "deep.yaml"
    soc = load_soc(deep, ("devices.npu.params.vector=1",))
    stacks = [name for name in ScopeNames.of(soc).scopes if name.endswith(".stack")][1:]
    own = soc.host_cpu.run_stack.name
    for name in stacks:
        requests = load_requests(None, scope=[f"softmax_9.powers={name}"])
        if name == own:
            made = compile_file(soc, DIGITS, BuildOptions(requests=requests))
            assert "softmax_9_powers" not in made.plan.placements
            continue
        with pytest.raises(PlacementError, match="E205") as caught:
            compile_file(soc, DIGITS, BuildOptions(requests=requests))
        assert f"is '{own}' (C6)" in str(caught.value)


def test_c2_the_message_says_what_was_left_the_rule_and_a_remedy_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "build.yaml"
    file.write_text("scopes:\n  softmax_9_out: global.stack\n")
    told = refusal(["explain", str(RFC), str(DIGITS), "--build", str(file)], capsys)
    assert "build.yaml:2:18: error[E205]: scope 'global.stack' leaves tensor" in told
    assert "without it, 'dtcm' and 'sram' are left; an activation lies in a pool" in told
    assert "write 'global.dtcm' in its place" in told
    assert place(compiled(scope=["softmax_9_out=global.dtcm"]), "softmax_9_out") == "dtcm"


def test_c2_the_remedy_is_the_pool_with_the_fastest_operators(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """'near' comes first, but the accelerator does not reach it: three operators would leave it."""
    crab = ROOT / "tests" / "data" / "crab.yaml"
    told = refusal(
        ["explain", str(crab), str(DIGITS), "--scope", "conv_2d_0_out=global.stack"], capsys
    )
    assert "without it, 'near', 'lp' and 'rp' are left" in told
    assert "write 'global.lp' in its place" in told
    devices = []
    for words in ([], ["conv_2d_0_out=global.lp"], ["conv_2d_0_out=global.near"]):
        options = BuildOptions(requests=load_requests(None, scope=words))
        graph = compile_file(load_soc(crab), DIGITS, options).graph
        devices.append([op.device for op in graph.operators if op.name == "conv_2d_0"])
    assert devices == [["conv"], ["conv"], ["cpu"]]


SLOW_FIRST = ("memories.dtcm_m.read_latency=3", "memories.itcm_m.read_latency=3")


@pytest.mark.parametrize(
    ("scope", "remedy"),
    [
        ("softmax_9_out=global.stack", "write 'global.sram' in its place"),
        ("softmax_9_exponentials=local", "write 'global.flash' in its place"),
        (f"{ROWS}=global.stack", "ask for the scope 'global.sram'"),
    ],
)
def test_c2_the_remedy_is_the_pool_with_the_fewest_cycles(scope: str, remedy: str) -> None:
    """The first pool is slow; of a tensor, of a constant that Atoll makes, of a kernel's buffer."""
    limit = "devices.cpu.limits.max_stack_alloca_size=719"
    with pytest.raises(PlacementError, match="E205") as caught:
        compiled(None, limit, *SLOW_FIRST, scope=[scope])
    assert remedy in str(caught.value)
    with pytest.raises(PlacementError, match="E205") as caught:
        compiled(None, limit, scope=[scope])
    first = remedy.replace("sram", "dtcm").replace("flash", "itcm")
    assert first in str(caught.value), "without it the first one is as fast"


def test_c2_scopes_of_one_tensor_narrow_together() -> None:
    words = ["softmax_9_out=global.workspace", "softmax_9_out=global.sram"]
    assert place(compiled(scope=words), "softmax_9_out") == "sram"
    told = refused(scope=["softmax_9_out=global.dtcm", "softmax_9_out=global.sram"])
    assert "scope 'global.sram' leaves tensor 'softmax_9_out' no place" in told
    assert "scope 'global.dtcm' leaves these and no other (C2)" in told


@pytest.mark.parametrize(
    ("first", "second", "kept"), [("stack", "sram", "on the stack"), ("sram", "stack", "in a pool")]
)
def test_c2_scopes_of_a_buffer_in_a_kernel_exclude_each_other(
    first: str, second: str, kept: str
) -> None:
    told = refused(scope=[f"{ROWS}=global.{first}", f"{ROWS}=global.{second}"])
    assert f"another request keeps it {kept} (C2)" in told


def test_c1_a_pattern_is_about_all_that_match_it() -> None:
    made = compiled(
        scope=["*_[67]_out=global.sram", "fully_*_out=global.sram", "*.rows=global.sram"]
    )
    names = ("average_pool_2d_6_out", "fully_connected_8_out")
    rows = ("depthwise_conv_2d_1_rows", "depthwise_conv_2d_4_rows")
    assert {place(made, name) for name in (*names, *rows)} == {"sram"}
    told = refused(scope=["zzz*=global.sram"])
    assert "error[E026]: no buffer of this build matches the pattern 'zzz*'" in told


def test_c1_an_unknown_scope_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "build.yaml"
    file.write_text("scopes:\n  softmax_9_out: global.srm\n")
    with pytest.raises(PlacementError, match="E029") as caught:
        compiled(file)
    assert "build.yaml:2:18" in str(caught.value)
    assert "did you mean 'global.sram'?" in str(caught.value)


def test_k1_a_scope_on_the_stack_obeys_its_limit() -> None:
    with pytest.raises(PlacementError, match="E205") as caught:
        compiled(
            None, "devices.cpu.limits.max_stack_alloca_size=719", scope=[f"{ROWS}=global.stack"]
        )
    told = str(caught.value)
    assert "'cpu.stack' takes buffers of 719 B, not of 720 B (K1)" in told
    assert "ask for the scope 'global.dtcm'" in told


def test_m7_u3_a_list_of_pools_is_tried_in_its_order() -> None:
    assert place(compiled(pin=["softmax_9_out=dtcm,sram"]), "softmax_9_out") == "dtcm"
    assert place(compiled(pin=["softmax_9_out=sram,dtcm"]), "softmax_9_out") == "sram"
    accelerated = compiled(pin=["conv_2d_0_out=dtcm,sram"], place=["conv_2d_0=accel"])
    assert place(accelerated, "conv_2d_0_out") == "sram"


def test_m7_u3_a_size_hint_lets_a_buffer_fall_to_the_next_pool() -> None:
    words = "average_pool_2d_6_out=dtcm@{},sram"
    for size, pool in (("192B", "dtcm"), ("191B", "sram")):
        made = compiled(pin=[words.format(size)])
        assert place(made, "average_pool_2d_6_out") == pool
        assert not [*violations(made.plan)]


def test_m7_u3_roles_have_lists_of_their_own() -> None:
    made = compiled(
        pin_role=["workspace=dtcm@200B,sram", "constants=flash,itcm", "outputs=sram", "inputs=sram"]
    )
    ends = [
        made.plan.placements[each.name].offset + each.size
        for each in made.plan.problem.buffers
        if place(made, each.name) == "dtcm"
    ]
    assert 0 < max(ends) <= 200
    assert place(made, "softmax_9_out") == "sram"
    constants = {each.name for each in made.module.entry.constants}
    assert {place(made, name) for name in constants} == {"flash"}


def test_m7_u3_a_role_allows_the_copies_that_devices_need() -> None:
    """In twin, accelerators share no memory: copies stay, each in a pool of the list."""
    twin = load_soc("twin")
    pools = [pool.name for pool in twin.pools if pool.role == "workspace"]
    listed = load_requests(None, pin_role=[f"workspace={','.join(reversed(pools))}"])
    plain, made = (
        compile_file(twin, DIGITS, BuildOptions(requests=requests))
        for requests in (load_requests(None), listed)
    )
    copies = [op.name for op in plain.graph.operators if op.kind == "copy"]
    assert copies
    assert [op.name for op in made.graph.operators if op.kind == "copy"] == copies
    assert not [*violations(made.plan)]


def test_m7_u3_hints_that_leave_no_room_say_how_large_they_must_be() -> None:
    told = refused(pin=["softmax_9_out=dtcm@4B"])
    assert "error[E206]" in told
    assert "pin 'dtcm@4B' (command line) lets buffer 'softmax_9_out' (10 B)" in told
    size = told.partition("raise the size hint to ")[2].partition("\n")[0].replace(" ", "")
    assert place(compiled(pin=[f"softmax_9_out=dtcm@{size}"]), "softmax_9_out") == "dtcm"


def test_m7_u3_weights_of_an_accelerator_are_pinned_by_either_name() -> None:
    both = ("pools.itcm.reach={cpu: rw, accel: ro}", "pools.itcm.size=16 KiB")
    for name in ("conv_2d_0_weights", "conv_2d_0_filter"):
        made = compiled(None, *both, pin=[f"{name}=itcm,flash"], place=["conv_2d_0=accel"])
        assert place(made, "conv_2d_0_weights") == "itcm"
        made = compiled(None, *both, pin=[f"{name}=flash"], place=["conv_2d_0=accel"])
        assert place(made, "conv_2d_0_weights") == "flash"


def test_m7_u3_every_name_that_explain_prints_can_be_pinned() -> None:
    buffers = compiled().plan.problem.buffers
    made = compiled(pin=[f"{each.name}={','.join(reversed(each.pools))}" for each in buffers])
    assert {each.name: place(made, each.name) for each in buffers} == {
        each.name: each.pools[-1] for each in buffers
    }


def test_p4_a_region_says_whether_it_means_inputs_outputs_or_both(tmp_path: Path) -> None:
    """Conv, depthwise, conv and add: what they write, and what the last two alone read."""
    wide = ("pools.sram.reach={cpu: rw, accel: rw}", "pools.dtcm.size=16 KiB")
    inside = ("conv_2d_0_out", "depthwise_conv_2d_1_out", "conv_2d_2_out", "add_3_out")

    def made(applies: str) -> Compiled:
        file = tmp_path / "build.yaml"
        region = f"from: conv_2d_0, to: add_3, scope: global.sram, applies: {applies}"
        file.write_text(f"set_scope: [{{{region}}}]\n")
        requests = load_requests(file)
        soc = load_soc(RFC, wide)
        return compile_file(soc, DIGITS, BuildOptions(accelerators=False, requests=requests))

    out, both, read = (made(applies) for applies in ("out", "both", "in"))
    assert place(out, "image") == "dtcm"
    assert {place(out, name) for name in inside} == {"sram"}
    assert "copy" not in str(out.graph)
    assert place(both, "image") == "dtcm" or "image_copy1" not in both.plan.placements
    assert {place(both, name) for name in inside} == {"sram"}
    assert place(read, "add_3_out") == "dtcm"
    sources = {each.name for each in read.graph.tensors if each.pools == ("sram",)}
    assert sources


def test_p4_a_region_without_a_way_through_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "build.yaml"
    file.write_text("set_scope:\n  - {from: add_3, to: conv_2d_0, scope: global.sram}\n")
    with pytest.raises(PlacementError, match="E207") as caught:
        compiled(file)
    assert "build.yaml:2:" in str(caught.value)
    assert "write 'from: conv_2d_0' and 'to: add_3'" in str(caught.value)


def test_p4_operators_by_name_and_by_pattern() -> None:
    for words in (["conv_2d_?=global.sram"], ["conv_2d_0=global.sram:both"]):
        assert place(compiled(set_scope=words), "conv_2d_0_out") == "sram"
    assert "E025" in refused(set_scope=["conv_9=global.sram"])
    assert "E029" in refused(set_scope=["conv_2d_0=global.srom"])


FILE = """\
pin:
  softmax_9_out: [{pool: dtcm, size: 8 KiB}, sram]
  conv_2d_0_weights: [itcm, flash]
pin_roles:
  workspace: [dtcm@400B, sram]
  constants: [itcm, flash]
scopes:
  depthwise_conv_2d_?.rows: global.workspace
set_scope:
  - {from: conv_2d_0, to: add_3, scope: global.sram, applies: both}
"""


def test_m7_u3_the_pools_of_rfc_23_with_all_of_it_run_bit_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "build.yaml"
    file.write_text(FILE)
    words = ["explain", str(RFC), str(DIGITS), "--build", str(file)]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "Asked for" in told
    assert "scope 'global.sram:out' of 'conv_2d_0..add_3'" in told
    assert main([*words, "--json"]) == 0
    buffers = {each["name"]: each for each in json.loads(capsys.readouterr().out)["buffers"]}
    rows = buffers["depthwise_conv_2d_1_rows"]
    assert rows["asked"][-1]["request"] == "scope 'global.workspace'"
    assert rows["asked"][-1]["at"]["line"] == 8
    assert rows["left"] == ["dtcm", "sram"]
    assert (rows["place"], rows["rule"][:2]) == ("sram", "C2")
    run = ["run", str(RFC), str(DIGITS), "--build", str(file)]
    assert main([*run, "--cpu", "native", "--accelerator", "model"]) == 0
    assert "bit-exact" in capsys.readouterr().out
