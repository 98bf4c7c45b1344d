# SPDX-License-Identifier: Apache-2.0
"""A planned program with its cache maintenance and its commands, accepted by the checks."""

from collections.abc import Mapping

from atoll.contract.cache_maintenance import maintain_caches
from atoll.contract.command_check import check_commands
from atoll.contract.contract import Contract, contract_of
from atoll.contract.maintenance_check import check_maintenance
from atoll.contract.npu_check import check_streams
from atoll.contract.program_check import check_program
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import ResolvedSoc


def accept(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> IRModule:
    """Return `module` with what cores do to their data caches.

    Raises:
        PlanError: E063, some value is overwritten before its last reader; E108, a device may find
            old bytes.
    """
    check_program(module, plan, mapped_inputs=soc.interface.map_inputs)
    module = maintain_caches(module, plan, soc)
    check_maintenance(module, plan, soc)
    return module


def agree(
    module: IRModule,
    plan: MemoryPlan,
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, bytes],
) -> Contract:
    """Return the contract of a program, to which its `commands` keep, by list and not padded.

    Raises:
        PlanError: E121, E122; an address in a command is none of what its operator touches. E171;
            the stream of an Ethos-U touches other bytes.
    """
    contract = contract_of(module, plan, graph, soc)
    check_commands(module, contract, commands, soc)
    check_streams(module, contract, commands, graph, soc)
    return contract
