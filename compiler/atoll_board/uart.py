# SPDX-License-Identifier: Apache-2.0
"""The UARTs for which a package has the user's first ``app/serial.c``."""

import re

from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass

KINDS = {
    "ns16550": "a UART like National's 16550",
    "cmsdk": "the UART of Arm's Cortex-M System Design Kit",
}
_FORM = re.compile(r"(?P<kind>\w+)@(?P<address>0x[0-9a-f][0-9a-f_]*|[0-9][0-9_]*)", re.ASCII | re.I)
_LAST = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Uart:
    """A UART, and where the host sees its registers."""

    kind: str
    address: int

    @property
    def about(self) -> str:
        """What it is, for a comment."""
        return KINDS[self.kind]


def parse_uart(text: str) -> Uart:
    """Read ``KIND@ADDRESS``.

    Raises:
        UsageError: E270.
    """
    found = _FORM.fullmatch(text)
    kinds = " or ".join(KINDS)
    if found is None:
        raise UsageError(
            "E270",
            f"'{text}' is no UART and its address",
            remedy="write it as ns16550@0x10000000",
        )
    kind, address = found["kind"], _number(found["address"].replace("_", ""))
    if kind not in KINDS:
        raise UsageError(
            "E270",
            f"there is no source for a UART '{kind}'",
            remedy=f"name the one that is most alike, {kinds}, and edit app/serial.c",
        )
    if address > _LAST:
        raise UsageError(
            "E270",
            f"the UART at {address:#x} is beyond 32 bits of address",
            remedy="name an address below 0x1_0000_0000, and edit app/serial.c",
        )
    return Uart(kind=kind, address=address)


def _number(digits: str) -> int:
    return int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
