# SPDX-License-Identifier: Apache-2.0
"""Run by a Python with ExecuTorch: export networks with a memory plan of Atoll, and run them.

Arguments: the folder of `memory_planning.py`, and one for programs. It prints a line of JSON for
each network: what ExecuTorch says of the program, and whether its outputs are those of ExecuTorch's
own plan.
"""

import importlib
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.memory_planning import Verifier
from executorch.exir.passes import MemoryPlanningPass
from executorch.runtime import Runtime
from torch import Tensor, nn


class Convolutions(nn.Module):  # type: ignore[misc]
    """Convolutions beside each other, joined, and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.wide = nn.Conv2d(8, 8, 3, padding=1)
        self.narrow = nn.Conv2d(8, 8, 1)
        self.last = nn.Linear(16 * 8 * 8, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        x = torch.cat((self.wide(x) + x, self.narrow(x)), 1)
        return torch.softmax(self.last(x.reshape(1, -1)), -1)


class Recurrent(nn.Module):  # type: ignore[misc]
    """A cell that runs six times, with slices and views."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(12, 20)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(1, 20)
        for step in range(6):
            state = self.cell(x[:, step], state)
        return state.view(4, 5).transpose(0, 1) * 2


class Branches(nn.Module):  # type: ignore[misc]
    """One of two ways by the input."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda y: (y * 3 + y).tanh(), lambda y: y - y * y, (x,)) + 1


class Counter(nn.Module):  # type: ignore[misc]
    """A buffer that keeps its value from run to run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.add_(x)
        return self.seen * 2


NETWORKS: dict[str, tuple[type[nn.Module], tuple[int, ...]]] = {
    "convolutions": (Convolutions, (1, 3, 8, 8)),
    "recurrent": (Recurrent, (1, 6, 12)),
    "branches": (Branches, (5, 7)),
    "counter": (Counter, (4,)),
}


def export(name: str, planning: MemoryPlanningPass) -> tuple[nn.Module, Any]:
    """Return a network with random weights, always the same, and what ExecuTorch makes of it."""
    network, shape = NETWORKS[name]
    torch.manual_seed(1)
    module = network().eval()
    program = to_edge(torch.export.export(module, (torch.ones(shape),)))
    return module, program.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))


def run(made: Any, path: Path, samples: Sequence[tuple[Tensor]]) -> list[Tensor]:
    """Return the outputs of a program, which is written to a file."""
    path.write_bytes(made.buffer)
    method = Runtime.get().load_program(path).load_method("forward")
    return [method.execute(sample)[0].clone() for sample in samples]


def sizes(made: Any) -> list[int]:
    """Return the bytes of a program's buffers, as ExecuTorch counts them."""
    return list(made.executorch_program.execution_plan[0].non_const_buffer_sizes)


def try_network(name: str, planning: MemoryPlanningPass, folder: Path) -> dict[str, Any]:
    """Return what comes of a network whose memory is planned so."""
    try:
        module, made = export(name, planning)
    except ValueError as error:
        return {"refused": str(error)}
    exported = made.exported_program()
    Verifier(
        exported.graph_module, True, True, True, exported.graph_signature
    ).verify_storage_reuse()
    _, own = export(name, MemoryPlanningPass())
    samples = [(torch.randn(NETWORKS[name][1]),) for _ in range(3)]
    outputs = run(made, folder / f"{name}_atoll.pte", samples)
    others = run(own, folder / f"{name}_own.pte", samples)
    expected = outputs if name == "counter" else [module(*sample) for sample in samples]
    pairs = list(zip(outputs, others, expected, strict=True))
    return {
        "atoll": sizes(made),
        "own": sizes(own),
        "equal": all(torch.equal(one, other) for one, other, _ in pairs),
        "right": all(torch.allclose(one, wanted, atol=1e-5) for one, _, wanted in pairs),
    }


def main(package: str, folder: str) -> None:
    """Try all networks; `package` has `memory_planning.py`."""
    sys.path.insert(0, package)
    planning = importlib.import_module("memory_planning")

    for name in NETWORKS:
        told = try_network(name, planning.memory_planning_pass(), Path(folder))
        print(json.dumps({"network": name, **told}), flush=True)


if __name__ == "__main__":
    logging.disable()
    main(*sys.argv[1:])
