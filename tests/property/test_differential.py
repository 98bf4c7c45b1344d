# SPDX-License-Identifier: Apache-2.0
"""Random networks do what TFLM does, on all chips and with all options; nothing else is found.

`python -m tests.differential` runs more of them; docs/differential.md describes what is drawn.
"""

from collections import Counter
from pathlib import Path

import pytest
from tests.differential import elements, picks
from tests.differential.campaign import Tally, explained, run_seeds
from tests.differential.case import Ending, case_of
from tests.differential.features import features_of
from tests.differential.full_rtl import PER_IMAGE, run_in_rtl
from tests.differential.setting import CHIPS, COMBINATIONS, OVERLAPS, Setting
from tests.effort import cases

from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.ops.registry import KINDS, OPERATORS

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")

GROUPS, PER_GROUP = 12, 50
MANY_GROUPS, PER_MANY = 40, 50
FIRST_OF_MANY = GROUPS * PER_GROUP
FEATURED = 3000
LEAST_SAME = 0.85
MOST = {Ending.REFUSED: 0.15, Ending.NO_ROOM: 0.05, Ending.ORACLE_REFUSED: 0.0}

BATCHES = (
    *("ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEQUANTIZE"),
    *("FULLY_CONNECTED", "MAX_POOL_2D", "MEAN", "MUL", "PAD", "QUANTIZE", "RESHAPE", "SOFTMAX"),
    *("BATCH_MATMUL", "RESIZE_BILINEAR", "TRANSPOSE_CONV", "SUM", "REDUCE_MAX", "REDUCE_MIN"),
    *("ARG_MAX", "ARG_MIN", "CUMSUM", "L2_NORMALIZATION", "LOG_SOFTMAX", "TRANSPOSE"),
    *("EXPAND_DIMS", "SLICE", "SQUEEZE", "STRIDED_SLICE"),
    *sorted({*picks.DRAWS} - {"BROADCAST_TO"}),
)
WIDE = (
    *("ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D"),
    *("FULLY_CONNECTED", "MAX_POOL_2D", "MEAN", "MUL", "PAD", "PRELU", "QUANTIZE", "RESHAPE"),
    *("SLICE", "SPLIT", "SQUARED_DIFFERENCE", "STRIDED_SLICE", "SUB", "SUM", "TRANSPOSE"),
    *("TRANSPOSE_CONV", *elements.WIDE),
)
KINDS_OF_FILES = {form.code for kind in OPERATORS if (form := KINDS.get(kind).tflite)}
WITHOUT_ORACLE = {"EXP", "GELU", "LOG", "TILE"}
"""What TFLM has no kernel of."""
FEATURES = (
    *sorted(KINDS_OF_FILES - WITHOUT_ORACLE),
    *("READ_VARIABLE", "VAR_HANDLE", "IF", "IF of a computed condition", "WHILE"),
    "CALL_ONCE",
    *("variables of one kind", "variable becomes input", "variable becomes output"),
    *("variable read behind an assignment", *FUNCTIONS),
    *("no name", "empty name", "equal names", "name beyond ASCII", "extent that may change"),
    *("unused tensor", "unused kind", "metadata", "bool input", "output is view of a view"),
    *(f"input of rank {rank}" for rank in range(7)),
    *("CONV_2D of many channels", "FULLY_CONNECTED of many channels", "ADD of many channels"),
    *("channel that hardly counts", "SOFTMAX of int16", "SOFTMAX to int16"),
    *("UNIDIRECTIONAL_SEQUENCE_LSTM of int16", "DEQUANTIZE of int16"),
    *("QUANTIZE of float32 to int16", "FULLY_CONNECTED of a computed filter"),
    *("PADV2 of a computed value",),
    *(f"{code} of int16" for code in WIDE),
    *(f"{code} of int4" for code in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")),
    *(f"CAST to {dtype}" for dtype in ("bool", "int8", "int16", "int32")),
    *(f"QUANTIZE to {dtype}" for dtype in ("int16", "int32")),
    *("GATHER of computed indices", "GATHER_ND of computed indices", "truths to SELECT_V2"),
    *("RESHAPE to a computed shape", "many operators"),
    *(f"{code} of a batch" for code in BATCHES),
    *("several inputs", "several outputs", "output read later", "output declared twice"),
    *("output is input", "output is constant", "output is view", "output is viewed"),
    *("unused input", "dead tail", "no operators", "float32 input", "float32 output", "branch"),
    *(f"activation {number}" for number in range(4)),
    *(f"{code} {padding}" for code in ("CONV_2D", "MAX_POOL_2D") for padding in ("SAME", "VALID")),
    *(f"stride {number}" for number in (1, 2, 3)),
    *(f"dilation {number}" for number in (1, 2, 3)),
    *(f"depth multiplier {number}" for number in (1, 2, 3, 8)),
    *("ADD of one tensor twice", "MUL of one tensor twice", "CONCATENATION of one tensor twice"),
    *("ADD broadcast", "ADD broadcast first", "MUL broadcast", "MUL broadcast first"),
    *("shared constant", "shared buffer", "scales per channel", "extreme scale"),
    *("zero point -128", "zero point 127", "operator on constants"),
)


def holds(tally: Tally) -> None:
    """Require that no case failed, and that few were refused."""
    assert not tally.failures, "\n\n".join(explained(*each) for each in tally.failures[:3])
    assert tally.endings[Ending.SAME] >= LEAST_SAME * tally.total, str(tally)
    for ending, share in MOST.items():
        assert tally.endings[ending] <= share * tally.total, str(tally)


@pytest.mark.parametrize("group", range(cases(GROUPS)))
def test_random_networks_equal_tflm(group: int) -> None:
    holds(run_seeds(range(group * PER_GROUP, (group + 1) * PER_GROUP)))


@pytest.mark.slow
@pytest.mark.parametrize("group", range(MANY_GROUPS))
def test_many_random_networks_equal_tflm(group: int) -> None:
    first = FIRST_OF_MANY + group * PER_MANY
    holds(run_seeds(range(first, first + PER_MANY)))


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("accelerators", [True, False], ids=["accelerators", "cores"])
@pytest.mark.parametrize("chip", CHIPS)
def test_random_networks_equal_tflm_in_full_rtl(
    chip: str, accelerators: bool, tmp_path: Path
) -> None:
    """Ten networks in one firmware, on each chip with and without accelerators: 100."""
    number = COMBINATIONS.index((chip, accelerators, "none"))
    overlap = OVERLAPS[number // len(OVERLAPS) % len(OVERLAPS)]
    setting = Setting(chip=chip, accelerators=accelerators, overlap=overlap)
    tally = run_in_rtl(range(number * 100, number * 100 + PER_IMAGE), setting, tmp_path)
    assert not tally.failures, "\n\n".join(f"{each}\n{why.detail}" for each, why in tally.failures)
    assert tally.endings[Ending.SAME] >= PER_IMAGE // 2, str(tally)


def test_every_feature_is_drawn() -> None:
    """What docs/differential.md promises is in the first networks, more than once."""
    drawn: Counter[str] = Counter()
    for seed in range(FEATURED):
        drawn.update(features_of(case_of(seed).model))
    assert {name for name in FEATURES if drawn[name] < 2} == set()


def test_a_seed_makes_the_same_case_every_time() -> None:
    assert str(case_of(7)) == str(case_of(7))
    assert str(case_of(7)) != str(case_of(8))


def test_settings_go_round() -> None:
    settings = [case_of(seed).setting for seed in range(len(COMBINATIONS))]
    seen = {(each.chip, each.accelerators, each.overlap) for each in settings}
    assert seen == set(COMBINATIONS)
