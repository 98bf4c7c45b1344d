# SPDX-License-Identifier: Apache-2.0
"""Cases as TFLM's kernel tests state them are judged: equal, refused, or none of ours."""

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")

from benchmarks.tflm_tests import judging
from benchmarks.tflm_tests.cases import read

IMAGE = {"shape": [1, 2, 2, 1], "constant": 0, "variable": 0}


def tensor(**fields: Any) -> dict[str, Any]:
    return {**IMAGE, "type": "INT8", "bytes": "01807f05", **fields}


def outcome(code: str, tensors: list[dict[str, Any]], **options: Any) -> tuple[str, str]:
    count = len(tensors) - 1
    told = {
        "test": "T.t",
        "runner": 0,
        "code": code,
        "inputs": [*range(count)],
        "outputs": [count],
        "intermediates": [],
        "options": options,
        "tensors": tensors,
    }
    (case,) = read(json.dumps(told))
    return judging.judge(case)


QUANTISED = {"scales": [0.5], "zeros": [3], "axis": 0}


def test_equal_bytes_are_equal() -> None:
    assert outcome("ABS", [tensor(**QUANTISED), tensor(**QUANTISED)]) == (judging.EQUAL, "")


def test_other_bytes_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "by_tflm", lambda *_: [[np.zeros(4, np.int8)]])
    found, reason = outcome("ABS", [tensor(**QUANTISED), tensor(**QUANTISED)])
    assert (found, reason[:9]) == (judging.DIFFERENT, "reference")


def test_a_kernel_that_reads_no_quantisation_may_be_given_one() -> None:
    options = {"BlockSize": 2}
    made = tensor(shape=[0, 0, 0, 0], bytes="")
    assert outcome("SPACE_TO_DEPTH", [tensor(), made], **options) == (judging.SCALED, "")


def test_what_atoll_refuses_is_told_with_the_reason() -> None:
    found, reason = outcome("ABS", [tensor(**QUANTISED), tensor(**QUANTISED, shape=[4])])
    assert (found, reason[:18]) == (judging.REFUSED, "operator 0 (ABS), ")


def test_what_tflm_refuses_is_not_tried() -> None:
    wrong = tensor(**QUANTISED, type="INT16", bytes="0100800000007f00")
    assert outcome("ABS", [tensor(**QUANTISED), wrong])[0] == judging.INVALID


def test_floats_are_left_out() -> None:
    real = tensor(type="FLOAT32", bytes="00" * 16)
    assert outcome("ABS", [real, real]) == (judging.FLOAT, "")
