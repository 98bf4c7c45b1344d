# SPDX-License-Identifier: Apache-2.0
"""Code of an accelerator that is loaded again in a process is asked again."""

import sys
from pathlib import Path

from atoll.driver.pipeline import compile_file
from atoll.plugins.loading import load
from atoll.resolve import load_soc

EXAMPLES = Path(__file__).parents[3] / "examples"


def _constants() -> tuple[bytes | None, ...]:
    soc = load_soc(EXAMPLES / "11_systolic_array" / "chip.yaml")
    compiled = compile_file(soc, EXAMPLES / "01_digits" / "digits_int8.tflite")
    return tuple(each.data for each in compiled.graph.tensors)


def test_another_function_packs_anew() -> None:
    soc = load_soc(EXAMPLES / "11_systolic_array" / "chip.yaml")
    (loom,) = (each.spec for each in soc.engines if each.name == "loom")
    first = _constants()
    assert _constants() == first
    pack = load(loom.operators[0].constants[0].pack)
    names = vars(sys.modules[pack.__module__])
    names[pack.__name__] = lambda *asked: pack(*asked)[::-1].copy()  # monkeypatch forgets all
    try:
        assert _constants() != first
    finally:
        names[pack.__name__] = pack
    assert _constants() == first
