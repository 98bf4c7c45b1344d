# SPDX-License-Identifier: Apache-2.0
"""Run passes over a graph or a loop program."""

from collections.abc import Iterable

from atoll.description.build import BuildRequests
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.opt.passes import Requested
from atoll.opt.read_program import verify_program
from atoll.opt.text_pass import Given, Kind, Program
from atoll.resolve.soc import ResolvedSoc


def run_passes(
    program: Program,
    passes: Iterable[Requested],
    soc: ResolvedSoc | None,
    asked: BuildRequests | None = None,
    *,
    verified: bool = True,
) -> Program:
    """Run passes in their order, and verify the result of each.

    Raises:
        UsageError: E199; a pass takes no such program.
        AtollError: E078, a result is not well-formed; those of the passes.
    """
    for requested in passes:
        each, before = requested.each, program
        kind = Kind.MODULE if isinstance(program, IRModule) else Kind.GRAPH
        if each.takes is not kind:
            raise UsageError(
                "E199",
                f"pass '{each.name}' takes a {each.takes}, and there is a {kind}",
                remedy="run '--pass lower' with '--soc' before it"
                if kind is Kind.GRAPH
                else "give it the text of a graph, ahead of 'lower'",
            )
        if each.placed and isinstance(program, Graph):
            _require_placed(program, each.name)
        assert each.run is not None
        given = Given(soc=soc, asked=asked or BuildRequests(), options=requested.options)
        program = each.run(program, given)
        if verified and program is not before:
            verify_program(program, soc)
            each.holds(before, program)
    return program


def _require_placed(graph: Graph, name: str) -> None:
    for op in graph.operators:
        if not op.device:
            what = f"pass '{name}' takes a placed graph, and operator '{op.name}' has no device"
            raise UsageError("E199", what, remedy="run '--pass plan-devices' before it")


def require_chip(program: Program, soc: ResolvedSoc) -> None:
    """Refuse a program that is on devices or in pools of another chip.

    Raises:
        UsageError: E199.
    """
    if isinstance(program, Graph):
        devices = {name for op in program.operators for name in op.devices if name}
        pools = {name for tensor in program.tensors for name in tensor.pools}
    else:
        steps = program.entry.steps
        devices = {name for step in steps for name in (*step.masters, step.runner)}
        entry = program.entry
        pools = {name for each in entry.allocations for name in each.pools}
        pools |= {name for each in entry.constants for name in each.pools}
    for what, names, known in (
        ("device", devices, {device.name for device in soc.devices}),
        ("pool", pools, {pool.name for pool in soc.pools}),
    ):
        if strange := sorted(names - known):
            raise UsageError(
                "E199",
                f"the text names {what} '{strange[0]}', which the chip '{soc.name}' lacks",
                remedy="give its own chip with '--soc', or write one of "
                + ", ".join(sorted(known)),
            )
