# SPDX-License-Identifier: Apache-2.0
"""A network in a setting, and how it may end."""

from dataclasses import dataclass
from enum import StrEnum

from tests.differential.generator import random_model
from tests.differential.setting import Setting, setting_of
from tests.differential.text import text_of
from tests.tflite_builder import Model


class Ending(StrEnum):
    """How a case ended."""

    SAME = "same as TFLM"
    REFUSED = "refused as documented"
    NO_ROOM = "too large for the chip"
    ORACLE_REFUSED = "refused by TFLM"
    DIFFERENCE = "different from TFLM"
    FALSE_FINDING = "false finding"


FAULTS = (Ending.DIFFERENCE, Ending.FALSE_FINDING)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended, and why."""

    ending: Ending
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A network in a setting; the seed draws samples and places as well."""

    seed: int
    model: Model
    setting: Setting

    def __str__(self) -> str:
        return f"seed {self.seed} on {self.setting}\n{text_of(self.model)}"


def case_of(seed: int) -> Case:
    """Return the case of a seed, the same one every time."""
    return Case(seed=seed, model=random_model(seed), setting=setting_of(seed))
