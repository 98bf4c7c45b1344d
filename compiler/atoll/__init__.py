# SPDX-License-Identifier: Apache-2.0
"""Atoll: describe a heterogeneous SoC once, derive its compiler, BSP and simulation.

Public are the names in `__all__`, those in `atoll.extend.__all__` for packages that extend Atoll,
and those in `atoll_sim.extend.__all__` for accelerators and core models. All else is private and
may change with any release.
"""

from typing import TYPE_CHECKING

from atoll.utils.lazy import lazily
from atoll.version import __version__ as __version__

if TYPE_CHECKING:
    from atoll.api.builds import Build, build
    from atoll.api.chips import Soc, SocCheck, SocTables, load_soc
    from atoll.api.compilation import Compilation, CompiledNetwork, compile
    from atoll.api.estimates import (
        Estimate,
        MemoryTraffic,
        NetworkEstimate,
        OperatorEstimate,
        estimate,
    )
    from atoll.api.explanations import Explanation
    from atoll.api.interface import Interface, PoolShare, Port, ProvidedPool
    from atoll.api.networks import Network, load_network
    from atoll.api.plans import InstancePlan, PlacedBuffer, PoolUse, plan_instance
    from atoll.api.requests import Requests
    from atoll.api.runs import NetworkRun, Run
    from atoll.api.simulation import Validation, run, simulate, validate
    from atoll.diagnostics.errors import (
        AtollError,
        DescriptionError,
        Fault,
        ModelError,
        PlacementError,
        PlanError,
        SimulationError,
        SourceLoc,
        ToolchainError,
        UsageError,
    )
    from atoll.ir.graph import Graph, Operator, Quantization, Tensor
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "AtollError": "atoll.diagnostics.errors",
            "Build": "atoll.api.builds",
            "Compilation": "atoll.api.compilation",
            "CompiledNetwork": "atoll.api.compilation",
            "DescriptionError": "atoll.diagnostics.errors",
            "Estimate": "atoll.api.estimates",
            "Explanation": "atoll.api.explanations",
            "Fault": "atoll.diagnostics.errors",
            "Graph": "atoll.ir.graph",
            "InstancePlan": "atoll.api.plans",
            "Interface": "atoll.api.interface",
            "MemoryTraffic": "atoll.api.estimates",
            "ModelError": "atoll.diagnostics.errors",
            "Network": "atoll.api.networks",
            "NetworkEstimate": "atoll.api.estimates",
            "NetworkRun": "atoll.api.runs",
            "Operator": "atoll.ir.graph",
            "OperatorEstimate": "atoll.api.estimates",
            "PlacedBuffer": "atoll.api.plans",
            "PlacementError": "atoll.diagnostics.errors",
            "PlanError": "atoll.diagnostics.errors",
            "PoolShare": "atoll.api.interface",
            "PoolUse": "atoll.api.plans",
            "Port": "atoll.api.interface",
            "ProvidedPool": "atoll.api.interface",
            "Quantization": "atoll.ir.graph",
            "Requests": "atoll.api.requests",
            "Run": "atoll.api.runs",
            "SimulationError": "atoll.diagnostics.errors",
            "Soc": "atoll.api.chips",
            "SocCheck": "atoll.api.chips",
            "SocTables": "atoll.api.chips",
            "SourceLoc": "atoll.diagnostics.errors",
            "Tensor": "atoll.ir.graph",
            "ToolchainError": "atoll.diagnostics.errors",
            "UsageError": "atoll.diagnostics.errors",
            "Validation": "atoll.api.simulation",
            "build": "atoll.api.builds",
            "compile": "atoll.api.compilation",
            "estimate": "atoll.api.estimates",
            "load_network": "atoll.api.networks",
            "load_soc": "atoll.api.chips",
            "plan_instance": "atoll.api.plans",
            "run": "atoll.api.simulation",
            "simulate": "atoll.api.simulation",
            "validate": "atoll.api.simulation",
        },
    )

__all__ = [
    "AtollError",
    "Build",
    "Compilation",
    "CompiledNetwork",
    "DescriptionError",
    "Estimate",
    "Explanation",
    "Fault",
    "Graph",
    "InstancePlan",
    "Interface",
    "MemoryTraffic",
    "ModelError",
    "Network",
    "NetworkEstimate",
    "NetworkRun",
    "Operator",
    "OperatorEstimate",
    "PlacedBuffer",
    "PlacementError",
    "PlanError",
    "PoolShare",
    "PoolUse",
    "Port",
    "ProvidedPool",
    "Quantization",
    "Requests",
    "Run",
    "SimulationError",
    "Soc",
    "SocCheck",
    "SocTables",
    "SourceLoc",
    "Tensor",
    "ToolchainError",
    "UsageError",
    "Validation",
    "build",
    "compile",
    "estimate",
    "load_network",
    "load_soc",
    "plan_instance",
    "run",
    "simulate",
    "validate",
]
