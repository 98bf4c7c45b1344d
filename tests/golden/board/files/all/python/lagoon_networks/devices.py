# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
"""The devices of 'lagoon': the enumeration of include/atoll_devices.h."""

from enum import IntEnum
from typing import NamedTuple


class Device(IntEnum):
    """Ordinals."""

    CPU = 0
    NPU = 1


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
    Device.CPU: Row("cpu", "cpu", 1, 0, "llvm", "", "xip"),
    Device.NPU: Row("npu", "npu", 12, 0, "reef", "reef", "none"),
}
