# SPDX-License-Identifier: Apache-2.0
"""C5 on two cores: explain names the core, its stack and its limits."""

from atoll.driver.pipeline import Compiled
from atoll.report.explanation import explanation


def test_c5_explain_names_the_core_that_runs_an_operator(program: Compiled) -> None:
    devices = {decision.operator: decision for decision in explanation(program).decisions}
    asked = devices["softmax_13"]
    assert (asked.device, asked.reason) == ("dsp", "asked for by 'place.softmax_13'")
    assert devices["conv_2d_2"].device == "cpu"


def test_c5_a_buffer_of_a_kernel_is_on_the_stack_of_its_own_core(program: Compiled) -> None:
    stories = {story.name: story for story in explanation(program).buffers}
    powers = stories["softmax_13.powers"]
    assert powers.place == "dsp.stack"
    assert "max_stack_alloca_size 64 B" in powers.rule
    crossing = stories["fully_connected_12_out"]
    assert {use.device for use in crossing.uses} == {"cpu", "dsp"}
    assert "cpu rw, dsp ro" in crossing.rule
