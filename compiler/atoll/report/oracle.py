# SPDX-License-Identifier: Apache-2.0
"""What another implementation of a model file makes, beside Atoll's reference of it."""

from collections.abc import Mapping
from typing import Any

from atoll.records import dataclass

REFERENCE = "Atoll's reference of the imported graph"
"""What the bytes of a run are held against; it is no witness of the import."""

SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleVerdict:
    """How far the reference of the imported graph is from another implementation.

    Attributes:
        oracle: its name and version.
        limit: the steps that a value may be apart.
        values: how many elements are so many steps apart.
        furthest: by name of the file, the most steps of each value that is compared.
    """

    oracle: str
    limit: int
    values: Mapping[int, int]
    furthest: Mapping[str, int]

    @property
    def passed(self) -> bool:
        """At least one element was compared, and none is further apart than it may be."""
        return bool(self.values) and max(self.values) <= self.limit

    def __str__(self) -> str:
        verb = f"is within {self.limit} step of" if self.limit else "agrees with"
        near = sum(most <= self.limit for most in self.furthest.values())
        apart = {steps: count for steps, count in self.values.items() if steps}
        told = ", ".join(
            f"{count:,} by {steps} step{'s' if steps != 1 else ''}"
            for steps, count in sorted(apart.items())[:SHOWN]
        )
        elements = sum(self.values.values())
        lines = [
            f"{REFERENCE} {verb} {self.oracle} in {near} of {len(self.furthest)} values"
            f" ({elements:,} elements{', ' + told if told else ', all the same'})"
        ]
        far = [(name, most) for name, most in self.furthest.items() if most > self.limit]
        lines += [f"'{name}' differs by up to {most:,} steps" for name, most in far[:SHOWN]]
        lines += [f"... and {len(far) - SHOWN} more values that differ"] if len(far) > SHOWN else []
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "oracle": self.oracle,
            "passed": self.passed,
            "limit_steps": self.limit,
            "elements_by_steps": {str(steps): count for steps, count in self.values.items()},
            "furthest_steps": dict(self.furthest),
        }
