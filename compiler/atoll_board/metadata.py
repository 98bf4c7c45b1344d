# SPDX-License-Identifier: Apache-2.0
"""What a package's networks take of each memory, as the Model Library Format has it.

Source: TVM, Model Library Format (RFC 0001 of microTVM), version 7: one entry of `modules` for each
network. There is no time of export: the same package has the same bytes.
"""

import json
from collections.abc import Iterator, Mapping

from atoll.bsp.c_names import c_name
from atoll.bsp.interface import ModelInterface, Port
from atoll.resolve.se_scope import target_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.sources import objects

VERSION = 7


def metadata_files(board: Board) -> Mapping[str, Entry]:
    """Return ``metadata.json``; none if there are no networks."""
    if not board.models:
        return {}
    modules = {model.name: _module(board, model) for model in board.models}
    document = {"version": VERSION, "modules": modules}
    return {"metadata.json": generated_entry(json.dumps(document, indent=2) + "\n")}


def _module(board: Board, model: ModelInterface) -> dict[str, object]:
    name, soc = c_name(model.name), board.soc
    run = {
        "function_name": f"{name}_run",
        "inputs": {port.name: _port(port) for port in model.inputs},
        "outputs": {port.name: _port(port) for port in model.outputs},
        "devices": list(model.devices),
    }
    workers = {soc.host, *model.devices}
    targets = (target_of(device) for device in soc.devices if device.name in workers)
    return {
        "model_name": model.name,
        "export_datetime": None,
        "style": "full-model",
        "executors": ["aot"],
        "target": [str(target) for target in targets if target],
        "memory": {"functions": {"main": [*_pools(board, model)], "operator_functions": []}},
        "entry": run,
        "objects": [
            path
            for core in board.cores
            for path in objects(board, core)
            if path.endswith(f"/{name}.o")
        ],
    }


def _pools(board: Board, model: ModelInterface) -> Iterator[dict[str, object]]:
    """Yield what the network takes of each pool that it uses."""
    for share in model.shares:
        region = board.soc.pool(share.pool).region
        ports = (*model.inputs, *model.outputs)
        yield {
            "pool": share.pool,
            "memory": region.memory,
            "constants_size_bytes": share.constants,
            "workspace_size_bytes": share.workspace,
            "io_size_bytes": sum(
                port.size for port in ports if region.origin <= port.address < region.end
            ),
        }


def _port(port: Port) -> dict[str, object]:
    return {"dtype": port.dtype, "size": port.size, "address": port.address}
