# SPDX-License-Identifier: Apache-2.0
"""No point depends on those asked before it: a warm process says what fresh ones do.

Each key that a chip may have is changed, alone and in random pairs. Fresh processes are forked off
one that has imported modules and done nothing else.
"""

import functools
import gc
import multiprocessing
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.sweep.keys import EXAMPLES, Keys, Point
from tests.unit.sweep.sweeps import DIGITS

import atoll
from atoll.cost.areas import logic_of
from atoll.description import chip as chips
from atoll.description import devices
from atoll.description.share import shared_folder, shipped_names
from atoll.diagnostics.errors import AtollError
from atoll.utils.remember import count_results, forget

if TYPE_CHECKING:
    from pydantic import BaseModel

WEAVER = str(EXAMPLES / "11_systolic_array" / "chip.yaml")
CHIPS = ("lagoon", "twin", "atoll2", WEAVER, str(EXAMPLES / "07_own_accelerator" / "chip.yaml"))
sys.path.append(str(EXAMPLES / "07_own_accelerator"))  # its accelerator's emitter is there
NETWORKS = (DIGITS, EXAMPLES / "07_own_accelerator" / "network.tflite")
"""One that accelerators run, and one with a dozen of other operators."""

PAIRS, PARTS = 500, 20

SPEEDS = (".clock", ".read_latency", ".banks", ".width", ".speed")
"""How keys end that a program does not depend on."""

NO_PLAN = {
    r"^version$": "there is one version",
    r"devices.CPU.(mailbox|irq|release|views.\w+)$": "the host starts others, and nobody starts it",
    r"devices.(CPU|DSP).signals.\w+$": "no mailbox here is in memory",
    r"devices.(CPU|DSP).cache.\*$": "`shared`, and no two cores here say so of their caches",
    r"devices.NPU.cache.memories$": "the memory of the example is not here",
    r"devices.(CPU|DSP).world$": "no core here has the Security Extension",
    r"devices.\w+.views.(NPU|DMA)$": "only cores see registers",
    r"devices.(NPU|DMA).views.DSP$": "only the host sees registers of accelerators",
    r"devices.DMA.engine$": "one engine ships",
}
"""Keys that have no right value on these chips."""

PERHAPS_NONE = {
    "pools.*.reach.DMA": "an engine may need each access that it has",
}

Question = tuple[str, tuple[Point, ...], int]
"""A chip, a point or the pair of one that is compiled and one that is estimated, and a network."""


def answer(question: Question) -> object:
    """Return all that a plan and an estimate say of a point, or its error."""
    name, points, number = question
    try:
        network = atoll.load_network(NETWORKS[number])
        first, *others = (atoll.load_soc(name).with_(point) for point in points)
        made = atoll.compile(first, network)
        if others:
            return atoll.estimate(made, soc=others[0]).network.to_json()
        found = atoll.estimate(made).network.to_json(), logic_of(first._resolved)
        return made.network.to_json(), made.network.rows(), *found
    except (AtollError, ValueError) as error:
        return str(error)


def count_cached() -> int:
    """Return how many results the caches of functions hold."""
    caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    own = [each for each in caches if str(each.__module__).startswith("atoll")]
    assert own, "there are caches to look into"
    return sum(each.cache_info().currsize for each in own)


CACHED_AT_IMPORT = count_cached()


def answer_first(question: Question) -> object:
    """Return the same as the first thing that a process does after imports."""
    assert not count_results(), "no table has anything"
    assert count_cached() == CACHED_AT_IMPORT, "nothing but imports has happened"
    return answer(question)


def compare(questions: Sequence[Question]) -> list[object]:
    """Hold answers, one after another and in the other order, against those of fresh processes."""
    warm = [answer(each) for each in questions]
    again = [answer(each) for each in reversed(questions)][::-1]
    ours = ("atoll", "atoll_sim", "tflite")
    imported = [name for name in sys.modules if name.partition(".")[0] in ours]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*imported, __name__])
    with context.Pool(1, maxtasksperchild=1) as processes:
        fresh = processes.imap(answer_first, questions)
        for question, first, second, each in zip(questions, warm, again, fresh, strict=True):
            assert first == each, question
            assert second == each, question
    return warm


def test_keys_are_those_of_the_models() -> None:
    keys = Keys(atoll.load_soc(WEAVER))
    kinds = {keys.kind_of(".".join(key)) for key, _ in keys.texts()}
    models: dict[str, type[BaseModel]] = {
        "": chips.Soc,
        "devices.CPU.": devices.Cpu,
        "devices.DSP.": devices.Cpu,
        "devices.NPU.": devices.Npu,
        "devices.DMA.": devices.Dma,
        "memories.*.": chips.Memory,
        "pools.*.": chips.Pool,
    }
    for prefix, model in models.items():
        for name in model.model_fields.keys() - {"extends"}:
            assert any(re.match(rf"{re.escape(prefix + name)}\b", kind) for kind in kinds), name
    declared = ("requantisers", "weight_rows", "line_columns", "data_bytes", "turns")
    assert {kind.rpartition(".")[2] for kind in kinds} >= {*declared}


def test_some_keys() -> None:
    texts = [text for _, text in Keys(atoll.load_soc("lagoon")).texts()]
    drawn = random.Random(1).sample(texts, 12)
    answers = compare([("lagoon", ((text,),), 0) for text in drawn])
    assert any(not isinstance(each, str) for each in answers)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
def test_every_key(chip: str) -> None:
    keys = Keys(atoll.load_soc(chip))
    asked = [(key, point) for key, points in keys.points().items() for point, _ in points]
    answers = compare([(chip, (point,), at % 2) for at, (_, point) in enumerate(asked)])
    plans = Counter[str]()
    for (key, _), each in zip(asked, answers, strict=True):
        plans[keys.kind_of(key)] += not isinstance(each, str)
    without = {kind for kind, number in plans.items() if not number} - {*PERHAPS_NONE}
    assert without == {kind for kind in plans if any(re.search(each, kind) for each in NO_PLAN)}


def draw(soc: atoll.Soc, texts: dict[str, list[str]], drawn: random.Random) -> str:
    """Return a change, mostly one that the chip can have."""
    while True:
        text = drawn.choice(texts[drawn.choice([*texts])])
        try:
            soc.with_([text])
        except AtollError:
            if drawn.random() < 0.9:
                continue
        return text


def pairs(part: int) -> list[Question]:
    """Return a share of the pairs: two points of a chip, and one at what makes the other."""
    drawn, found = random.Random(part), list[Question]()
    for _ in range(PAIRS // PARTS):
        chip = drawn.choice(shipped_names(shared_folder("socs")))
        soc, texts = atoll.load_soc(chip), dict[str, list[str]]()
        for key, text in Keys(soc).texts():
            texts.setdefault(".".join(key), []).append(text)
        first, second = (draw(soc, texts, drawn) for _ in range(2))
        speeds = {key: text for key, text in texts.items() if key.endswith(SPEEDS)}
        third = draw(soc, speeds if drawn.random() < 0.75 else texts, drawn)
        points = (first, second), ((first, second, third) if drawn.random() < 0.5 else (third,))
        number = drawn.randrange(len(NETWORKS))
        found += [(chip, each, number) for each in (points[:1], points[1:], points)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_pairs_of_points(part: int) -> None:
    answers = compare(pairs(part))
    of_pairs = answers[2::3]
    figures = sum(not isinstance(each, str) for each in of_pairs)
    assert figures >= len(of_pairs) // 5, "the rest are errors"


def test_build_options_and_planners_in_turn() -> None:
    chip, network = atoll.load_soc("lagoon"), atoll.load_network(DIGITS)
    asked: list[dict[str, Any]] = [
        *({"overlap": word} for word in ("free", "none", "all")),
        *({"accelerators": False, "overlap": word} for word in ("none", "all", "free")),
        *({"accelerators": False, "algorithm": word} for word in ("first-fit", "hill-climb")),
        {"place": {"add_3": "cpu"}},
        {"rewrite": False},
    ]

    def plan(options: dict[str, Any]) -> object:
        made = atoll.compile(chip, network, **options)
        return made.network.rows(), made.used_bytes, atoll.estimate(made).network.to_json()

    forget()
    in_turn = [plan(each) for each in asked]
    for options, found in zip(asked, in_turn, strict=True):
        forget()
        assert plan(options) == found, options
