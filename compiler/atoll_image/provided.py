# SPDX-License-Identifier: Apache-2.0
"""The arrays that an application defines, held against what the networks in the image say."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from atoll.bsp.c_names import c_name
from atoll.bsp.linker import pool_section
from atoll.diagnostics.errors import Fault
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll_image.elf import ElfImage, Span, Variable
from atoll_image.records import Record, records


def provided_faults(soc: ResolvedSoc, image: ElfImage) -> Iterator[Fault]:
    """Yield a fault for each network and pool whose array is not in the image as it should be.

    Args:
        soc: the chip as the core of the image sees it.
        image: what was linked.
    """
    pools = {pool.name: pool for pool in soc.pools}
    for record in records(image):
        if record is None:
            yield Fault(
                code="E220",
                message="what the image says of the application's arrays is damaged",
                at=None,
                remedy="link it again, and let no tool change section '.atoll.parameters'",
            )
        elif record.pool not in pools:
            yield Fault(
                code="E220",
                message=f"network '{record.network}' has the application define bytes of pool"
                f" '{record.pool}', and '{soc.name}' has no such pool",
                at=None,
                remedy="describe the pool, or build the network for this chip",
            )
        elif record.size:
            yield from _workspace_faults(record, pools[record.pool], image)
        else:
            yield from _constant_faults(record, pools[record.pool], image)


def not_known(soc: ResolvedSoc, image: ElfImage) -> Iterator[str]:
    """Yield what cannot be told of the arrays that the application of an image defines.

    Args:
        soc: the chip as the host sees it.
        image: of the host.
    """
    pools = {pool.name: pool for pool in soc.pools if pool.provided == "application"}
    told = [each for each in records(image) if each]
    for kind, constants in (("parameters", True), ("workspaces", False)):
        given = any(pool.holds_constants == constants for pool in pools.values())
        if given and not any(bool(each.constants) == constants for each in told):
            yield f"{kind} of the application are not known: no network in it has a record"
    for record in told:
        if record.size and record.pool in pools:
            begin, end = _span(record, pools[record.pool])
            if not _find_touched(image.objects, begin, end):
                where = f"{record.size} B at {begin:#010x} of pool '{record.pool}'"
                yield f"the workspace of '{record.network}' is not known: no symbol has {where}"


def _constant_faults(record: Record, pool: Pool, image: ElfImage) -> Iterator[Fault]:
    expected, origin = record.constants, pool.region.origin
    found = {each: image.read_loaded(origin + each.offset, each.size) for each in expected}
    missing = [each for each in expected if found[each] is None]
    wrong = [
        each
        for each, data in found.items()
        if data is not None and sha256(data).hexdigest() != each.digest
    ]
    macro = f"{c_name(record.network)}_{pool.name}_CONSTANTS".upper()
    for code, what, faulty in (("E220", "missing", missing), ("E221", "wrong", wrong)):
        if faulty:
            first = min(faulty, key=lambda each: each.offset)
            begin = origin + first.offset
            there = "".join(
                f", where {it} is" for it in _find_touched(image.objects, begin, begin + 1)
            )
            yield Fault(
                code=code,
                message=f"{len(faulty)} of {len(expected)} constants of network"
                f" '{record.network}' in pool '{pool.name}' are {what}, first '{first.name}',"
                f" {first.size} B at {begin:#010x}{there}",
                at=pool.at,
                remedy=_remedy(
                    f"{macro}_SIZE",
                    pool,
                    f", with the bytes {macro} of the header that this network came with,",
                ),
            )


def _workspace_faults(record: Record, pool: Pool, image: ElfImage) -> Iterator[Fault]:
    """Yield a fault unless one array has all bytes of a workspace, or nothing tells."""
    begin, end = _span(record, pool)
    touched = _find_touched(image.objects, begin, end) or _find_touched(image.sections, begin, end)
    if not touched or any(each.begin <= begin and end <= each.end for each in touched):
        return
    first, *others = touched
    need = f"network '{record.network}' writes {record.size} B at {begin:#010x} of pool"
    need += f" '{pool.name}'"
    whole = any(each.end - each.begin >= record.size for each in others)
    if first.begin <= begin and not whole:
        code = "E085"
        over = f", over {' and '.join(map(str, others[:2]))}" if others else ""
        message = f"{need}, and its array {first} is too small{over}"
    else:
        code, message = "E086", f"{need}, over {first}, which is not its workspace"
    macro = f"{c_name(record.network)}_{pool.name}_WORKSPACE_SIZE".upper()
    yield Fault(code=code, message=message, at=pool.at, remedy=_remedy(macro, pool))


def _remedy(size: str, pool: Pool, contents: str = "") -> str:
    """Say which array to define; sections behind it take what else the pool holds."""
    remedy = f"define an array of {size} bytes{contents} in section '{pool_section(pool)}'"
    if pool.section:
        return f"{remedy}, and others in sections '{pool.section}.*', which come after it"
    return f"{remedy}, and no other one there"


def _span(record: Record, pool: Pool) -> tuple[int, int]:
    begin = pool.region.origin + record.offset
    return begin, begin + record.size


def _find_touched(
    those: Sequence[Variable] | Sequence[Span], begin: int, end: int
) -> list[Variable | Span]:
    """Return those with bytes of a span, by address."""
    return [each for each in those if each.begin < end and begin < each.end]
