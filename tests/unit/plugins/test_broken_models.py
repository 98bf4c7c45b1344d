# SPDX-License-Identifier: Apache-2.0
"""Whatever a software model lacks or does wrong is one coded error at the line that names it."""

from typing import Any

import pytest

MODEL = r"^model: (.)"
RUN = "class Mine(ReefModel):\n    def run(self, bus, list_address, count):\n        {}\n"

UNUSABLE = {
    "no_run": ("class Mine:\n    def __init__(self, npu): ...\n", "lacks 'run(bus, list_add"),
    "no_argument": ("class Mine:\n    def run(self, b, l, c): ...\n", "[E110]"),
    "function": ("def Mine(npu): ...\n", "is no class, but of type 'function'"),
    "constructor": (
        "class Mine(ReefModel):\n    def __init__(self, npu): npu.params['absent']\n",
        "[E110]: model 'mine:Mine' of accelerator 'mine' cannot be made: KeyError: 'absent'",
    ),
    "signature": ("class Mine(ReefModel):\n    def run(self): ...\n", "cannot be called as 'run("),
    "module": ("import nothing_like_it\n", "[E041]"),
}
WRONG = {
    "raises": (
        "return {}[count]",
        "model 'mine:Mine' of accelerator 'mine' failed in 'run' for the list at 0x",
    ),
    "bus": ("bus.read(0, 4)", "BusFault: DECERR at 0x0"),
    "exits": ("raise SystemExit", "failed in 'run'"),
    "nothing": ("pass", "[E112]: model 'mine:Mine' of accelerator 'mine': 'run' for"),
    "number": ("return 0", "returned 0, no Outcome"),
    "outcome": ("return Outcome('bad', 0, 0)", "whose fields must be 0 or more"),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("command", ["check", "run"])
def test_an_unusable_model(name: str, command: str, bench: Any, commands: Any) -> None:
    code, message = UNUSABLE[name]
    bench.model(code)
    said = bench.refusal(*commands[command])
    assert message in said
    assert said.startswith(f"{bench.place(MODEL)}: error")


@pytest.mark.parametrize("name", WRONG)
def test_a_model_that_does_wrong(name: str, bench: Any, commands: Any) -> None:
    body, message = WRONG[name]
    bench.model(RUN.format(body))
    said = bench.refusal(*commands["run"])
    assert message in said
    assert said.startswith(f"{bench.place(MODEL)}: error")


def test_a_chip_without_its_model_is_built_and_planned(bench: Any, commands: Any) -> None:
    bench.model("import nothing_like_it\n")
    bench.accepted(*commands["plan"])
    bench.accepted("check", "chip.yaml", "--no-simulate")
