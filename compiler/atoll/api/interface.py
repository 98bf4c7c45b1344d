# SPDX-License-Identifier: Apache-2.0
"""What an application must know of a compiled network."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from atoll.api.notebook import Row, html_table
from atoll.bsp.interface import ModelInterface
from atoll.bsp.interface import Port as LinkedPort
from atoll.memory.problem import MemoryPlan
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A tensor that crosses the interface, in its planned buffer.

    Attributes:
        address: as the host sees it.
        scale: a number n stands for scale * (n - zero_point); None if it stands for itself.
    """

    name: str
    pool: str
    address: int
    size_bytes: int
    dtype: str
    shape: tuple[int, ...]
    scale: float | None
    zero_point: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """Bytes of one pool that a network takes: up to its highest workspace, or constant.

    Attributes:
        first_address: of the network's bytes, on the system bus.
    """

    pool: str
    first_address: int
    workspace_bytes: int
    constants_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedPool:
    """A pool whose bytes the application defines."""

    pool: str
    size_bytes: int
    alignment_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """What an application must know of a compiled network.

    Attributes:
        name: prefix of every C name; the host's object defines ``<name>_run``.
        inputs: in the order of the network.
        outputs: likewise.
        states: what it keeps from run to run.
        shares: what it takes of each pool that it uses.
        provided_pools: those that the application defines for workspaces.
        provided_constants: those that the application defines for constants.
        run_parameters: the structs that the run function takes.
        devices: accelerators and other cores that it runs.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[Port, ...]
    shares: tuple[PoolShare, ...]
    provided_pools: tuple[ProvidedPool, ...]
    provided_constants: tuple[ProvidedPool, ...]
    run_parameters: tuple[str, ...]
    devices: tuple[str, ...]

    def rows(self) -> list[Row]:
        """Return inputs, outputs and states."""
        ports = {"input": self.inputs, "output": self.outputs, "state": self.states}
        return [{"side": side, **asdict(port)} for side, each in ports.items() for port in each]

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_table(f"{self.name}: inputs and outputs", self.rows())


def interface_from(made: ModelInterface, plan: MemoryPlan) -> Interface:
    """Return an interface as callers see it."""
    origins = {space.name: space.origin for space in plan.problem.pools}
    return Interface(
        name=made.name,
        inputs=_ports(made.inputs, plan),
        outputs=_ports(made.outputs, plan),
        states=_ports(made.states, plan),
        shares=tuple(
            PoolShare(
                pool=each.pool,
                first_address=origins[each.pool],
                workspace_bytes=each.workspace,
                constants_bytes=each.constants,
            )
            for each in made.shares
        ),
        provided_pools=tuple(
            ProvidedPool(pool=each.pool, size_bytes=each.size, alignment_bytes=each.alignment)
            for each in made.pools
        ),
        provided_constants=tuple(
            ProvidedPool(pool=each.pool, size_bytes=each.size, alignment_bytes=each.alignment)
            for each in made.constants
        ),
        run_parameters=made.parameters,
        devices=made.devices,
    )


def _ports(ports: Iterable[LinkedPort], plan: MemoryPlan) -> tuple[Port, ...]:
    return tuple(
        Port(
            name=each.name,
            pool=plan.placements[each.name].pool,
            address=each.address,
            size_bytes=each.size,
            dtype=each.dtype,
            shape=each.shape,
            scale=each.scale,
            zero_point=each.zero_point,
        )
        for each in ports
    )
