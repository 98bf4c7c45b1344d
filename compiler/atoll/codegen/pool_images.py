# SPDX-License-Identifier: Apache-2.0
"""The constants of a model by pool: their bytes, and the symbols that they begin at."""

from collections.abc import Mapping
from io import BytesIO

from atoll.description.fields import ADDRESS_SPACE
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan, PoolSpace
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import ResolvedSoc

MODEL_ALIGNMENT = 64  # of constants behind other models' constants


def section_of(pool: str) -> str:
    """Name the section of an object file that holds a pool's constants."""
    return f".atoll.pool.{pool}"


def behind(space: PoolSpace, soc: ResolvedSoc) -> int:
    """Return the bytes of other models' constants at the start of a pool."""
    return space.origin - soc.pool(space.name).region.origin


def pool_symbol(model: str, space: PoolSpace, soc: ResolvedSoc) -> str:
    """Name the first constant of a model in a pool, which other models' may come before."""
    return f"{model}_pool_{space.name}" if behind(space, soc) else f"atoll_pool_{space.name}"


def far_pools(soc: ResolvedSoc, core: str) -> Mapping[str, int]:
    """Return where a core sees pools past 4 GiB, by name: too far for symbols of its code."""
    seen = {each.name: device_address(soc, core, each.region.origin) for each in soc.pools}
    return {name: origin for name, origin in seen.items() if origin >= ADDRESS_SPACE}


def pool_images(
    module: IRModule, plan: MemoryPlan, commands: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the bytes of every pool that holds constants, up to its last buffer, gaps zero.

    Args:
        module: the program.
        plan: where its buffers are.
        commands: bytes of the constants that have none, by name.
    """
    images: dict[str, bytearray] = {}
    for constant in module.entry.constants:
        placement = plan.placements[constant.name]
        data = commands[constant.name] if constant.data is None else constant.data
        assert len(data) == constant.size, f"{constant.name}: {len(data)} of {constant.size} bytes"
        image = images.setdefault(placement.pool, bytearray(plan.use[placement.pool].used))
        image[placement.offset : placement.offset + constant.size] = data
    return {pool: bytes(image) for pool, image in images.items()}


def split_images(
    images: Mapping[str, bytes], soc: ResolvedSoc
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return the images that an object file holds, and those that the application defines."""
    own: dict[str, bytes] = {}
    given: dict[str, bytes] = {}
    for pool, image in images.items():
        (given if soc.pool(pool).provided == "application" else own)[pool] = image
    return own, given


def fill_pools(code: bytes, images: Mapping[str, bytes]) -> bytes:
    """Return an object file with the bytes of its pools' constants in their sections.

    Args:
        code: has a section of zeros for each image, as long as the image.
        images: of `pool_images`.
    """
    from elftools.elf.elffile import ELFFile  # slow to import

    elf, whole = ELFFile(BytesIO(code)), bytearray(code)
    for pool, image in images.items():
        if not image:
            continue
        section = elf.get_section_by_name(section_of(pool))
        assert section is not None, f"{pool}: no section"
        assert section["sh_size"] == len(image), f"{pool}: {section['sh_size']} bytes"
        assert section["sh_type"] == "SHT_PROGBITS", f"{pool}: a section without bytes"
        start = section["sh_offset"]
        whole[start : start + len(image)] = image
    return bytes(whole)
