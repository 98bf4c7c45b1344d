# SPDX-License-Identifier: Apache-2.0
"""Workspaces of the application, where symbols and sections have them."""

import json
from pathlib import Path

import pytest

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_image.elf import ElfImage, Span, Variable
from atoll_image.provided import not_known, provided_faults
from atoll_sim.api import linked_images

SIZE = 4608
NEED = (SIZE, 0)


def chip() -> ResolvedSoc:
    return load_soc("lagoon", ("pools.shared.provided=application",))


def image(
    soc: ResolvedSoc,
    objects: tuple[tuple[int, int], ...],
    section: tuple[int, int] | None = None,
    needs: tuple[tuple[int, int], ...] = (NEED,),
) -> ElfImage:
    """Return an image with variables and a section at (offset, size) of pool 'shared'."""
    origin = soc.pool("shared").region.origin
    told = [
        {"network": f"net{number}", "pool": "shared", "workspace": [offset, size]}
        for number, (size, offset) in enumerate(needs)
    ]
    spans = [section] if section else []
    return ElfImage(
        machine="EM_RISCV",
        bits=32,
        flags=0,
        entry=0,
        sections=tuple(
            Span(
                name="bytes",
                begin=origin + offset,
                end=origin + offset + size,
                writable=True,
                executable=False,
                load=origin + offset,
                align=1,
                data=b"",
            )
            for offset, size in spans
        ),
        symbols={},
        attributes={},
        parameters=b"".join(json.dumps(each).encode() + b"\0" for each in told),
        objects=tuple(
            sorted(
                Variable(origin + offset, origin + offset + size, f"array{number}")
                for number, (offset, size) in enumerate(objects)
            )
        ),
    )


def codes(found: ElfImage, soc: ResolvedSoc) -> list[str]:
    faults = list(provided_faults(soc, found))
    assert all(each.at and each.remedy for each in faults)
    return [each.code for each in faults]


@pytest.mark.parametrize(
    ("objects", "section", "wanted"),
    [
        (((0, SIZE),), (0, SIZE), []),
        (((0, SIZE + 1), (SIZE + 1, 8)), None, []),
        (((0, SIZE - 1),), (0, SIZE - 1), ["E085"]),
        (((0, SIZE - 1),), (0, 2 * SIZE), ["E085"]),
        (((0, SIZE - 1), (SIZE - 1, 1)), None, ["E085"]),
        (((0, 64), (64, SIZE)), None, ["E086"]),
        (((64, SIZE),), None, ["E086"]),
        (((SIZE - 1, 1),), None, ["E086"]),
        ((), (0, SIZE - 1), ["E085"]),
        ((), (16, SIZE), ["E086"]),
    ],
)
def test_m7_one_array_has_all_bytes_of_a_workspace(
    objects: tuple[tuple[int, int], ...], section: tuple[int, int] | None, wanted: list[str]
) -> None:
    soc = chip()
    found = image(soc, objects, section)
    assert codes(found, soc) == wanted
    assert bool([*not_known(soc, found)]) == (not objects)


@pytest.mark.parametrize("section", [None, (0, SIZE), (SIZE, 64)])
def test_m7_without_a_symbol_a_workspace_is_not_known(section: tuple[int, int] | None) -> None:
    soc = chip()
    found = image(soc, ((SIZE, 64),), section)
    assert codes(found, soc) == []
    (said,) = not_known(soc, found)
    assert said.startswith("the workspace of 'net0' is not known: no symbol has 4608 B at 0x")


def test_m7_each_network_in_the_image_is_held_against_the_array() -> None:
    soc = chip()
    found = image(soc, ((0, SIZE),), needs=((64, 0), NEED, (SIZE + 4, 0), (SIZE, 8)))
    told = [each.message.split("'")[1] for each in provided_faults(soc, found)]
    assert told == ["net2", "net3"]


@pytest.mark.parametrize("workspace", [[0], [-1, 4], [0, 0], ["a", 4], None, 4])
def test_m7_damaged_records_are_told(workspace: object) -> None:
    soc = chip()
    record = {"network": "net", "pool": "shared", "workspace": workspace}
    found = image(soc, ())
    found = ElfImage(
        **{name: getattr(found, name) for name in found.__slots__}
        | {"parameters": json.dumps(record).encode()}
    )
    (fault,) = provided_faults(soc, found)
    assert fault.code == "E220"


def test_an_image_without_the_array_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    soc = chip()
    monkeypatch.setattr(linked_images, "read_image", lambda _: image(soc, ((0, SIZE - 1),)))
    with pytest.raises(UsageError):
        linked_images._check_provided(soc, Path("image.elf"))
