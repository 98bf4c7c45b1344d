# SPDX-License-Identifier: Apache-2.0
"""Build an executable with Verilator and the C++ compiler, once for each content."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from functools import cache
from importlib.metadata import version
from pathlib import Path

import cocotb_tools.config

from atoll.diagnostics.progress import Progress, Steps, silent
from atoll.records import dataclass
from atoll.utils.cache import cache_folder, only_builder
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.precompiled import precompile
from atoll_sim.build.tools import call_tool, faster_compiler, make_variables
from atoll_sim.build.verilate import Harmless, keep_warnings, verilate
from atoll_sim.chip.generate import in_order

FLAGS = (
    *("--cc", "--exe", "--vpi", "-o", "model", "--assert", "-O3", "--output-split", "0"),
    *("--timescale", "1ns/1ps", "--x-assign", "fast", "--x-initial", "unique"),
    "--relative-includes",
    "-fno-split",  # of processes, whose parts would ask again what they have in common
)
Blame = Callable[[Path], AbstractContextManager[object]]
RTL_IO = Path(__file__).parents[1] / "model" / "rtl_io.cpp"
LINT = Path(__file__).parents[1] / "rtl" / "lint.vlt"
RANDOM_START = Path(__file__).parents[1] / "model" / "random_start.h"
"""What the C++ of every design includes behind Verilator's headers."""

_WHOLE = "whole"
"""In a folder of shared objects: all are there."""

_WRAP = "-Wl,--wrap=fopen -Wl,--wrap=printf"
"""Verilator's runtime calls `RTL_IO` for them."""

_RULES = """\
include Vtop.mk
model: slow.o
slow.o: $(wildcard *__Slow.cpp)
\t$(CXX) $(OPT_SLOW) $(CXXFLAGS) $(CPPFLAGS) -x c++ $(^:%=-include %) -c -o $@ /dev/null
shared: $(VK_GLOBAL_OBJS) $(COMMON)
"""
"""Verilator's makefile, but for what runs only before the first cycle: it is not optimised.

It is a third of the C++, which Verilator would append to the rest.
"""
_NOT_APPENDED = ("VM_CLASSES_SLOW=", "VM_SUPPORT_SLOW=", "OPT_SLOW=-O0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """All that decides what is built.

    Attributes:
        top: the top level's module.
        what: for messages, such as ``the simulation``.
        rtl: SystemVerilog sources, packages first.
        generated: text of generated files by name; ``.vlt`` files and packages come before `rtl`,
            other ``.sv`` files after it.
        cplusplus: sources of the simulator's main.
        common: more of them, which see nothing of `rtl` and `generated`; all designs share them.
        common_headers: text by name of headers that are generated for all designs.
        headers: what `rtl` and `cplusplus` include.
        includes: folders of `headers`.
        packages: version of each Python package that brings sources.
        rtl_includes: folders with what `rtl` includes.
        included: files in them that may change.
        defines: macros of `rtl`.
        parameters: of `top`, with their values in SystemVerilog.
        tolerant: warnings of files that are neither generated nor Atoll's do not stop the build.
        harmless: of the others, those that do not.
        flags: of Verilator, besides `FLAGS`.
        compiler_flags: of the C++ compiler.
        optimisation: of what differs between designs, and of `common`.
        make_flags: of the Makefile that Verilator writes.
    """

    top: str
    what: str
    rtl: tuple[Path, ...]
    generated: Mapping[str, str]
    cplusplus: tuple[Path, ...]
    common: tuple[Path, ...] = ()
    common_headers: Mapping[str, str] = field(default_factory=dict)
    headers: tuple[Path, ...]
    includes: tuple[Path, ...]
    packages: Mapping[str, str] = field(default_factory=dict)
    rtl_includes: tuple[Path, ...] = ()
    included: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    tolerant: bool = False
    harmless: Harmless = field(default=lambda _: False, compare=False)
    flags: tuple[str, ...]
    compiler_flags: str
    optimisation: str
    make_flags: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[object, ...]:
        """Everything but sources: the tools, and how they are called."""
        own = (FLAGS, self.flags, self.optimisation, _RULES, _NOT_APPENDED, _WRAP)
        return (*self._compiler, *own)

    @property
    def _compiler(self) -> tuple[object, ...]:
        versions = (*map(version, ("verilator", "cocotb", "ziglang")), cocotb_tools.config.libs_dir)
        compiler = version_of(os.environ.get("CXX", "g++"), os.environ.get("PATH"), self.what)
        settings = (*make_variables(), self.compiler_flags, self.make_flags)
        return (*map(str, versions), compiler, *settings)

    def digest(self) -> str:
        """Return a name for this content, the same wherever the files lie."""
        tables = (self.generated, self.packages, self.parameters, self.defines)
        settings = (self.top, *(sorted(table.items()) for table in tables), self.common_digest())
        return _digest(settings, (*self.rtl, *self.included, LINT, RANDOM_START, *self.cplusplus))

    def runtime_digest(self) -> str:
        """Return a name for Verilator's own objects, of which `flags` change nothing."""
        return _digest(self._compiler, ())

    def common_digest(self) -> str:
        """Return a name for the content of the objects of `common`, and for the headers read."""
        settings = (self.tools, sorted(self.common_headers.items()))
        return _digest(settings, (*sorted(self.headers), *self.common))


@cache
def version_of(compiler: str, path: str | None, what: str) -> str:
    """Return what a compiler says of its version, asked once for each search path."""
    return call_tool([compiler, "--version"], what).splitlines()[0]


def _digest(settings: object, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(repr(settings).encode())
    for path in files:
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:20]


def build_executable(
    design: Design,
    place: str,
    *,
    tell: Progress = silent,
    blame: Blame = nullcontext,
) -> Path:
    """Return the executable of `design`, from the cache if the same was built before.

    Args:
        design: what to build.
        place: folder below the cache, which the digest ends, such as ``chips/lagoon-``.
        tell: is told what is being done, if it takes time.
        blame: around Verilator, given the generated top level, to say whose source it refuses.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    final = cache_folder() / f"{place}{design.digest()}"
    with _missing(final) as new:
        if new:
            _build(new, design, tell, blame)
    return final / "model"


def keep_executable(name: str, data: bytes) -> None:
    """Keep an executable that was built elsewhere.

    Args:
        name: its folder below the cache, with the digest of its design.
        data: the file.

    Raises:
        UsageError: E092; the cache is not writable.
    """
    with _missing(cache_folder() / name) as new:
        if new:
            new.mkdir()
            (new / "model").write_bytes(data)
            (new / "model").chmod(0o755)
            _mark_complete(new)


@contextmanager
def _missing(final: Path) -> Iterator[Path | None]:
    """Yield the folder that becomes `final`, to be made and filled; None if it is whole."""
    with only_builder(final):
        if _intact(final):
            yield None
            return
        with temporary_folder() as folder:
            yield folder / "new"
            shutil.rmtree(final, ignore_errors=True)
            (folder / "new").rename(final)


def _build(folder: Path, design: Design, tell: Progress, blame: Blame) -> None:
    folder.mkdir()
    for file, text in (*design.generated.items(), *design.common_headers.items()):
        (folder / file).write_text(text)
    tell("step 1 of 3, Verilator (kept for later runs)")
    with blame(folder / f"{design.top}.sv"):
        command = tuple(_verilate(folder, design))
        if design.tolerant:
            keep_warnings(folder, verilate(command, design.what, folder, design.harmless))
        else:
            call_tool(command, design.what)
    objects = folder / "obj"
    with (objects / "Vtop__pch.h").open("a") as included:
        included.write(f"{RANDOM_START.read_text()}\n")
    (objects / "model.mk").write_text(_RULES)
    make = ["make", "-s", "-j2", "-C", str(objects), "-f", "model.mk", *_NOT_APPENDED]
    make += [f"OPT_FAST={design.optimisation}"]
    make += [f"COMMON={' '.join(f'{path.stem}.o' for path in design.common)}"]
    make += [*design.make_flags, *make_variables(), *(clang := faster_compiler())]
    tell("step 2 of 3, C++ compiler (kept for later runs)")
    with _shared_runtime(objects, design) as (shared, missing):
        if clang:
            read = precompile(objects, shared, make, design.what)
            make += [f"USER_CPPFLAGS={' '.join(read)}"]
        count = call_tool([*make, "-n"], design.what).count(" -c ")
        before = _objects(folder)

        steps = Steps(count, tell)

        def watch() -> None:
            done = _objects(folder) - before
            step = f"2 of 3, C++ file {done + 1} of {count}" if done < count else "3 of 3, linker"
            steps.tell(done, f"step {step} (kept for later runs)")

        if missing:
            call_tool([*make, "shared"], design.what, watch)
    call_tool(make, design.what, watch)
    (objects / "model").replace(folder / "model")
    shutil.rmtree(objects)
    _mark_complete(folder)


def _mark_complete(folder: Path) -> None:
    (folder / "complete.json").write_text(json.dumps({"model": _sha256(folder / "model")}))


def _objects(folder: Path) -> int:
    return len(list((folder / "obj").glob("*.o")))


def _verilate(folder: Path, design: Design) -> Iterator[str]:
    """Yield the words of Verilator's command line."""
    libraries = cocotb_tools.config.libs_dir
    includes = [f"-I{path}" for path in (*design.includes, folder)]
    settings = [str(folder / name) for name in design.generated if name.endswith(".vlt")]
    yield from ("verilator", *FLAGS, *design.flags, "--prefix", "Vtop")
    yield from ("--top-module", design.top, "-Mdir", str(folder / "obj"), *includes)
    yield from (f"+incdir+{path}" for path in design.rtl_includes)
    yield from (f"+define+{name}={value}" for name, value in sorted(design.defines.items()))
    yield from (f"-G{name}={value}" for name, value in sorted(design.parameters.items()))
    yield from ("-CFLAGS", " ".join((design.compiler_flags, *includes)))
    yield "-LDFLAGS"
    yield f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator -rdynamic {_WRAP}"
    yield from (str(LINT), *settings)
    yield from map(str, in_order(design.generated, design.rtl, folder))
    yield from map(str, (*design.cplusplus, *design.common))


@contextmanager
def _shared_runtime(objects: Path, design: Design) -> Iterator[tuple[Path, bool]]:
    """Exchange object files with folders that other designs use; lend that of `Design.common`.

    Verilator's own objects are the same for more designs than those of `Design.common`. What is
    missing is compiled in the block; other processes that miss it wait, and take it.
    """
    runtime = cache_folder() / "runtime"
    own, common = runtime / design.runtime_digest(), runtime / design.common_digest()
    missing = not (common / _WHOLE).exists()
    with only_builder(own) if missing else nullcontext():
        for folder in (own, common):
            folder.mkdir(parents=True, exist_ok=True)
            for kept in folder.glob("*.o"):
                shutil.copyfile(kept, objects / kept.name)
        yield common, missing
        if missing:
            _keep_shared(objects, design, own, common)


def _keep_shared(objects: Path, design: Design, own: Path, common: Path) -> None:
    names = {path.stem for path in design.common}
    for fresh in objects.glob("*.o"):
        if fresh.stem.startswith("verilated"):
            _share(fresh, own)
        elif fresh.stem in names:
            _share(fresh, common)
    (common / _WHOLE).touch()


def _share(fresh: Path, folder: Path) -> None:
    if not (folder / fresh.name).exists():
        copy = Path(shutil.copy(fresh, folder / f"{fresh.name}.{os.getpid()}"))
        copy.replace(folder / fresh.name)


def _intact(final: Path) -> bool:
    try:
        marker = json.loads((final / "complete.json").read_text())
        return bool(marker["model"] == _sha256(final / "model"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
