# SPDX-License-Identifier: Apache-2.0
"""What tells one build of networks from another: an image says it, and a host asks for it."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from atoll.bsp.firmware import Part
from atoll.resolve.soc import ResolvedSoc

SYMBOL = "atoll_serial_build"
"""The array of an image that holds it, as text."""

DIGITS = 64


def build_digest(soc: ResolvedSoc, parts: Sequence[Part]) -> str:
    """Return the SHA-256, in hexadecimal digits, of networks' machine code on all cores.

    Their constants are in it. Where pools begin is not, as the linker fills that in: it is added.
    """
    digest = sha256()
    for part in parts:
        for each in _fields(soc, part):
            digest.update(len(each).to_bytes(8, "little") + each)
    return digest.hexdigest()


def _fields(soc: ResolvedSoc, part: Part) -> Iterator[bytes]:
    """Yield what makes a network's part of an image differ from another one."""
    yield part.interface.name.encode()
    pools = {share.pool: soc.pool(share.pool).region.origin for share in part.interface.shares}
    for named in (pools, part.origins):
        yield repr(sorted(named.items())).encode()
    for core, code in sorted(part.codes().items()):
        yield from (core.encode(), code)
