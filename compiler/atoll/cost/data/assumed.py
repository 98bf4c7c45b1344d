# SPDX-License-Identifier: Apache-2.0
"""Numbers that nobody measured: only comparisons of plans rely on them."""

CORE_PIECE_CYCLES = 200
"""What a core takes to begin and end one more piece of an operator, or to copy one more."""

ENGINE_PIECE_CYCLES = 60
"""What an engine by itself takes to begin and end one more piece of an operator."""

LISTS_OF_COPY = 2
"""Lists of commands that the host starts for a copy by a DMA engine: its own, and what was one list
of an accelerator goes on as another one."""

FASTER = 10
"""How many times as fast as its estimate a core that nobody measured may well be."""

FETCHES = 0.75
"""Words that a core fetches for an instruction of two or four bytes, where its timing does not say
how long it waits for them."""

TAKEN_SHARE = 0.5
"""How often a kernel takes one way of a branch that rests on data."""

CODE_BYTES = 4.8
"""Bytes of a kernel's code for each instruction that it would run if each part ran once: of four
bytes each, and code that rarely runs."""

DRIVER_BYTES = 0.63
"""Bytes of instructions that drivers, steps and start-up code fetch into an instruction cache for
each cycle that they take on the core that was measured."""
