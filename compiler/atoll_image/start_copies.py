# SPDX-License-Identifier: Apache-2.0
"""What start-up code copies, by the symbols it does so with, held against where bytes are loaded.

Only symbols with one meaning count: `_etext` alone is where code ends, and beside `_srelocate` what
is copied. A section that none of these copies is not judged.
"""

from collections.abc import Callable, Iterator

from atoll_image.elf import ElfImage, Span

_CONVENTIONS = (
    ("_sidata", "_sdata", "_edata"),  # ST, GigaDevice, riscv-rt
    ("__sidata", "__sdata", "__edata"),  # cortex-m-rt
    ("__etext", "__data_start__", "__data_end__"),  # CMSIS
    ("__data_load_start", "__data_start", "__data_end"),
    ("__data_load_start__", "__data_start__", "__data_end__"),  # SEGGER
    ("__data_load__", "__data_start__", "__data_end__"),  # TI
    ("_etext", "_srelocate", "_erelocate"),  # Microchip SAM
    ("_data_loadaddr", "_data", "_edata"),  # libopencm3
    ("_data_lma", "_data", "_edata"),  # SiFive, WCH
    ("__data_source", "__data_start", "__data_end"),  # picolibc
    ("__data_rom_start", "__data_ram_start", "__data_ram_end"),  # Zephyr before 3
    ("__data_region_load_start", "__data_region_start", "__data_region_end"),  # Zephyr
    ("__textdata_base__", "__data_base__", "__data_end__"),  # ChibiOS
    ("atoll_data_load", "atoll_data_start", "atoll_data_end"),
    ("atoll_code_load", "atoll_code_start", "atoll_code_end"),
)
"""Symbols of the first byte that is copied, of where it goes, and of the first byte behind."""

_TABLE, _TABLE_END, _ENTRY = "__copy_table_start__", "__copy_table_end__", 12
"""CMSIS' table of three words: from, to, and a length, in bytes or words by its version."""


def wrong_copies(image: ElfImage, byte: Callable[[int], int]) -> Iterator[str]:
    """Yield each section that start-up code brings other bytes than its own, or not all of them.

    `byte` tells addresses of one byte from those of several.
    """
    symbols = image.symbols
    for names in _CONVENTIONS:
        if all(name in symbols for name in names):
            source, begin, end = (symbols[name] for name in names)
            said = f"from {source:#010x} ('{names[0]}')"
            yield from _copy(image, byte, source, range(begin, max(begin + 1, end)), said)
            yield from _rest(image, begin, end, names[2])
    if _TABLE in symbols and _TABLE_END in symbols:
        for entry in range(symbols[_TABLE], symbols[_TABLE_END] - _ENTRY + 1, _ENTRY):
            from_there, to = image.word(entry), image.word(entry + 4)
            if from_there is None or to is None:
                return
            said = f"from {from_there:#010x} ('{_TABLE}')"
            yield from _copy(image, byte, from_there, range(to, to + 1), said)


def _copy(
    image: ElfImage, byte: Callable[[int], int], source: int, into: range, said: str
) -> Iterator[str]:
    for section in _copied_spans(image):
        first = max(section.begin, into.start)
        right = section.load + first - section.begin
        meets = first < min(section.begin + len(section.data), into.stop)
        if meets and byte(source + first - into.start) != byte(right):
            where = f"{said}, and its bytes are loaded at {section.load:#010x}"
            yield f"start-up code copies section {section} {where}"


def _rest(image: ElfImage, begin: int, end: int, name: str) -> Iterator[str]:
    """Yield what is left in a section behind the last byte that is copied, if that is not 0."""
    for section in _copied_spans(image):
        inside = section.begin <= begin < section.end and end < section.end
        if inside and any(section.data[max(end, begin) - section.begin :]):
            yield f"start-up code copies section {section} up to {end:#010x} ('{name}') alone"


def _copied_spans(image: ElfImage) -> Iterator[Span]:
    return (section for section in image.sections if section.copied)
