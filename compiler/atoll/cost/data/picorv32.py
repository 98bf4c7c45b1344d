# SPDX-License-Identifier: Apache-2.0
"""Cycles that were measured in RTL: of drivers, steps and start-up code, and of kernels.

All are of `MEASURED_CORE` with instructions from a memory of `MEASURED_LATENCY`.
`python -m benchmarks.estimate --calibrate` measures them again, and tests/e2e/test_estimates.py
holds them against RTL; `python -m benchmarks.estimate_kinds` does so with `RATES`.
"""

from collections.abc import Mapping

from atoll.cost.bands import Band

MEASURED_CORE, MEASURED_LATENCY = "picorv32", 2
OTHER_CYCLES, KERNEL_CYCLES = 7, 5
"""Cycles from one fetch of instructions to the next besides the latency: of drivers, of kernels."""

START_CYCLES = 430
"""From an operator's begin event until the host's driver has had an engine start."""

FINISH_CYCLES = 590
"""From the engine's last access until the host's driver knows and the end event is there."""

LEAST_CYCLES = 1250
"""What the driver takes by itself: an engine that is done earlier waits for it."""

FURTHER_CYCLES = 60
"""What each further engine or core that the host drives adds: half to start, half to finish."""

CROSSING_CYCLES, CROSSING_ENGINE_CYCLES = 38, 30
"""What the driver's accesses to registers, and an engine's first ones to memory, take longer where
the engine has a clock of its own: cycles of the host, and of the engine."""

ACCESS_CYCLES, MOVE_CYCLES, WORD_CYCLES, BYTE_CYCLES, TURN_CYCLES = 45, 160, 16, 60, 70
"""What the driver of a program takes for each register, for each push or pop, for each of their
words, for bytes that it moves one by one, and for each turn of a repetition."""

GOES_ON_CYCLES, LINK_BYTES = 14, 64
"""Of an engine: from the end of an operator until the first command of the next list is asked for,
beside the fetch of so many bytes that say where it is.
"""

PART_CYCLES = 900
"""What the host takes for each further core that an operator is spread over: start, wait, answer.
"""

BETWEEN_CYCLES = 71
"""From the end event of an operator until the begin event of the next one."""

BEFORE_CYCLES = 1500
"""From reset until the first operator begins, beside what the loops of the start-up code take."""

START_BLOCK = 16
"""Bytes that a turn of the start-up code's loops handles."""

FILLED_CYCLES, COPIED_CYCLES = 45, 87
"""For each such block of a stack that is painted, and of constants that are copied to RAM."""

AFTER_CYCLES = 765
"""From the end of the last operator until the firmware's end."""

MEASURED_DATA_LATENCY = 1
"""Of the memory of the data that kernels were measured with."""

KERNEL_BAND = Band(0.5, 1.0)
"""How far a kernel may be off: a factor of two, in `python -m benchmarks.estimate_kinds`."""

KERNEL_BANDS: Mapping[str, Band] = {
    "average_pool_2d": Band(0.1, 0.11),
    "conv_2d": Band(0.02, 1.04),
    "depthwise_conv_2d": Band(0.12, 0.44),
    "fully_connected": Band(0.08, 0.41),
}
"""The same of kinds whose layers of at least 3,000 cycles were held against RTL in networks to
which nothing was fitted: 95 of 100 in `python -m benchmarks.estimate --chip core --random 10`."""

DRIVER_BAND = Band(0.15, 0.15)
"""How far operators of engines are off at most, which are mostly the driver's where it decides."""

FARTHEST_LATENCY = 8
"""Of the memory of instructions, up to which bands of cores were measured."""

FETCH_BYTES, ACCESS_BYTES = 4, 4
"""Bytes of a fetch of instructions, and of an access of a kernel that moves bytes."""

Rates = Mapping[str, float]
"""Cycles for each of what an operator's `work` counts, of rv32imc kernels."""

USUAL_RATES: Rates = {"macs": 36, "results": 80}
"""Of kinds that `RATES` lacks."""

_LOOKED_UP = {"mapped": 32, "clamped": 30}
"""Elements that a table maps, and those that are moved and clamped."""

_SCALED = {"rescaled": 61, "weighted": 60, "tabled": 80, "away": 19}
"""Multipliers of sums that are no power of two, weighted sums, sums of entries of tables, and of
these whose sign counts."""

RATES: Mapping[str, Rates] = {
    "abs": {"results": 115} | _LOOKED_UP,
    "add": {"results": 80, "numbers": 24} | _SCALED,
    "add_n": {"results": 115, "operands": 9},
    "arg_max": {"reads": 26},
    "arg_min": {"reads": 26},
    "assign_variable": {"results": 14},
    "average_pool_2d": {"taps": 14, "results": 50},
    "batch_matmul": {"macs": 30, "results": 130},
    "batch_to_space_nd": {"results": 22},
    "broadcast_args": {"results": 25},
    "broadcast_to": {"results": 8},
    "cast": {"results": 18},
    "concatenation": {"results": 12},
    "conv_2d": {
        "macs": 15,
        "results": 75,
        "wide_macs": 22.5,
        "wide_results": 112.5,
        "window_rows": 445,
    },
    "copy": {"results": 5},
    "cumsum": {"results": 136},
    "depth_to_space": {"results": 22},
    "depthwise_conv_2d": {"macs": 19, "results": 100, "wide_macs": 28.5, "wide_results": 150},
    "div": {"results": 345, "numbers": 98},
    "dynamic_update_slice": {"results": 12},
    "elu": {"results": 115} | _LOOKED_UP,
    "embedding_lookup": {"results": 36},
    "equal": {"results": 60},
    "exp": {"results": 115} | _LOOKED_UP,
    "expand_dims": {"results": 6},
    "fill": {"results": 6},
    "fully_connected": {"macs": 25, "results": 110, "wide_macs": 37.5, "wide_results": 165},
    "gather": {"results": 36},
    "gather_nd": {"results": 36},
    "gelu": {"results": 115} | _LOOKED_UP,
    "greater": {"results": 60},
    "greater_equal": {"results": 60},
    "hard_swish": {"results": 115} | _LOOKED_UP,
    "join_rows": {"results": 12},
    "l2_normalization": {"results": 130, "rows": 1400},
    "layer_normalization": {"results": 310, "rows": 1700},
    "leaky_relu": {"results": 142} | _LOOKED_UP,
    "less": {"results": 60},
    "less_equal": {"results": 60},
    "log": {"results": 115} | _LOOKED_UP,
    "log_softmax": {"results": 80, "rows": 2000},
    "logical_and": {"results": 26},
    "logical_not": {"results": 26},
    "logical_or": {"results": 26},
    "logistic": {"results": 135} | _LOOKED_UP,
    "lookup": {"results": 115} | _LOOKED_UP,
    "max_pool_2d": {"taps": 19},
    "maximum": {"results": 28},
    "mean": {"reads": 26},
    "minimum": {"results": 28},
    "mirror_pad": {"results": 22},
    "mul": {"results": 135, "numbers": 24},
    "not_equal": {"results": 60},
    "pad": {"results": 12},
    "padv2": {"results": 12},
    "prelu": {"results": 240},
    "quantize": {"results": 115} | _LOOKED_UP,
    "reduce_all": {"reads": 26},
    "reduce_max": {"reads": 26},
    "reduce_min": {"reads": 26},
    "relayout": {"results": 24},
    "relu": {"results": 115} | _LOOKED_UP,
    "relu6": {"results": 44} | _LOOKED_UP,
    "reshape": {"results": 6},
    "resize_bilinear": {"results": 120},
    "resize_nearest_neighbor": {"results": 15},
    "reverse_v2": {"results": 22},
    "rows": {"results": 5},
    "rsqrt": {"results": 1500} | _LOOKED_UP,
    "select_v2": {"results": 38},
    "shape": {"results": 12},
    "slice": {"results": 20},
    "softmax": {"results": 150, "rows": 1000},
    "space_to_batch_nd": {"results": 22},
    "space_to_depth": {"results": 22},
    "squared_difference": {"results": 200, "numbers": 36},
    "squeeze": {"results": 6},
    "strided_slice": {"results": 22},
    "sub": {"results": 80, "numbers": 24} | _SCALED,
    "sum": {"reads": 26},
    "svdf": {"macs": 25, "results": 110},
    "tanh": {"results": 135} | _LOOKED_UP,
    "tile": {"results": 5},
    "transpose": {"results": 22},
    "transpose_conv": {
        "macs": 15,
        "results": 110,
        "wide_macs": 22.5,
        "wide_results": 165,
        "tap_sums": 150,
    },
    "unidirectional_sequence_lstm": {"macs": 27, "results": 1950},
    "zeros_like": {"results": 7},
}
"""By kind: multiply-accumulates, taps of pooling windows, elements of the first input, elements of
the results, and what some kinds count beside them."""
