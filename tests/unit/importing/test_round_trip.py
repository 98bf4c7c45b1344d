"""What `atoll bsp` exports is imported again: the same chip, as far as the format carries it."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.importing.reading import chip, imported

from atoll.board.package import Board, package_files
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import ResolvedSoc

DATA = Path(__file__).parents[2] / "data"
SOCS = Path(__file__).parents[3] / "socs"
CHIPS = sorted(map(str, (*SOCS.glob("*.yaml"), DATA / "shore.yaml", DATA / "bay.yaml")))


def exported(soc: ResolvedSoc, emitter: str, suffix: str) -> str:
    """Return the text of the file with `suffix` that an emitter writes."""
    (files,) = package_files(Board(soc=soc), [emitter]).values()
    (text,) = (entry.data.decode() for path, entry in files.items() if path.endswith(suffix))
    return text


def engines_of(soc: ResolvedSoc) -> dict[str, dict[str, Any]]:
    """Return the accelerators and DMA engines as a description has them, as the host sees them."""
    seen = as_seen_by(soc, soc.host)
    return {
        each.name: {
            "kind": "dma" if each.spec.name == "ripple" else "npu",
            ("engine" if each.spec.name == "ripple" else "accelerator"): each.spec.name,
            "registers": each.registers.origin,
            "irq": each.irq,
        }
        for each in seen.engines
    }


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
def test_svd(path: str, tmp_path: Path) -> None:
    soc = load_soc(path)
    found = imported(tmp_path, {"chip.svd": exported(soc, "svd", ".svd")})
    data = chip(found)
    assert (data["soc"], data["console"]) == (soc.name, soc.console.origin)
    kept = ("kind", "engine", "accelerator", "registers", "irq")
    engines = {
        name: {key: device[key] for key in kept if key in device}
        for name, device in data["devices"].items()
        if device["kind"] != "cpu"
    }
    assert engines == engines_of(soc)
    boxes = {
        name: (device["mailbox"], device["irq"])
        for name, device in data["devices"].items()
        if "mailbox" in device
    }
    cores = as_seen_by(soc, soc.host).cpus
    assert boxes == {
        core.name: (core.mailbox.origin, core.irq) for core in cores if core.mailbox is not None
    }
