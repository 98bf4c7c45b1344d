# SPDX-License-Identifier: Apache-2.0
"""Marks of fields of a resolved chip that no program and no plan depends on.

A field bears its mark where it is declared. `atoll.resolve.timeless` takes away what is marked:
chips that differ in nothing else share programs and plans.
"""

from collections.abc import Mapping
from typing import Any

SPEED: Mapping[str, Any] = {"mark": "speed"}
"""How fast it is: estimates depend on it, decisions by them, and jobs of foreign emitters."""

TOLD: Mapping[str, Any] = {"mark": "told"}
"""What messages and sums alone depend on: places in files, energy, area, what kernels ran."""
