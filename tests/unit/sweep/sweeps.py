# SPDX-License-Identifier: Apache-2.0
"""Small sweeps of digits."""

from pathlib import Path
from typing import Any

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


def small(**keys: Any) -> dict[str, Any]:
    """Return a sweep of twelve points, of which four are no chips, with other keys on top."""
    return {
        "sweep": "small",
        "version": 1,
        "soc": "lagoon",
        "networks": [str(DIGITS)],
        "axes": {
            "devices.npu.params.output_lanes": [4, 5, 8],
            "memories.flash.read_latency": {"from": 1, "to": 4, "times": 2},
            "pools.shared.size": ["64 KiB"],
        },
    } | keys
