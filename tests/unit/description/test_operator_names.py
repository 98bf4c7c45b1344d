# SPDX-License-Identifier: Apache-2.0
"""The names that descriptions may use are those that operators, drivers and stages have."""

import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.element_samples import elements
from tests.operator_samples import moves, picks, windows_and_reductions
from tests.recurrent_samples import recurrent

from atoll.bsp.headers import MAILBOX_DRIVERS
from atoll.bsp.program_driver import SHARED
from atoll.bsp.render import FOLDER
from atoll.description.operators import DRIVERS, FEATURES, QUANTITIES
from atoll.frontend.tflite.load import load_tflite
from atoll.lower.accelerator import CommandEmitter
from atoll.ops.registry import OPERATORS, kind_of
from atoll.resolve.engine_parts import EMITTER_METHODS
from atoll_sim.engines.calls import MODEL_METHODS
from atoll_sim.engines.reef.model import ReefModel

ROOT = Path(__file__).parents[3]


def test_every_operator_has_its_row() -> None:
    in_parts = {"PACK", "SPLIT", "SPLIT_V", "UNPACK"}
    assert {*FEATURES} == {kind.upper() for kind in OPERATORS} - in_parts


def test_the_features_are_those_of_the_operators(
    tflite_builder: ModuleType, every_operator: Any, tmp_path: Path
) -> None:
    path = tmp_path / "every_operator.tflite"
    found = []
    others = (windows_and_reductions, moves, picks, elements, recurrent)
    for model in (every_operator, *(sample(tflite_builder) for sample in others)):
        path.write_bytes(tflite_builder.write(model))
        graph = load_tflite(path)
        found += [(graph, op, kind_of(op)) for op in graph.operators]
    met = {op.kind.upper(): {*kind.features(op, graph)} for graph, op, kind in found}
    assert met == {kind: {*FEATURES[kind]} for kind in met}
    numbers = {op.kind.upper(): {*kind.quantities(op, graph)} for graph, op, kind in found}
    assert numbers == {kind: {*QUANTITIES.get(kind, ())} for kind in numbers}
    assert {*FEATURES} - {*met} <= {
        *("COPY", "ETHOS_U", "JOIN_ROWS", "LAYER_NORMALIZATION", "RELAYOUT", "ROWS")
    }
    assert FEATURES["COPY"] == FEATURES["RESHAPE"]
    assert FEATURES["RELAYOUT"] == (*FEATURES["COPY"], "patches")


def test_the_drivers_are_those_of_the_bsp() -> None:
    shipped = {path.stem for path in (FOLDER / "drivers").glob("*.c")}
    assert {*DRIVERS} == shipped - {*MAILBOX_DRIVERS, SHARED}


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_registers_are_those_that_the_driver_names(driver: str) -> None:
    header = (FOLDER / "drivers" / f"{driver}.h").read_text()
    base = (FOLDER / "drivers" / "command_list.h").read_text()
    if "ATOLL_COMMAND_LIST_CONTEXT(device, kind)}" in header:
        header = base
    (list_registers,) = re.findall(r"_WITH\(device, kind, ([A-Z_]+), ([A-Z_]+)\)", header)
    named = [*re.findall(r"ATOLL_##kind##_REGISTER_([A-Z_]+)", base), *list_registers]
    assert sorted(named) == sorted(DRIVERS[driver])


@pytest.mark.parametrize("name", EMITTER_METHODS)
def test_emitters_are_asked_for_what_their_protocol_says(name: str) -> None:
    taken = [*inspect.signature(getattr(CommandEmitter, name)).parameters][1:]
    assert taken == [*EMITTER_METHODS[name]]


def test_models_are_asked_for_what_reefs_model_has() -> None:
    assert [*inspect.signature(ReefModel.run).parameters][1:] == [*MODEL_METHODS["run"]]
    assert [*MODEL_METHODS] == ["run"]
