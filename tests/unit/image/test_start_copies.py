# SPDX-License-Identifier: Apache-2.0
"""Where start-up code copies from, by symbols of common conventions, against load addresses."""

from pathlib import Path

import pytest
from tests.unit.image.test_stack_questions import SCRIPT, held, linked

from atoll_image import start_copies
from atoll_image.elf import ElfImage, Span
from atoll_image.start_copies import wrong_copies

RAM, FLASH = 0x2000_0000, 0x0800_0100


def span(name: str, begin: int, load: int, data: bytes) -> Span:
    return Span(
        name=name,
        begin=begin,
        end=begin + len(data),
        writable=True,
        executable=False,
        load=load,
        align=4,
        data=data,
    )


def wrong(symbols: dict[str, int], *sections: Span) -> list[str]:
    sections = sections or (span(".data", RAM, FLASH, b"\1" * 16),)
    image = ElfImage(
        machine="EM_ARM",
        bits=32,
        flags=0,
        entry=0,
        sections=sections,
        symbols=symbols,
        attributes={},
    )
    return [*wrong_copies(image, lambda address: address)]


@pytest.mark.parametrize("names", start_copies._CONVENTIONS, ids=lambda names: names[0])
def test_each_convention(names: tuple[str, str, str]) -> None:
    right = dict(zip(names, (FLASH, RAM, RAM + 16), strict=True))
    assert wrong(right) == []
    (said,) = wrong({**right, names[0]: FLASH + 4})
    assert f"('{names[0]}'), and its bytes are loaded at 0x08000100" in said
    (said,) = wrong({**right, names[2]: RAM + 8})
    assert f"up to 0x20000008 ('{names[2]}') alone" in said
    assert wrong(dict.fromkeys(names[1:], FLASH)) == []


def test_sections_in_a_row_keep_one_distance() -> None:
    symbols = {"_sidata": FLASH, "_sdata": RAM, "_edata": RAM + 32}
    first = span(".data", RAM, FLASH, b"\1" * 16)
    assert wrong(symbols, first, span(".more", RAM + 16, FLASH + 16, b"\1" * 16)) == []
    (said,) = wrong(symbols, first, span(".more", RAM + 16, FLASH + 32, b"\1" * 16))
    assert "'.more'" in said


def test_what_is_not_known_is_not_claimed() -> None:
    assert wrong({"_etext": FLASH + 64, "_sdata": RAM, "_edata": RAM + 16}) == []
    assert wrong({"_sidata": FLASH + 64}) == []
    in_place = span(".data", RAM, RAM, b"\1" * 16)
    assert wrong({"_sidata": FLASH, "_sdata": RAM, "_edata": RAM + 16}, in_place) == []
    padded = span(".data", RAM, FLASH, b"\1" * 12 + b"\0" * 4)
    assert wrong({"_sidata": FLASH, "_sdata": RAM, "_edata": RAM + 12}, padded) == []


def test_the_table_of_cmsis() -> None:
    def table(source: int) -> Span:
        words = (source, RAM, 4)
        data = b"".join(word.to_bytes(4, "little") for word in words)
        return span(".copy", 0x0800_0000, 0x0800_0000, data)

    symbols = {"__copy_table_start__": 0x0800_0000, "__copy_table_end__": 0x0800_000C}
    moved = span(".data", RAM, FLASH, b"\1" * 16)
    assert wrong(symbols, table(FLASH), moved) == []
    (said,) = wrong(symbols, table(FLASH + 16), moved)
    assert "__copy_table_start__" in said
    assert wrong({"__copy_table_end__": 1 << 32}, table(FLASH + 16), moved) == []
    assert wrong({**symbols, "__copy_table_end__": 1 << 40}, table(FLASH), moved) == []


@pytest.mark.parametrize(("source", "agrees"), [("LOADADDR(.data)", True), ("0x08001000", False)])
def test_a_script_that_copies_from_elsewhere(
    source: str, agrees: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = f"_sidata = {source}; .data : {{ _sdata = .; *(.data*) _edata = .; }}"
    script = SCRIPT.replace(".data : { *(.data*) }", data)
    status, _, err = held(linked(tmp_path, script=script), capsys)
    assert status == (0 if agrees else 1), err
    assert agrees or "start-up code copies section '.data'" in err
