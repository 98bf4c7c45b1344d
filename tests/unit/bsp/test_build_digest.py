# SPDX-License-Identifier: Apache-2.0
"""The digest by which a host tells that a board runs the build that it means."""

from dataclasses import replace
from pathlib import Path

from atoll.artifacts.build_tree import part_of
from atoll.bsp.build_digest import build_digest
from atoll.bsp.firmware import Part
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

ROOT = Path(__file__).parents[3]
CHIP = str(ROOT / "examples" / "08_qemu_machines" / "virt_rv32.yaml")
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


def made(*overrides: str) -> tuple[ResolvedSoc, Part]:
    compiled = compile_file(load_soc(CHIP, overrides), DIGITS)
    return compiled.soc, part_of(compiled)


def test_a_pool_that_moved_makes_another_build() -> None:
    """The linker gives a host's code the address of a pool: the machine code is the same."""
    soc, part = made()
    moved_soc, moved = made("pools.arena.offset=4 KiB")
    assert part.codes() == moved.codes()
    assert build_digest(soc, [part]) != build_digest(moved_soc, [moved])
    again_soc, again = made()
    assert build_digest(soc, [part]) == build_digest(again_soc, [again])


def test_code_names_and_symbols_are_in_it() -> None:
    soc, part = made()
    [(core, code)] = part.codes().items()
    others = [
        part,
        replace(part, codes=lambda: {core: code[:-1] + bytes([code[-1] ^ 1])}),
        replace(part, interface=replace(part.interface, name="other")),
        replace(part, origins={"atoll_pool": 0x8000_0000}),
    ]
    assert len({build_digest(soc, [each]) for each in others}) == len(others)
