# SPDX-License-Identifier: Apache-2.0
"""Members of registries: Atoll's own all load; another package's faults are one error each."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.bsp.emitters import EMITTERS
from atoll.diagnostics.errors import AtollError
from atoll.frontend.registry import FRONT_ENDS, load_network
from atoll.ops.registry import KINDS, kind_of
from atoll.ops.tflite_form import ACTIVATIONS, SAME, VALID
from atoll.plugins.loading import load
from atoll.plugins.registry import Registry

Install = Callable[[str, str, str], None]
REGISTRIES: tuple[Registry[Any], ...] = (KINDS, FRONT_ENDS, EMITTERS)
HELP = "\n  help: correct it as docs/extending.md shows, or remove the package"

OPERATOR = """
from atoll.ops.kind import OperatorKind
from atoll.ops.tflite_form import OptionError, TfliteForm

class Kind(OperatorKind):
    tflite = TfliteForm(
        code="LOCAL_RESPONSE_NORMALIZATION",
        table="LocalResponseNormalizationOptions", fields={2: 4}, read=READ)
    def check(self, op, graph): CHECK
    def reference(self, op, graph, inputs): return inputs
    def lower(self, op, graph): return 1 / 0

LEAKY = Kind()
"""


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.group)
def test_every_row_loads(registry: Registry[Any]) -> None:
    assert [registry.get(name) for name in registry.own]
    assert registry.names() == tuple(registry.own)
    assert registry.others() == ()


@pytest.mark.parametrize("entry", ["nowhere:__class__", "nowhere:__doc__", "sys:nowhere"])
def test_what_is_not_there_does_not_load(entry: str) -> None:
    assert "[E041]" in refusal(lambda: load(entry))


def test_names_of_the_schema() -> None:
    activations = pytest.importorskip("tflite.ActivationFunctionType").ActivationFunctionType
    padding = pytest.importorskip("tflite.Padding").Padding
    assert [getattr(activations, name.upper()) for name in ACTIVATIONS] == [*range(6)]
    assert (padding.SAME, padding.VALID) == (SAME, VALID)


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(AtollError) as caught:
        action()
    return str(caught.value)


def test_an_unknown_member() -> None:
    assert refusal(lambda: FRONT_ENDS.get("caffe")) == (
        "error[E094]: no front end 'caffe'\n  help: use one of onnx, tflite"
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import nothing_like_it", "error[E041]: cannot load 'broken:MEMBER': ModuleNotFoundError"),
        ("1 / 0", "error[E041]: cannot load 'broken:MEMBER': ZeroDivisionError"),
        ("def MEMBER(:", "error[E041]: cannot load 'broken:MEMBER': SyntaxError"),
        ("other = 1", "error[E041]: cannot load 'broken:MEMBER': AttributeError"),
        ("MEMBER = 3", "error[E110]: {noun} 'mine' ('broken:MEMBER') {wrong}" + HELP),
        ("def MEMBER(soc): ...", "error[E110]: {noun} 'mine' ('broken:MEMBER') {wrong}" + HELP),
    ],
)
@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.group)
def test_a_member_that_is_none(
    registry: Registry[Any], code: str, error: str, install: Install
) -> None:
    install("broken", code, f"[{registry.group}]\nmine = broken:MEMBER\n")
    wrong = {
        KINDS.group: "is no instance of 'atoll.ops.kind.OperatorKind'",
        FRONT_ENDS.group: "is no instance of 'atoll.frontend.front_end.FrontEnd'",
        EMITTERS.group: "cannot be called as '(soc, models, origins)'",
    }[registry.group]
    assert registry.names() == (*registry.own, "mine")
    said = refusal(lambda: registry.get("mine"))
    assert said.startswith(error.format(noun=registry.noun, wrong=wrong))


def test_nobody_replaces_a_member_and_the_first_package_counts(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def first(soc, models, origins): return {}\n"
    install("one", code, "[atoll.emitters]\nlinker = one:first\n")
    assert EMITTERS.names() == tuple(EMITTERS.own)
    assert sys.modules.get("one") is None
    assert EMITTERS.get("linker") is not EMITTERS.get("startup")


@pytest.fixture
def leaky(tflite_builder: ModuleType, tmp_path: Path) -> Callable[..., Path]:
    """A network of one LOCAL_RESPONSE_NORMALIZATION."""

    def write(**options: Any) -> Path:
        tensors = (tflite_builder.Tensor(shape=(4,), scales=(0.5,), zero_points=(0,)),) * 2
        op = tflite_builder.Operator(
            code="LOCAL_RESPONSE_NORMALIZATION", inputs=(0,), outputs=(1,), **options
        )
        model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
        path = tmp_path / "leaky.tflite"
        path.write_bytes(tflite_builder.write(model))
        return path

    return write


def install_operator(install: Install, read: str, check: str = "pass") -> None:
    code = OPERATOR.replace("READ", read).replace("CHECK", check)
    install("leaky", code, "[atoll.operators]\nleaky = leaky:LEAKY\n")


WITH_ALPHA = {"table": "LocalResponseNormalizationOptions", "options": {"Alpha": 0.25}}


def test_options_of_a_table_that_atoll_does_not_know(
    install: Install, leaky: Callable[..., Path]
) -> None:
    install_operator(install, "lambda options, shapes: {'alpha': options.Alpha()}")
    (op,) = load_network(leaky(**WITH_ALPHA)).operators
    assert (op.name, op.kind, op.attributes) == ("leaky_0", "leaky", {"alpha": 0.25})
    assert "E054" in refusal(lambda: load_network(leaky()))


def test_options_of_a_damaged_file_are_not_read(
    install: Install, leaky: Callable[..., Path]
) -> None:
    """Every offset is checked before the kind reads the table: each cut is one error or none."""
    install_operator(install, "lambda options, shapes: {'alpha': options.Alpha()}")
    path = leaky(**WITH_ALPHA)
    whole = path.read_bytes()
    endings = set()
    for at in range(8, len(whole)):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        try:
            load_network(path)
        except AtollError as error:
            endings.add(error.faults[0].code)
    assert "E051" in endings
    assert "E111" not in endings


def test_options_of_a_custom_operator(
    install: Install, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    code = OPERATOR.replace("READ", "lambda options, shapes: {'size': len(options)}")
    code = code.replace("CHECK", "pass").replace('"LOCAL_RESPONSE_NORMALIZATION"', '"CUSTOM Mine"')
    code = code.replace('table="LocalResponseNormalizationOptions", ', "").replace(
        "fields={2: 4}, ", ""
    )
    install("custom", code, "[atoll.operators]\nmine = custom:LEAKY\n")
    for options in (b"", b"abc"):
        tensors = (tflite_builder.Tensor(shape=(4,), scales=(0.5,), zero_points=(0,)),) * 2
        op = tflite_builder.Operator(
            code="CUSTOM", custom="Mine", custom_options=options, inputs=(0,), outputs=(1,)
        )
        model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
        path = tmp_path / "custom.tflite"
        path.write_bytes(tflite_builder.write(model))
        assert load_network(path).operators[0].attributes == {"size": len(options)}


@pytest.mark.parametrize(
    ("read", "check", "error"),
    [
        ("lambda options: {}", "pass", "error[E111]: operator 'leaky' failed in 'read' for "),
        ("lambda options, shapes: {}[3]", "pass", "error[E111]: operator 'leaky' failed in 'read'"),
        ("lambda options, shapes: {}", "1 / 0", "error[E111]: operator 'leaky': 'check' failed: "),
    ],
)
def test_an_operator_that_fails(
    read: str, check: str, error: str, install: Install, leaky: Callable[..., Path]
) -> None:
    install_operator(install, read, check)
    assert refusal(lambda: load_network(leaky(**WITH_ALPHA))).startswith(error)


def test_an_option_that_a_kind_refuses(install: Install, leaky: Callable[..., Path]) -> None:
    code = OPERATOR.replace("READ", "read").replace("CHECK", "pass")
    code = f"{code}".replace(
        "\nclass Kind",
        "\ndef read(options, shapes):\n    raise OptionError('leaks too much')\n\nclass Kind",
    )
    install("leaky", code, "[atoll.operators]\nleaky = leaky:LEAKY\n")
    path = leaky(**WITH_ALPHA)
    said = refusal(lambda: load_network(path))
    assert said.startswith(
        f"error[E054]: {path}: operator 0 (LOCAL_RESPONSE_NORMALIZATION), "
        "tensor 1 ('tensor'): leaks too much\n"
    )


def test_an_operator_that_does_not_lower(install: Install, leaky: Callable[..., Path]) -> None:
    install_operator(install, "lambda options, shapes: {}")
    graph = load_network(leaky(**WITH_ALPHA))
    said = refusal(lambda: kind_of(graph.operators[0]).lower(graph.operators[0], graph))
    assert said.startswith("error[E111]: operator 'leaky': 'lower' failed: ZeroDivisionError")


@pytest.mark.parametrize(
    ("old", "new", "name", "wrong"),
    [
        ("NormalizationO", "O", "leaky", "TFLite has no option table 'LocalResponseOptions'"),
        ("TfliteForm(", "dict(", "leaky", "its 'tflite' is no TfliteForm"),
        ("", "", "leaky-relu", "its name is no identifier in lower case"),
    ],
)
def test_a_kind_that_no_file_can_hold(
    old: str, new: str, name: str, wrong: str, install: Install, leaky: Callable[..., Path]
) -> None:
    code = OPERATOR.replace("READ", "None").replace("CHECK", "pass").replace(old, new)
    install("leaky", code, f"[atoll.operators]\n{name} = leaky:LEAKY\n")
    said = refusal(lambda: load_network(leaky(**WITH_ALPHA)))
    assert said == f"error[E110]: operator '{name}': {wrong}{HELP}"


def test_an_accelerator_may_run_another_packages_operator(
    bench: Any, install: Install, tmp_path: Path
) -> None:
    bench.accelerator(("operators:\n", "operators:\n  LEAKY: {limits: {macs: {max: 9}}}\n"))
    assert "error[E116]: Atoll has no operator 'LEAKY'" in bench.refusal("check", "chip.yaml")
    install_operator(install, "None")
    assert bench.accepted("check", "chip.yaml", "--no-simulate")
