# SPDX-License-Identifier: Apache-2.0
"""Cores as an instruction-set simulator (Unicorn), around the chip's memories and devices."""
