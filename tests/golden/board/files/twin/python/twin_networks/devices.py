# Made from twin.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
"""The devices of 'twin': the enumeration of include/atoll_devices.h."""

from enum import IntEnum
from typing import NamedTuple


class Device(IntEnum):
    """Ordinals."""

    CPU = 0
    DSP = 1
    NPU_LARGE = 2
    NPU_SMALL = 3
    DMA = 4


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
    Device.DSP: Row("dsp", "dsp", 1, 1, "llvm", "", "xip"),
    Device.NPU_LARGE: Row("npu_large", "npu", 12, 0, "reef", "reef", "none"),
    Device.NPU_SMALL: Row("npu_small", "npu", 12, 1, "reef", "reef", "none"),
    Device.DMA: Row("dma", "dma", 12, 2, "", "ripple", "none"),
}
