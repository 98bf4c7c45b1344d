# SPDX-License-Identifier: Apache-2.0
"""Requests on a chip with all that one can ask of: what they allow, and remedies that work."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.cli import main
from atoll.frontend.registry import load_network
from atoll.place.passes import DEVICE_PASSES
from atoll.place.plan_devices import plan_devices
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
CRAB = str(ROOT / "tests" / "data" / "crab.yaml")
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")

Captured = pytest.CaptureFixture[str]


def explain(capsys: Captured, *words: str) -> dict[str, Any]:
    main(["explain", CRAB, DIGITS, "--json", *words])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def asking(tmp_path: Path, text: str) -> list[str]:
    build = tmp_path / "build.yaml"
    build.write_text(text)
    return ["--build", str(build)]


def places(told: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["place"] for each in told["buffers"]}


@pytest.mark.parametrize("name", ["conv_2d_0_weights=w@384B", "softmax_9_out=lp@10B"])
def test_a_buffer_lies_in_front_if_its_hint_has_its_size(name: str, capsys: Captured) -> None:
    buffer, _, pin = name.partition("=")
    (found,) = (e for e in explain(capsys, "--pin", name)["buffers"] if e["name"] == buffer)
    assert (found["place"], found["offset_bytes"]) == (pin.partition("@")[0], 0)


def test_a_hint_that_leaves_no_room_has_its_place(tmp_path: Path, capsys: Captured) -> None:
    asked = "pin: {conv_2d_0_weights: 'w@6208B', conv_2d_2_weights: 'w@100B'}\n"
    (fault,) = explain(capsys, *asking(tmp_path, asked))["faults"]
    assert (fault["code"], fault["at"]["column"]) == ("E206", asked.index("'w@100B'") + 1)
    assert "'conv_2d_2_weights' (576 B)" in fault["message"]
    mended = asked.replace("100B", fault["remedy"].rpartition("to ")[2].replace(" ", ""))
    assert "w" in places(explain(capsys, *asking(tmp_path, mended)))["conv_2d_2_weights"]


@pytest.mark.parametrize("pool", ["rp", "lp"])
@pytest.mark.parametrize("key", ["scopes: {add_3_out: global.", "pin: {add_3_out: "])
def test_what_is_free_is_copied_for_who_does_not_reach_its_scope(
    key: str, pool: str, tmp_path: Path, capsys: Captured
) -> None:
    told = explain(capsys, *asking(tmp_path, f"{key}{pool}}}\nfree: [add_3_out]\n"))
    found = places(told)
    assert pool in (found["add_3_out"], found["add_3_out_copy1"])


def test_what_is_free_is_still_where_somebody_reaches_it(tmp_path: Path, capsys: Captured) -> None:
    asked = "scopes: {add_3_out: global.near}\nfree: [add_3_out]\n"
    (fault, *_) = explain(capsys, *asking(tmp_path, asked))["faults"]
    assert fault["code"] == "E205"
    assert "'free'" not in fault["remedy"]


def test_pins_that_keep_accelerators_off_still_have_a_plan(
    tmp_path: Path, capsys: Captured
) -> None:
    """Operators go to a core that writes the pools."""
    told = explain(capsys, *asking(tmp_path, "pin: {conv_2d_*_out: 'rp,near'}\n"))
    pinned = {
        name: pool for name, pool in places(told).items() if re.match(r"conv_2d_\d_out$", name)
    }
    assert len(pinned) == 3
    assert {*pinned.values()} <= {"rp", "near"}


@pytest.mark.parametrize(
    ("pools", "pool"),
    [
        ("lp", "lp"),
        ("rp", "rp"),
        ("lp,rp", "lp"),
        ("rp,lp", "rp"),
        ("lp@1536,rp", "lp"),
        ("lp@1535,rp", "rp"),
        ("lp,rp,near", "lp"),
    ],
)
@pytest.mark.parametrize("name", ["conv_2d_0_out", "conv_2d_0_o*"])
def test_m7_a_list_has_a_plan_where_one_of_its_pools_has_one(
    name: str, pools: str, pool: str, capsys: Captured
) -> None:
    """The devices of fewest cycles reach one pool each, and share none."""
    told = explain(capsys, "--pin", f"{name}={pools}")
    assert places(told)["conv_2d_0_out"] == pool


@pytest.mark.parametrize(
    "words",
    [
        ("--pin-role", "workspace=lp,rp"),
        ("--pin-role", "workspace=rp,lp"),
        ("--scope", "conv_2d_0_out=global"),
        ("--set-scope", "conv_2d_0=global.workspace:both"),
    ],
)
def test_m7_what_allows_several_pools_has_a_plan(words: tuple[str, ...], capsys: Captured) -> None:
    assert places(explain(capsys, *words))["conv_2d_0_out"] in ("lp", "rp")


def test_m7_lists_of_several_tensors_have_a_plan_together(capsys: Captured) -> None:
    told = explain(capsys, "--pin", "*_out=lp,rp")
    found = {place for name, place in places(told).items() if name.endswith("_out")}
    assert found <= {"lp", "rp"}


def test_m7_stages_are_seen_once_where_devices_follow_a_list() -> None:
    seen: list[str] = []
    soc = load_soc(CRAB)
    asked = load_requests(None, pin=["conv_2d_0_out=lp,rp"])
    graph = load_network(Path(DIGITS))
    plan_devices(graph, soc, asked, observe=lambda name, _: seen.append(name))
    assert seen == [each.name for each in DEVICE_PASSES]


def test_freeing_what_the_remedy_names_is_enough(tmp_path: Path, capsys: Captured) -> None:
    """Each side reaches one of the pools, and no pool is in reach of both."""
    asked = "place: {conv_2d_2: conv, add_3: rest}\npin: {conv_2d_2_out: 'lp,rp'}\n"
    (fault,) = explain(capsys, *asking(tmp_path, asked))["faults"]
    assert fault["code"] == "E205"
    (named,) = re.findall(r"add '(\w+)' to 'free'", fault["remedy"])
    assert "buffers" in explain(capsys, *asking(tmp_path, f"{asked}free: [{named}]\n"))


def test_a_remedy_of_targets_says_what_it_costs_and_works(tmp_path: Path, capsys: Captured) -> None:
    asked = "targets: {conv_2d_0: plain}\n"
    (fault,) = explain(capsys, *asking(tmp_path, asked))["faults"]
    entry = re.search(
        r"add (\{.*\}) to 'on_device', which takes about [\d,]+ cycles", fault["remedy"]
    )
    assert entry, fault["remedy"]
    mended = explain(capsys, *asking(tmp_path, f"{asked}on_device: [{entry[1]}]\n"))
    assert "buffers" in mended


@pytest.mark.parametrize(
    ("target", "remedy"),
    [
        ("copy_0=plain", "delete it"),
        ("conv_2d_0=fast", "delete it"),
        ("*=fast", "use one of lean, own, or delete it"),
    ],
)
def test_a_target_that_cannot_be_has_no_remedy_that_leads_to_the_next_fault(
    target: str, remedy: str, capsys: Captured
) -> None:
    (fault,) = explain(capsys, "--target", target)["faults"]
    assert (fault["code"], fault["remedy"]) == ("E217", remedy)


def test_names_that_could_have_a_target_are_offered(capsys: Captured) -> None:
    (fault,) = explain(capsys, "--target", "nope=lean")["faults"]
    assert "conv_2d_0" in fault["remedy"]
    assert "copy_0" not in fault["remedy"]


def test_a_memory_scope_without_room_is_pointed_at(tmp_path: Path, capsys: Captured) -> None:
    asked = "on_device: [{operators: conv_2d_0, device: conv, scope: {memory_scope: rp}}]\n"
    (fault, *_) = explain(capsys, *asking(tmp_path, asked))["faults"]
    assert (fault["code"], fault["at"]["column"]) == ("E049", asked.index("rp") + 1)


def test_what_is_made_after_placement_cannot_be_free(capsys: Captured) -> None:
    (fault,) = explain(capsys, "--free", "conv_2d_5_weights")["faults"]
    assert (fault["code"], fault["remedy"]) == ("E026", "delete it")


def test_scopes_and_buffers_name_the_same_requests(capsys: Captured) -> None:
    told = explain(
        capsys,
        *("--build", str(ROOT / "tests" / "data" / "crab.build.yaml")),
        *("--pin", "conv_2d_2_weights=w", "--scope", "softmax_9.*=global.stack"),
    )
    scopes = {each["name"]: each["asked"] for each in told["scopes"]["tensors"]}
    for buffer in told["buffers"]:
        asked = {str(each["at"]) for each in buffer["asked"]}
        known = {str(e["at"]) for e in scopes.get(buffer["name"], ()) if "asked for" in e["source"]}
        assert asked == known, buffer["name"]
    assert scopes["conv_2d_2_weights"][0]["scope"]["memory_scope"] == "global.w"
    assert "softmax_9.total" in scopes
    operators = {each["name"]: each["asked"] for each in told["scopes"]["operators"]}
    (target,) = (e for e in operators["softmax_9"] if "'targets' asks" in e["source"])
    assert target["at"]["path"].endswith("crab.build.yaml")
    others = [each for buffer in told["buffers"] for each in buffer["alternatives"]]
    assert others
    assert not [each for each in others if each["lacks"] and each["remark"]]


def test_names_that_are_not_there_are_told_at_once(tmp_path: Path, capsys: Captured) -> None:
    asked = [
        "threads: {cpu: nett}",
        "place: {conv_2d_9: cpu}",
        "targets: {conv_2d_8: lean}",
        "on_device: [{operators: conv_2d_7, device: cpu}]",
    ]
    faults = explain(capsys, *asking(tmp_path, "\n".join(asked)))["faults"]
    assert [each["code"] for each in faults] == ["E200", "E025", "E217", "E210"]
    assert [each["at"]["line"] for each in faults] == [1, 2, 3, 4]
    faults = explain(capsys, *asking(tmp_path, "\n".join(asked[1:])))["faults"]
    assert [each["code"] for each in faults] == ["E025", "E217", "E210"]


EVERY_POOL = ("own", "w", "near", "lp", "rp")


@pytest.mark.parametrize(
    ("option", "request_", "buffer"),
    in_gate(
        [
            ("--scope", "softmax_9_out=global.stack", "softmax_9_out"),
            ("--scope", "conv_2d_0_out=global.own:out", "conv_2d_0_out"),
            ("--scope", "*_out=global.stack", "conv_2d_2_out"),
            ("--pin", "conv_2d_0_out=own,w", "conv_2d_0_out"),
            ("--scope", "conv_2d_0_weights=global.near", "conv_2d_0_weights"),
            ("--scope", "softmax_9.total=global.own", "softmax_9.total"),
            ("--scope", "softmax_9.powers=audio-dsp.stack", "softmax_9.powers"),
        ],
        1,
        3,
        4,
        6,
    ),
)
def test_c2_what_a_message_lists_can_be_asked_for_and_nothing_else_can(
    option: str, request_: str, buffer: str, capsys: Captured
) -> None:
    """Each place is written as the remedy is."""
    name, _, scope = request_.partition("=")
    (fault, *_) = (
        each
        for each in explain(capsys, option, request_)["faults"]
        if f"'{buffer}'" in each["message"] or f"{buffer}'" in each["message"]
    )
    assert fault["code"] == "E205"
    listed = re.findall(
        r"'([\w.]+)'", re.findall(r"without it, (.*?) (?:is|are) left", fault["message"])[0]
    )
    assert listed
    side = ":" + scope.partition(":")[2] if ":" in scope else ""
    worded = {
        place: f"global.{place}" if option == "--scope" and place in EVERY_POOL else place
        for place in (*EVERY_POOL, *listed)
    }
    (remedy,) = re.findall(r"(?:write|ask for the scope) '([\w.:]+)'", fault["remedy"])
    assert remedy in {f"{word}{side}" for place, word in worded.items() if place in listed}
    for place, word in worded.items():
        told = explain(capsys, option, f"{name}={word}{side}")
        refused = [each["code"] for each in told.get("faults", ())]
        assert ("buffers" in told) == (place in listed), (place, refused)


def test_c2_what_else_is_asked_of_a_buffer_is_not_listed(capsys: Captured) -> None:
    for name in ("softmax_9_out", "softmax_9.powers"):
        asked = ("--scope", f"{name}=global.own", "--scope", f"{name}=global.lp")
        (fault,) = (
            each
            for each in explain(capsys, *asked)["faults"]
            if each["message"].startswith("scope 'global.own' leaves")
        )
        assert "without it, 'lp' is left" in fault["message"]
        assert "'global.lp'" in fault["remedy"]
