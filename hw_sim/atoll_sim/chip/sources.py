# SPDX-License-Identifier: Apache-2.0
"""Where the RTL of cores and accelerators lies, and what of it is not there."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import AcceleratorSpec, CoreSpec, Cpu, Engine, ResolvedSoc
from atoll_sim.chip.file_list import FileList, read_list

RTL = Path(__file__).parents[1] / "rtl"
ENGINES = RTL.with_name("engines")
FOLDERS = (RTL, *sorted(path.parent for path in ENGINES.glob("*/__init__.py")))
"""Where the RTL lies that Atoll ships; each file's name is unique."""


LIST = ".f"
VHDL = (".vhd", ".vhdl")

READ_INTO_MEMORY = re.compile(r'\$readmem[bh]\s*\(\s*"([^"]+)"')
"""How sources name files that they read into memories; a name may be a parameter, too."""

Rtl = CoreSpec | AcceleratorSpec | FunctionUnit


def rtl_sources(spec: Rtl) -> tuple[Path, ...]:
    """Return the sources that a description names: shipped ones, others by absolute path.

    Raises:
        AtollError: E146; a file list is wrong.
    """
    every = (path for each in _entries(spec) for path in each.sources)
    return tuple(dict.fromkeys(every))


def compiled_sources(spec: Rtl) -> tuple[Path, ...]:
    """Return those that Verilator is given by name; `keyword_files` includes the others."""
    return tuple(path for path in rtl_sources(spec) if not _is_verilog(spec, path))


def keyword_files(spec: Rtl) -> Mapping[str, str]:
    """Return the text by name of a file that includes sources with the keywords of their language.

    There is none if all are in SystemVerilog.
    """
    lines = [f'`include "{path}"' for path in rtl_sources(spec) if _is_verilog(spec, path)]
    if not lines:
        return {}
    text = [f'`begin_keywords "{spec.rtl_keywords}"', *lines, "`end_keywords", ""]
    return {f"{spec.name}_{spec.rtl_module}_verilog.sv": "\n".join(text)}


def _is_verilog(spec: Rtl, path: Path) -> bool:
    return bool(spec.rtl_keywords) and path.suffix == ".v"


def rtl_includes(spec: Rtl) -> tuple[Path, ...]:
    """Return the folders in which sources find what they include; errors as `rtl_sources`."""
    return tuple(dict.fromkeys(path for each in _entries(spec) for path in each.includes))


def rtl_defines(spec: Rtl) -> Mapping[str, str]:
    """Return the macros of the sources and their values; errors as `rtl_sources`."""
    named = {name: text for each in _entries(spec) for name, text in each.defines.items()}
    return {**named, **spec.rtl_defines}


def _entries(spec: Rtl) -> Iterator[FileList]:
    """Yield what each source of a description stands for: a file, a folder, a list."""
    for index, name in enumerate(spec.rtl_sources):
        path = find_source(name)
        if name.endswith("/"):
            yield FileList(includes={path: SourceLoc(path, 1, 1)})
        elif path.suffix == LIST:
            yield read_list(path, spec.places.get(f"rtl.sources.{index}"))
        else:
            yield FileList(sources={path: SourceLoc(path, 1, 1)})


def described_rtl(soc: ResolvedSoc) -> Iterator[tuple[Rtl, str, Cpu | Engine]]:
    """Yield each description that may have RTL, what messages call its kind, and who has it."""
    for cpu in soc.cpus:
        yield cpu.spec, "core", cpu
        if cpu.unit:
            yield cpu.unit, "function unit", cpu
    for engine in soc.engines:
        yield engine.spec, "accelerator", engine


def find_source(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    """Return the file that ships under `name`, a path as it is."""
    return next((path for folder in folders if (path := folder / name).is_file()), RTL / name)


def source_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each source that cannot be read, once for all instances."""
    found: dict[str, Fault] = {}
    for spec, kind, device in described_rtl(soc):
        for index, listed in enumerate(_entries(spec)):
            place = spec.places.get(f"rtl.sources.{index}") or device.at
            named = spec.rtl_sources[index].endswith(LIST)
            for path, at in listed.sources.items():
                if reason := unreadable(path):
                    fault = _fault(spec, kind, index, path, reason, place)
                    fault = _locate_fault(fault, at) if named else fault
                    found.setdefault(str(path), fault)
                elif path.suffix.lower() in VHDL:
                    fault = _vhdl_fault(spec, kind, path, at if named else place)
                    found.setdefault(str(path), fault)
            for path, at in listed.includes.items():
                if not path.is_dir():
                    fault = _fault(spec, kind, index, path, "it is no folder", place)
                    fault = _locate_fault(fault, at) if named else fault
                    found.setdefault(str(path), fault)
    yield from found.values()


def _locate_fault(fault: Fault, at: SourceLoc) -> Fault:
    remedy = f"correct the line; names are relative to the folder of '{at.path.name}'"
    return replace(fault, at=at, remedy=remedy)


def _fault(
    spec: Rtl, kind: str, index: int, path: Path, reason: str, at: SourceLoc | None
) -> Fault:
    word = spec.rtl_sources[index]
    shipped = "/" not in word
    place = f"Atoll ships no file '{word}'" if shipped else f"'{path}': {reason}"
    return Fault(
        code="E113",
        message=f"RTL source of {kind} '{spec.name}' cannot be read: {place}",
        at=at,
        remedy=f"write './{word}' if it is beside the {kind}'s YAML, or correct the name"
        if shipped
        else f"correct the path; it is relative to the {kind}'s YAML",
    )


def _vhdl_fault(spec: Rtl, kind: str, path: Path, at: SourceLoc | None) -> Fault:
    return Fault(
        code="E113",
        message=f"RTL source of {kind} '{spec.name}' cannot be read: '{path}' is VHDL, and"
        " Verilator reads Verilog",
        at=at,
        remedy=f"convert it with GHDL and name the result: ghdl synth --std=08 --out=verilog"
        f" {path.name} -e ENTITY > {path.stem}.v",
    )


def macro_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each macro to which two descriptions give different values."""
    known: dict[str, tuple[str, Rtl, str]] = {}
    for spec, kind, device in described_rtl(soc):
        for name, text in rtl_defines(spec).items():
            before, other, its_kind = known.setdefault(name, (text, spec, kind))
            if before != text:
                yield Fault(
                    code="E256",
                    message=f"macro '{name}' is '{before}' for {its_kind} '{other.name}' and"
                    f" '{text}' for {kind} '{spec.name}', and holds for the RTL of the whole chip",
                    at=spec.places.get(f"rtl.defines.{name}")
                    or spec.places.get("rtl.module")
                    or device.at,
                    remedy="give both the same value, or make it a parameter of the module",
                )


def owner_of(soc: ResolvedSoc, path: Path) -> tuple[Rtl, str, Cpu | Engine] | None:
    """Return the description whose RTL a file belongs to; None for Atoll's own, and unknown ones.

    It names the file, or a folder above it, or a source in the same folder includes it.
    """
    if any(path.is_relative_to(folder) for folder in FOLDERS):
        return None
    every = tuple(described_rtl(soc))
    named = (each for each in every if path in rtl_sources(each[0]))
    beside = (
        each
        for each in every
        if any(path.is_relative_to(folder) for folder in rtl_includes(each[0]))
        or any(
            path.is_relative_to(source.parent)
            for source in rtl_sources(each[0])
            if source.parent not in FOLDERS
        )
    )
    return next(named, None) or next(beside, None)


_PRAGMA = re.compile(r"\b(?:synopsys|synthesis|ambit synthesis)\s+[\w\s]*(?:full|parallel)_case\b")


def has_case_pragmas(sources: Iterable[Path]) -> bool:
    """Tell whether others' sources have pragmas of synthesis that Verilator takes for assertions.

    They promise something to a synthesis tool and are no checks: in reset they hold in no design.
    """
    own = (path for path in sources if path.parent not in FOLDERS and path.suffix in (".v", ".sv"))
    return any(_PRAGMA.search(path.read_text(errors="replace")) for path in own)


def read_folders(soc: ResolvedSoc) -> tuple[Path, ...]:
    """Return where files are looked for that RTL reads by a relative name.

    They are the folders of its sources, of what these include, and of the description.
    """
    found: list[Path] = []
    for spec, _, _ in described_rtl(soc):
        found += [path.parent for path in rtl_sources(spec)]
        found += rtl_includes(spec)
        if at := spec.places.get("rtl.module"):
            found.append(at.path.resolve().parent)
    return tuple(path for path in dict.fromkeys(found) if path not in FOLDERS)


def memory_readers(soc: ResolvedSoc) -> Iterator[tuple[Rtl, str, Cpu | Engine]]:
    """Yield the descriptions whose own RTL reads files into memories, as `described_rtl` does."""
    for spec, kind, device in described_rtl(soc):
        own = [path for path in rtl_sources(spec) if path.parent not in FOLDERS]
        every = (*own, *included_files(own, rtl_includes(spec)))
        if any("$readmem" in path.read_text(errors="replace") for path in every):
            yield spec, kind, device


def described_place(spec: Rtl, kind: str, device: Cpu | Engine) -> tuple[SourceLoc, str] | None:
    """Return where a part is described, with a word on it; None if no file describes it."""
    place = spec.places.get("rtl.module") or device.at
    return (place, f"{kind} '{spec.name}' is described here") if place else None


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\(\*.*?\*\)", re.S)
_DIRECTIVE = re.compile(r"^\s*`(ifdef|ifndef|elsif|else|endif)\b\s*(\w*)(.*)$")


def header_words(spec: Rtl) -> frozenset[str]:
    """Return the words between ``module NAME`` and the next semicolon, the ports among them."""
    head = re.compile(
        rf"\bmodule\s+(?:automatic\s+|static\s+)?{re.escape(spec.rtl_module)}\b([^;]*)"
    )
    for path in rtl_sources(spec):
        if path.is_file() and path.suffix in (".v", ".sv"):
            text = _COMMENT.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
            if found := head.search("\n".join(_active_lines(text, rtl_defines(spec)))):
                return frozenset(re.findall(r"\w+", found[1]))
    return frozenset()


def _active_lines(text: str, defines: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that a preprocessor leaves, which knows macros of a description only."""
    active, taken = [True], [True]
    for line in text.splitlines():
        if not (found := _DIRECTIVE.match(line)):
            if all(active):
                yield line
            continue
        word, name, rest = found.groups()
        match word:
            case "ifdef" | "ifndef":
                active.append((name in defines) == (word == "ifdef"))
                taken.append(active[-1])
            case "elsif" | "else" if len(active) > 1:
                active[-1] = not taken[-1] and (word == "else" or name in defines)
                taken[-1] |= active[-1]
            case "endif" if len(active) > 1:
                active.pop(), taken.pop()
        if all(active) and rest:
            yield rest


_INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.M)


def included_files(sources: Iterable[Path], folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files that sources include by name, and those that these include, and so on."""
    found: dict[Path, None] = {}
    waiting, folders = list(sources), tuple(folders)
    while waiting:
        path = waiting.pop()
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for name in _INCLUDE.findall(text):
            tried = (folder / name for folder in (path.parent, *folders))
            inner = next((each for each in tried if each.is_file()), None)
            if inner and inner not in found:
                found[inner] = None
                waiting.append(inner)
    return tuple(found)


def unreadable(path: Path) -> str:
    """Return why a file cannot be read; "" if it can."""
    try:
        with path.open("rb"):
            return ""
    except OSError as fault:
        return fault.strerror or type(fault).__name__
