# SPDX-License-Identifier: Apache-2.0
"""The ports of an accelerator in its description."""

from typing import Literal

from pydantic import Field

from atoll.description.fields import Described, Name
from atoll.description.programs import Formula

Control = Literal["axi4_lite", "apb", "obi", "wishbone"]
Data = Literal["axi4", "axi4_lite", "obi", "wishbone"]


class DataPort(Described):
    """A port through which the accelerator reads and writes memory."""

    protocol: Data = Field(default="axi4", description="The protocol that it speaks.")
    bytes: Formula | None = Field(
        default=None,
        description="Bytes of a beat, of parameters; parameter 'data_bytes', or 8, if not said.",
    )


USUAL_DATA = {"m": DataPort()}


class Ports(Described):
    """What joins an accelerator to the chip."""

    control: Control = Field(default="axi4_lite", description="The protocol of its registers.")
    data: dict[Name, DataPort] = Field(
        default=USUAL_DATA,
        max_length=8,
        description="Its ports to memory; none if the host brings and takes the data.",
        examples=["{m: {protocol: axi4, bytes: data_bytes}}"],
    )
    interrupt: Literal["level", "edge", "none"] = Field(
        default="level", description="How it says that it has ended; 'none': the host asks."
    )
