# SPDX-License-Identifier: Apache-2.0
"""Build options: a file, the command line, both; and what is wrong with them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.requests import load_requests

from atoll.description.build import read_requests
from atoll.description.json_schemas import schema_text
from atoll.description.pins import Pin
from atoll.description.tree import plain
from atoll.description.yaml_text import read_yaml
from atoll.diagnostics.errors import AtollError

FULL = """\
version: 1
place: {conv_2d_0: npu, softmax_9: cpu}
pin:
  image: {pool: shared, applies: in}
  hidden: shared:out
  scores: [shared:out, {pool: private, applies: in}]
  plain: {pool: shared}
free: [image]
"""

SCOPES = """\
pin:
  a: [{pool: dtcm, size: 8 KiB}, sram]
  b: [dtcm@1KiB:out, sram:out, rom:in]
  c: {pools: [dtcm@12B, sram], applies: in}
pin_roles: {workspace: "dtcm@8KiB,sram", constants: [itcm, flash]}
scopes:
  "conv_*": global.workspace
  softmax.total: [local, "global.stack:out"]
set_scope:
  - {from: a, to: b, scope: global.sram, applies: both}
  - {operators: "conv_?", scope: cpu.io.stack}
"""


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "build.yaml"
        path.write_text(text)
        return path

    return write


def test_p1_a_file_says_all_three(file: Any) -> None:
    asked = load_requests(file(FULL))
    assert asked.model.place == {"conv_2d_0": "npu", "softmax_9": "cpu"}
    assert asked.model.pin == {
        "image": (Pin.to("shared", applies="in"),),
        "hidden": (Pin.to("shared", applies="out"),),
        "scores": (Pin.to("shared", applies="out"), Pin.to("private", applies="in")),
        "plain": (Pin.to("shared"),),
    }
    assert asked.model.free == ("image",)
    at = asked.where.at("pin", "hidden")
    assert at is not None
    assert (at.line, at.column) == (5, 11)


def test_p1_the_command_line_says_the_same_and_wins(file: Any) -> None:
    asked = load_requests(
        file(FULL), ["softmax_9=npu", "add_3 = cpu"], ["image=a:out", "image=b:in"], ["plain"]
    )
    assert asked.model.place == {"conv_2d_0": "npu", "softmax_9": "npu", "add_3": "cpu"}
    assert list(map(str, asked.model.pin["image"])) == ["a:out", "b:in"]
    assert list(map(str, asked.model.pin["hidden"])) == ["shared:out"]
    assert asked.model.free == ("image", "plain")
    assert load_requests(None).model == load_requests(file("version: 1\n")).model


def test_p1_overlap_is_free_unless_somebody_says_otherwise(file: Any) -> None:
    assert load_requests(None).model.overlap == "free"
    asked = file("overlap: all\n")
    assert load_requests(asked).model.overlap == "all"
    assert load_requests(asked, overlap="none").model.overlap == "none"
    assert read_requests(load_requests(asked).plain()).model.overlap == "all"


def test_p1_constants_are_streamed_where_that_is_worth_it_unless_somebody_says_otherwise(
    file: Any,
) -> None:
    assert load_requests(None).model.stream == "auto"
    asked = load_requests(file("stream: never\n"))
    assert asked.model.stream == "never"
    assert read_requests(asked.plain()).model.stream == "never"


def test_p1_options_survive_as_data(file: Any) -> None:
    asked = load_requests(file(FULL), free=["hidden"])
    assert read_requests(json.loads(json.dumps(asked.plain()))) == asked


def test_c1_u3_lists_scopes_and_regions_are_read_and_survive(file: Any) -> None:
    asked = load_requests(file(SCOPES))
    model = asked.model
    assert [str(pin) for name in "abc" for pin in model.pin[name]] == [
        "dtcm@8KiB,sram:both",
        "dtcm@1KiB,sram:out",
        "rom:in",
        "dtcm@12B,sram:in",
    ]
    assert [str(pin) for pin in model.pin_roles.workspace] == ["dtcm@8KiB,sram:both"]
    assert [each.whom for each in model.set_scope] == ["a..b", "conv_?"]
    assert [each.applies for each in model.set_scope] == ["both", "out"]
    assert read_requests(json.loads(json.dumps(asked.plain()))) == asked
    check = jsonschema.Draft202012Validator(json.loads(schema_text("build")))
    check.validate(plain(read_yaml(file(SCOPES))))


def test_c1_u3_the_command_line_says_the_same(file: Any) -> None:
    asked = load_requests(
        file(SCOPES),
        pin=["a=sram", "a=dtcm@1KiB, sram"],
        pin_role=["inputs=sram"],
        scope=["conv_*=global.sram:in"],
        set_scope=["x..y=local", "add_*=global.stack:both"],
    )
    model = asked.model
    assert list(map(str, model.pin["a"])) == ["sram:both", "dtcm@1KiB,sram:both"]
    assert list(map(str, model.pin_roles.inputs)) == ["sram:both"]
    assert list(map(str, model.scopes["conv_*"])) == ["global.sram:in"]
    assert [each.whom for each in model.set_scope] == ["a..b", "conv_?", "x..y", "add_*"]


def test_p1_the_schema_accepts_what_the_model_accepts(file: Any) -> None:
    check = jsonschema.Draft202012Validator(json.loads(schema_text("build")))
    check.validate(plain(read_yaml(file(FULL))))
    for bad in (
        "plase: {}",
        "pin: {t: shared:up}",
        "pin: {t: {pool: a, side: in}}",
        "pin: {t: []}",
    ):
        assert not check.is_valid(plain(read_yaml(file(bad)))), bad


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plase: {a: b}", "1:1: error[E011]: the description has no key 'plase'"),
        ("pin:\n  t: shared:up", "2:6: error[E012]: 'pin.t' must be POOL, POOL:in,"),
        ("pin: {t: {side: in}}", "1:10: error[E012]: 'pin.t' must be POOL, POOL:in,"),
        ("scopes: {t: a+b}", "1:13: error[E012]: 'scopes.t' must be SCOPE, SCOPE:in,"),
        ("pin: {t: 'a@8kB,b'}", "1:10: error[E012]: 'pin.t' must be POOL, POOL:in,"),
        ("pin: {t: {pools: [a], size: 8}}", "1:10: error[E012]: 'pin.t' must be POOL, POOL:in,"),
        ("pin_roles: {weights: a}", "1:13: error[E011]: 'pin_roles' has no key 'weights'"),
        ("set_scope: [{from: a, scope: local}]", "1:13: error[E012]: 'set_scope.0' must be"),
        ("pin: {t: []}", "1:10: error[E012]: 'pin.t' must be POOL, POOL:in,"),
        ("place: {a: [b]}", "1:12: error[E012]: 'place.a' must be text, not a list of 1"),
        ("free: yes_all", "1:7: error[E012]: 'free' must be a list, written as [a, b]"),
        ("overlap: some", "1:10: error[E012]: 'overlap' must be"),
        ("stream: often", "1:9: error[E012]: 'stream' must be"),
        ("networks: {a: {overlap: all}}", "1:12: error[E151]: build options name network 'a'"),
        ("[a]", "1:1: error[E012]: the description must be a mapping"),
        ("version: 2", "1:10: error[E015]: version 2"),
    ],
)
def test_p7_a_wrong_file_is_refused_with_its_place(file: Any, text: str, message: str) -> None:
    with pytest.raises(AtollError) as caught:
        load_requests(file(text))
    assert f"build.yaml:{message}" in str(caught.value)


@pytest.mark.parametrize(
    ("wishes", "messages"),
    [
        ({"place": ["conv", "a="]}, ["'--place conv' is", "'--place a=' is"]),
        ({"pin": ["t=p:up", "=p"]}, ["'--pin t=p:up' is", "'--pin =p' is"]),
        ({"place": ["a=x", "a=y"]}, ["'--place a=x' and '--place a=y' contradict each other"]),
    ],
)
def test_p7_a_wrong_word_of_the_command_line_is_refused(
    wishes: dict[str, Any], messages: list[str]
) -> None:
    with pytest.raises(AtollError, match="E090") as caught:
        load_requests(None, **wishes)
    assert [message in str(caught.value) for message in messages] == [True] * len(messages)
