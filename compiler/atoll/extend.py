# SPDX-License-Identifier: Apache-2.0
"""What packages that extend Atoll import: operators, front ends, planners, emitters, engines.

docs/extending.md and docs/accelerators.md say what each extension gets and returns.
"""

from typing import TYPE_CHECKING

from atoll.utils.lazy import lazily

if TYPE_CHECKING:
    from atoll.bsp.interface import ModelInterface
    from atoll.driver.candidate import Candidate, Infeasible
    from atoll.driver.search import Search
    from atoll.driver.stripes import in_stripes
    from atoll.frontend.front_end import FrontEnd
    from atoll.ir.busy import Bound, Busy
    from atoll.ir.expressions import add, binary, multiply, select, subtract
    from atoll.ir.graph import Graph, Operator, Quantization, Tensor
    from atoll.ir.job import Job
    from atoll.ir.safe_overlap import SafeOverlap
    from atoll.ir.tir import Execute, Expr, Lowered, Operation, Type, Word
    from atoll.isa.function_unit import Instruction
    from atoll.lower.accelerator import CommandEmitter
    from atoll.memory.build_plan import build_plan
    from atoll.memory.conflicts import conflict_graph
    from atoll.memory.effort import Meter
    from atoll.memory.problem import Answer, Problem
    from atoll.ops import checks
    from atoll.ops.in_c import InC
    from atoll.ops.kernel_builder import KernelBuilder
    from atoll.ops.kind import Array, OperatorKind
    from atoll.ops.loops.channel_loops import ChannelSums
    from atoll.ops.quantization import activation_range
    from atoll.ops.registry import kind_of
    from atoll.ops.tflite_form import TfliteForm
    from atoll.resolve.soc import Engine, ResolvedSoc
    from atoll.soc_checks import Findings
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Answer": "atoll.memory.problem",
            "Array": "atoll.ops.kind",
            "Bound": "atoll.ir.busy",
            "Busy": "atoll.ir.busy",
            "Candidate": "atoll.driver.candidate",
            "ChannelSums": "atoll.ops.loops.channel_loops",
            "CommandEmitter": "atoll.lower.accelerator",
            "Engine": "atoll.resolve.soc",
            "Execute": "atoll.ir.tir",
            "Expr": "atoll.ir.tir",
            "Findings": "atoll.soc_checks",
            "FrontEnd": "atoll.frontend.front_end",
            "Graph": "atoll.ir.graph",
            "InC": "atoll.ops.in_c",
            "Infeasible": "atoll.driver.candidate",
            "Instruction": "atoll.isa.function_unit",
            "Job": "atoll.ir.job",
            "KernelBuilder": "atoll.ops.kernel_builder",
            "Lowered": "atoll.ir.tir",
            "Meter": "atoll.memory.effort",
            "ModelInterface": "atoll.bsp.interface",
            "Operation": "atoll.ir.tir",
            "Operator": "atoll.ir.graph",
            "OperatorKind": "atoll.ops.kind",
            "Problem": "atoll.memory.problem",
            "Quantization": "atoll.ir.graph",
            "ResolvedSoc": "atoll.resolve.soc",
            "SafeOverlap": "atoll.ir.safe_overlap",
            "Search": "atoll.driver.search",
            "Tensor": "atoll.ir.graph",
            "TfliteForm": "atoll.ops.tflite_form",
            "Type": "atoll.ir.tir",
            "Word": "atoll.ir.tir",
            "activation_range": "atoll.ops.quantization",
            "add": "atoll.ir.expressions",
            "binary": "atoll.ir.expressions",
            "build_plan": "atoll.memory.build_plan",
            "checks": "atoll.ops",
            "conflict_graph": "atoll.memory.conflicts",
            "in_stripes": "atoll.driver.stripes",
            "kind_of": "atoll.ops.registry",
            "multiply": "atoll.ir.expressions",
            "select": "atoll.ir.expressions",
            "subtract": "atoll.ir.expressions",
        },
    )

__all__ = [
    "Answer",
    "Array",
    "Bound",
    "Busy",
    "Candidate",
    "ChannelSums",
    "CommandEmitter",
    "Engine",
    "Execute",
    "Expr",
    "Findings",
    "FrontEnd",
    "Graph",
    "InC",
    "Infeasible",
    "Instruction",
    "Job",
    "KernelBuilder",
    "Lowered",
    "Meter",
    "ModelInterface",
    "Operation",
    "Operator",
    "OperatorKind",
    "Problem",
    "Quantization",
    "ResolvedSoc",
    "SafeOverlap",
    "Search",
    "Tensor",
    "TfliteForm",
    "Type",
    "Word",
    "activation_range",
    "add",
    "binary",
    "build_plan",
    "checks",
    "conflict_graph",
    "in_stripes",
    "kind_of",
    "multiply",
    "select",
    "subtract",
]
