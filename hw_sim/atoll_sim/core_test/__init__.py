# SPDX-License-Identifier: Apache-2.0
"""Hold the adapter of a core against the bus: what `atoll core test` runs.

A program built with the core's own start-up code (`program.c`) runs on the adapter alone, in RTL. A
bench plays memory, registers and interrupt lines, and knows every access that there must be.
"""
