# SPDX-License-Identifier: Apache-2.0
"""What tells one build of networks from another: an image says it, and a host asks for it."""

from collections.abc import Sequence
from hashlib import sha256

from atoll.bsp.firmware import Part

SYMBOL = "atoll_serial_build"
"""The array of an image that holds it, as text."""

DIGITS = 64


def build_digest(parts: Sequence[Part]) -> str:
    """Return the SHA-256, in hexadecimal digits, of networks' machine code on all cores.

    Their constants and the addresses of the plan are part of it.
    """
    digest = sha256()
    for part in parts:
        for core, code in sorted(part.codes().items()):
            for each in (part.interface.name.encode(), core.encode(), code):
                digest.update(len(each).to_bytes(8, "little") + each)
    return digest.hexdigest()
