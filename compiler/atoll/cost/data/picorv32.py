# SPDX-License-Identifier: Apache-2.0
"""Cycles that were measured in RTL: of drivers, steps and start-up code.

All are of `MEASURED_CORE` with instructions from a memory of `MEASURED_LATENCY`.
`python -m benchmarks.estimate --calibrate` measures them again, and tests/e2e/test_estimates.py
holds them against RTL. What kernels take there is in its description.
"""

from atoll.cost.bands import Band

MEASURED_CORE, MEASURED_ISA, MEASURED_LATENCY = "picorv32", "rv32imc", 2
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

COMPARED = ("average_pool_2d", "conv_2d", "depthwise_conv_2d", "fully_connected")
"""Kinds whose layers were held against RTL for the bands of cores."""

OTHER_BAND = Band(0.5, 1.0)
"""How far kernels of other kinds may be off: a factor of two."""

DRIVER_BAND = Band(0.15, 0.15)
"""How far operators of engines are off at most, which are mostly the driver's where it decides."""

FARTHEST_LATENCY = 8
"""Of the memory of instructions, up to which bands of cores were measured."""

FETCH_BYTES = 4
"""Bytes of a fetch of instructions."""

COPIED_BYTE_CYCLES = 5
"""Of a copy of a whole tensor, for each byte: by counts, that is a fifth too high."""

MAC_CYCLES, RESULT_CYCLES = 36, 80
"""For each product and each element of the results of a kernel that nobody counted."""
