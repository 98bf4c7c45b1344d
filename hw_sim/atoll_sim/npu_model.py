# SPDX-License-Identifier: Apache-2.0
"""The former place of `engines.interface`, for accelerators that were written before 0.2."""

from atoll_sim.engines.interface import Bus, BusFault, Outcome

__all__ = ["Bus", "BusFault", "Outcome"]
