# Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
"""The devices of 'rp2040': the enumeration of include/atoll_devices.h."""

from enum import IntEnum
from typing import NamedTuple


class Device(IntEnum):
    """Ordinals."""

    CORE0 = 0
    CORE1 = 1
    DMA = 2


class Row(NamedTuple):
    """A device: its label, DLPack device type and id.

    generator: what makes its code; "": none.
    accelerator: what it is an instance of; "": none.
    loader: "xip", its code runs in place; "copy", its start-up code copies it to RAM; "host", the
        host writes it there before it runs; "external", what is no part of any image does; "none".
    """

    label: str
    kind: str
    device_type: int
    device_id: int
    generator: str
    accelerator: str
    loader: str


TABLE = {
    Device.CORE0: Row("core0", "cpu", 1, 0, "llvm", "", "xip"),
    Device.CORE1: Row("core1", "cpu", 1, 1, "llvm", "", "xip"),
    Device.DMA: Row("dma", "master", 12, 0, "", "", "none"),
}
