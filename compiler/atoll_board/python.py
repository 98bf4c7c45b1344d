# SPDX-License-Identifier: Apache-2.0
"""A Python package that calls the networks on the machine that it is on, through ctypes.

Each network is compiled once more, for a core with as much memory as it wants, and emitted as C99.
A CMake project of its own makes a shared library of it. Its results are the chip's, byte by byte.
"""

import json
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from pathlib import Path

from atoll.bsp.c_names import c_name
from atoll.codegen.c.source import emit_sources
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.graph import Graph
from atoll.records import dataclass
from atoll.resolve import load_soc
from atoll.resolve.device_table import device_rows
from atoll.utils.scratch import temporary_folder
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

HOST = Path(__file__).parent / "host.yaml"
_ARENA = "arena"
_DEVICES = "devices"
"""The module with the devices of the chip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tensor:
    """An input or an output, for the template; without a scale its numbers are plain."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scale: float | None
    zero_point: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Network:
    """A network, for the templates.

    Attributes:
        module: of Python; with ``_`` in front there are those of the package itself.
        symbol: prefix of its C names.
        arena: bytes of its buffers.
        source: C99 of its kernels, constants and functions.
        states: it has some, and thus a reset function.
    """

    name: str
    module: str
    symbol: str
    inputs: tuple[_Tensor, ...]
    outputs: tuple[_Tensor, ...]
    arena: int
    source: str
    states: bool


def python_files(board: Board) -> Mapping[str, Entry]:
    """Return the package in ``python/``: the chip's devices, and its networks if there are any."""
    package = f"{board.soc.name}_networks"
    devices = render("python_devices.py", board, rows=device_rows(board.soc))
    table = {f"python/{package}/{_DEVICES}.py": generated_entry(devices)}
    if not board.networks:
        return table
    networks = tuple(map(_network, board.networks))
    values = {"package": package, "networks": networks}
    files = {
        "python/CMakeLists.txt": render("python_CMakeLists.txt", board, **values),
        "python/CMakePresets.json": _presets(),
        f"python/{package}/__init__.py": render("python_init.py", board, **values),
        f"python/{package}/_runtime.py": render("python_runtime.py", board, **values),
    }
    for each in networks:
        files[f"python/{package}/{each.module}.py"] = render(
            "python_network.py", board, network=each, **values
        )
        files[f"python/src/{each.symbol}.c"] = render("python_network.c", board, network=each)
    return table | {path: generated_entry(text) for path, text in files.items()}


def _network(compiled: Compiled) -> _Network:
    host = _on_host(compiled)
    symbol, graph = c_name(host.graph.name), host.graph
    (source,) = emit_sources(host.module, host.plan, host.soc, host.commands).values()
    return _Network(
        name=graph.name,
        module=f"{symbol}_"
        if iskeyword(symbol) or symbol.startswith("_") or symbol == _DEVICES
        else symbol,
        symbol=symbol,
        inputs=tuple(_tensors(graph, graph.inputs)),
        outputs=tuple(_tensors(graph, graph.outputs)),
        arena=host.plan.use[_ARENA].used,
        source=source,
        states=bool(graph.states),
    )


def _on_host(compiled: Compiled) -> Compiled:
    """Compile the file of a network for the machine that the package is used on."""
    with temporary_folder() as folder:
        path = folder / f"{compiled.graph.name}{compiled.source.suffix}"
        path.write_bytes(compiled.source.data)
        return compile_file(load_soc(HOST), path)


def _tensors(graph: Graph, names: tuple[str, ...]) -> Iterator[_Tensor]:
    for tensor in map(graph.tensor, names):
        quantization = tensor.quantization
        yield _Tensor(
            name=c_name(tensor.name),
            shape=tensor.shape,
            dtype=tensor.dtype,
            scale=quantization.scales[0] if quantization else None,
            zero_point=quantization.zero_points[0] if quantization else 0,
        )


def _presets() -> str:
    configure = {"name": "host", "binaryDir": "${sourceDir}/build"}
    release = {"CMAKE_BUILD_TYPE": "Release"}
    data = {
        "version": 3,
        "cmakeMinimumRequired": {"major": 3, "minor": 21, "patch": 0},
        "configurePresets": [configure | {"cacheVariables": release}],
        "buildPresets": [{"name": "host", "configurePreset": "host", "configuration": "Release"}],
    }
    return json.dumps(data, indent=2) + "\n"
