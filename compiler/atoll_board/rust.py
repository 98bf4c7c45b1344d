# SPDX-License-Identifier: Apache-2.0
"""A crate that calls the networks from Rust: sizes of tensors are types, a status is a `Result`.

The crate declares what the objects in ``models/`` define; who links the image links these.
``memory.x`` has the host's regions under the names that cortex-m-rt and riscv-rt look for.
"""

from collections.abc import Mapping

from atoll.bsp.c_names import c_name
from atoll.bsp.core_images import works_of
from atoll.bsp.interface import ModelInterface, Port
from atoll.ir.graph import ITEM_BYTES
from atoll.records import dataclass
from atoll.resolve.device_table import device_rows
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

_TYPES = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8"}
_TYPES |= {"float32": "f32", "bool": "u8"}
_KEYWORDS = frozenset(
    (
        *(
            "abstract",
            "as",
            "async",
            "await",
            "become",
            "box",
            "const",
            "crate",
            "dyn",
            "enum",
            "extern",
        ),
        *("final", "fn", "gen", "impl", "in", "let", "loop", "macro", "match", "mod", "move"),
        *("mut", "override", "priv", "pub", "ref", "self", "super", "trait", "type", "typeof"),
        *("unsafe", "unsized", "use", "where", "yield"),
    )
)
"""Keywords of Rust that are none of C, or C++, whose names are changed already."""


@dataclass(frozen=True, slots=True)
class _Argument:
    """A tensor as an argument of `run`."""

    name: str
    type: str
    count: int


@dataclass(frozen=True, slots=True)
class _Network:
    """A network, for the template."""

    module: str
    symbol: str
    call: str
    name: str
    inputs: tuple[_Argument, ...]
    outputs: tuple[_Argument, ...]
    pools: tuple[tuple[str, int], ...]
    constants: tuple[tuple[str, int], ...]
    devices: tuple[str, ...]
    parameters: tuple[str, ...]
    states: bool


def rust_files(board: Board) -> Mapping[str, Entry]:
    """Return the crate in ``rust/``; none if there are no networks."""
    if not board.models:
        return {}
    networks = tuple(_network(board, model) for model in board.models)
    crate = f"{board.soc.name}_networks"
    return {
        "rust/Cargo.toml": generated_entry(render("Cargo.toml", board, crate=crate)),
        "rust/memory.x": generated_entry(render("memory.x", board)),
        "rust/src/devices.rs": generated_entry(
            render("devices.rs", board, rows=device_rows(board.soc))
        ),
        "rust/src/lib.rs": generated_entry(render("lib.rs", board, networks=networks)),
    }


def _network(board: Board, model: ModelInterface) -> _Network:
    symbol = c_name(model.name)
    return _Network(
        module=f"{symbol}_" if symbol in _KEYWORDS else symbol,
        symbol=symbol,
        call=works_of(board.soc, board.soc.host_cpu, (model,))[0].call,
        name=model.name,
        inputs=tuple(_argument("input", port) for port in model.inputs),
        outputs=tuple(_argument("output", port) for port in model.outputs),
        pools=tuple((c_name(pool.pool), pool.size) for pool in model.pools),
        constants=tuple((c_name(given.pool), given.size) for given in model.constants),
        devices=model.devices,
        parameters=model.parameters,
        states=bool(model.states),
    )


def _argument(way: str, port: Port) -> _Argument:
    member = c_name(port.name)
    count = port.size // ITEM_BYTES[port.dtype]
    return _Argument(f"{way}_{member}", _TYPES[port.dtype], count)
