"""A planned program with its cache maintenance, accepted by the checks."""

from atoll.contract.cache_maintenance import maintained
from atoll.contract.maintenance_check import check_maintenance
from atoll.contract.program_check import check_program
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import ResolvedSoc


def accepted(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> IRModule:
    """Return `module` with what cores do to their data caches.

    Raises:
        PlanError: E063, some value is overwritten before its last reader; E108, a device may find
            old bytes.
    """
    check_program(module, plan, mapped_inputs=soc.interface.map_inputs)
    module = maintained(module, plan, soc)
    check_maintenance(module, plan, soc)
    return module
