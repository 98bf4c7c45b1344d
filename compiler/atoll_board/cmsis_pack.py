# SPDX-License-Identifier: Apache-2.0
"""The chip as a device family of a CMSIS-Pack: a skeleton for whoever makes a pack of it.

Source: Open-CMSIS-Pack, schema 1.7 of PDSC (https://open-cmsis-pack.github.io/Open-CMSIS-Pack-Spec/).
"""

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from atoll.resolve.soc import Cpu, Memory
from atoll_board.cortex_m import has_floats, is_cortex_m, model
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.reached import memories_of
from atoll_board.render import opening_sentence
from atoll_board.sources import driver_files, startup_files

_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_VENDOR = "Generic:5"
_ACCESS = {"rom": "rx", "ram": "rwx"}
_RELEASE = {"version": "0.1.0", "date": "1970-01-01"}


def cmsis_pack_files(board: Board) -> Mapping[str, Entry]:
    """Return ``<chip>.pdsc``; none for a chip with a host that is no Cortex-M."""
    if not is_cortex_m(board.soc.host_cpu):
        return {}
    ElementTree.register_namespace("xs", _SCHEMA)
    root = _package(board)
    ElementTree.indent(root)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    text = ElementTree.tostring(root, encoding="unicode")
    return {f"{board.soc.name}.pdsc": generated_entry(f"{head}\n{text}\n")}


def _package(board: Board) -> Element:
    soc = board.soc
    schema = {f"{{{_SCHEMA}}}noNamespaceSchemaLocation": "PACK.xsd"}
    root = Element("package", {"schemaVersion": "1.7.36", **schema})
    for name, text in (
        ("vendor", "Generic"),
        ("name", f"{soc.name}_DFP"),
        ("description", opening_sentence(board)),
        ("url", ""),
    ):
        SubElement(root, name).text = text
    SubElement(SubElement(root, "releases"), "release", _RELEASE).text = "As it was generated."
    family = SubElement(SubElement(root, "devices"), "family", Dfamily=soc.name, Dvendor=_VENDOR)
    cores = [core for core in soc.cpus if is_cortex_m(core)]
    names = {core.name: {"Pname": core.name} if len(cores) > 1 else {} for core in cores}
    SubElement(family, "description").text = opening_sentence(board)
    device = SubElement(family, "device", Dname=soc.name)
    for core in cores:
        SubElement(device, "processor", {**names[core.name], **_processor(core)})
    for core in cores:
        SubElement(device, "debug", {**names[core.name], "svd": f"svd/{soc.name}.svd"})
    for core in cores:
        found = memories_of(soc, core)
        known = {memory.name for memory in found}
        real = {each.name: each.memory for each in soc.aliases if each.memory in known}
        for memory in found:
            alias = {"alias": real[memory.name], "default": "0"} if memory.name in real else {}
            SubElement(device, "memory", {**names[core.name], **_memory(memory), **alias})
    _component(root, board)
    return root


def _processor(core: Cpu) -> dict[str, str]:
    extensions = core.isa.split("+")[1:]
    floats = "DP_FPU" if "fp.dp" in extensions else "SP_FPU" if has_floats(core) else "NO_FPU"
    vectors = "FP_MVE" if "mve.fp" in extensions else "MVE" if "mve" in extensions else "NO_MVE"
    return {
        "Dcore": f"Cortex-{model(core).replace('plus', '+').upper()}",
        "Dfpu": floats,
        "Dmpu": "MPU" if core.spec.protection else "NO_MPU",
        **({"Dmve": vectors} if vectors != "NO_MVE" else {}),
        **({"Ddsp": "DSP"} if "dsp" in extensions else {}),
        "Dendian": "Little-endian",
        "Dclock": str(core.clock),
    }


def _memory(memory: Memory) -> dict[str, str]:
    return {
        "name": memory.name,
        "access": _ACCESS[memory.kind],
        "start": f"{memory.origin:#010x}",
        "size": f"{memory.size:#x}",
        "default": "1",
    }


def _component(root: Element, board: Board) -> None:
    """Say which generated sources are compiled."""
    words = {"Cclass": "Device", "Cgroup": "Startup", "Cversion": "0.1.0"}
    component = SubElement(SubElement(root, "components"), "component", words)
    SubElement(component, "description").text = "Start-up code, drivers and runtime."
    files = SubElement(component, "files")
    SubElement(files, "file", category="include", name="include/")
    for path in sorted({**startup_files(board), **driver_files(board)}):
        kind = "sourceAsm" if path.endswith(".S") else "sourceC"
        SubElement(files, "file", category=kind, name=path)
