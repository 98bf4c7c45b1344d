# SPDX-License-Identifier: Apache-2.0
"""What follows a user's test in the same simulation: the firmware goes on to its end."""

import json
import os
from pathlib import Path
from typing import Any

import cocotb

from atoll_sim.user_bench.files import DATA
from atoll_sim.user_bench.firmware import Firmware


@cocotb.test()
async def finish(dut: Any) -> None:
    """Serve the firmware to its end, without anything in its way, and write down what it did."""
    firmware = Firmware.of(dut)
    for name in json.loads(Path(os.environ[DATA]).read_text())["masters"]:
        getattr(dut, f"bench_{name}_share_i").value = 0
        getattr(dut, f"bench_{name}_wait_i").value = 0
    if not firmware.begun:
        await firmware.start()
    await firmware.serve()
    firmware.write()
