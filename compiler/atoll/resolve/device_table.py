# SPDX-License-Identifier: Apache-2.0
"""The one table of a chip's devices, which every emitter of an enumeration reads."""

from atoll.records import dataclass
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Device, Engine, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRow:
    """A device in the words of every language.

    Attributes:
        ordinal: its number.
        name: its identifier.
        label: what people read.
        kind: ``cpu``, ``dsp``, ``npu``, ``dma`` or ``master``.
        device_type, device_id: of DLPack.
        generator: what makes its code, "" for a device that runs no operators.
        accelerator: what it is an instance of, "" for cores and bus masters.
        loader: what brings its code to where it runs, as `Device` has it.
    """

    ordinal: int
    name: str
    label: str
    kind: str
    device_type: int
    device_id: int
    generator: str
    accelerator: str
    loader: str


def device_rows(soc: ResolvedSoc) -> tuple[DeviceRow, ...]:
    """Return the devices by ordinal."""
    return tuple(device_row(soc, device) for device in soc.devices)


def device_row(soc: ResolvedSoc, device: Device) -> DeviceRow:
    """Return the row of a device."""
    target = target_of(device)
    return DeviceRow(
        ordinal=device.ordinal,
        name=device.name,
        label=device.shown,
        kind=device.kind,
        device_type=device.device_type,
        device_id=device.device_id,
        generator=target.kind if target else "",
        accelerator=device.spec.name if isinstance(device, Engine) else "",
        loader=device.loader,
    )
