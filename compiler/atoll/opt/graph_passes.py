# SPDX-License-Identifier: Apache-2.0
"""Passes from graph to graph, and to a loop program: rewrites, placement, lowering."""

from functools import partial

from atoll.driver.stages import SPARE_STACK
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule
from atoll.lower.jobs import prepare_jobs
from atoll.lower.overlapping import OVERLAPPING
from atoll.lower.passes import PASSES as LOWERING
from atoll.lower.passes import Program as LoweredProgram
from atoll.ops.registry import COPY, RELAYOUT
from atoll.opt.text_pass import Chip, Given, Kind, PassOption, TextPass, flag, words
from atoll.place.capabilities import runners
from atoll.place.constraints import ScopeLog
from atoll.place.decision import Decision, Why
from atoll.place.partition import assign, decide
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES, PlacePass, Placing
from atoll.place.pins import apply_pins
from atoll.place.plan_devices import plan_devices
from atoll.place.requests import check_requests
from atoll.place.spread import spread_operators
from atoll.rewrite.edit import Given as Rewriting
from atoll.rewrite.passes import PASSES as REWRITES
from atoll.rewrite.passes import GraphPass
from atoll.rewrite.passes import verify as verify_rewriting
from atoll.stream.choose import Chooser
from atoll.stream.streams import with_streams

_on_graph = partial(TextPass, takes=Kind.GRAPH, makes=Kind.GRAPH, chip=Chip.NEEDED)
_on_placed = partial(_on_graph, placed=True)

KEEP = PassOption(
    name="keep",
    default=(),
    read=words,
    help="operators and tensors that must stay, such as add_0+conv_2d_1_out",
)

WEIGHING = (
    PassOption(name="accelerators", default=True, read=flag, help="use them"),
    PassOption(name="spread", default=False, read=flag, help="weigh like cores together"),
    PassOption(name="unlike", default=False, read=flag, help="use any core that is faster"),
)


def _overlap(text: str) -> str:
    if text not in OVERLAPPING:
        raise ValueError(f"one of {', '.join(OVERLAPPING)}")
    return text


def _rewrite(each: GraphPass) -> TextPass:
    def run(graph: Graph, given: Given) -> Graph:
        soc = given.soc
        npus = soc.npus if soc else ()
        steps = (step for npu in npus for op in npu.spec.operators for step in op.pattern)
        rewriting = Rewriting(
            named=frozenset(given.options["keep"]),
            patterned=frozenset(step.kind for step in steps),
        )
        if soc:
            rewriting = Rewriting(
                named=rewriting.named,
                patterned=rewriting.patterned,
                runs=partial(runners, among=npus, soc=soc),
            )
        return each.run(graph, rewriting)

    assert each.run.__doc__
    return TextPass(
        name=each.name,
        summary=each.run.__doc__.splitlines()[0].rstrip("."),
        takes=Kind.GRAPH,
        makes=Kind.GRAPH,
        chip=Chip.OPTIONAL,
        options=(KEEP,),
        run=run,
        holds=verify_rewriting,
    )


def _place(graph: Graph, given: Given) -> Graph:
    return plan_devices(graph, given.chip, given.asked, **given.options).graph


def _lower(graph: Graph, given: Given) -> IRModule:
    overlapping = OVERLAPPING[given.options["overlap"]][0]
    program = LoweredProgram(
        soc=given.chip,
        graph=graph,
        jobs=prepare_jobs(graph, given.chip, overlapping.splits),
        overlapping=overlapping,
        spare=SPARE_STACK,
        module=IRModule(graph.name, (), Entry((), (), (), (), ())),
    )
    return LOWERING[0].run(program).module


def _assign_devices(graph: Graph, given: Given) -> Graph:
    requests = check_requests(given.asked, graph, given.chip)
    return assign(graph, decide(graph, given.chip, requests, **given.options))


def _apply_pins(graph: Graph, given: Given) -> Graph:
    requests = check_requests(given.asked, graph, given.chip)
    return apply_pins(graph, given.chip, requests, ScopeLog())


def _stream_constants(graph: Graph, given: Given) -> Graph:
    names = given.options["operators"]
    possible = (each.stream for each in Chooser(graph, given.chip, {}).possible)
    streams = [each for each in possible if not names or each.operator in names]
    return with_streams(graph, given.chip, streams)


def _spread_operators(graph: Graph, given: Given) -> Graph:
    decisions = tuple(
        Decision(operator=op.name, device=op.device, find=lambda: Why(reason=""))
        for op in graph.operators
        if op.kind not in (COPY, RELAYOUT) and op.name not in given.options["keep"]
    )
    return spread_operators(graph, given.chip, decisions)[0]


def _place_pass(each: PlacePass) -> TextPass:
    def run(graph: Graph, given: Given) -> Graph:
        return each.run(Placing(graph=graph, soc=given.chip, asked=given.asked)).graph

    if each.name == "assign-devices":
        return _on_graph(
            name=each.name,
            summary="Choose a device for each operator",
            options=WEIGHING,
            run=_assign_devices,
        )
    run = _apply_pins if each.name == "apply-pins" else run
    return _on_placed(name=each.name, summary=each.summary, run=run)


GRAPH_PASSES = (
    _on_graph(
        name="vela-subgraphs",
        summary="Let an Ethos-U run what Vela makes of a network",
        lacks="the model file for Vela",
        stage=REWRITES[0].name,
    ),
    *map(_rewrite, REWRITES),
    _on_graph(
        name="plan-devices",
        summary="Choose a device for each operator, and run the passes to elide-inserted-copies",
        options=WEIGHING,
        run=_place,
    ),
    *map(_place_pass, (*DEVICE_PASSES, *STORAGE_PASSES)),
    _on_placed(
        name="stream-constants",
        summary="Copy constants ahead from slow memory",
        options=(
            PassOption(
                name="operators",
                default=(),
                read=words,
                help="whose constants, such as conv_2d_0+conv_2d_1; all that can be if none is",
            ),
        ),
        run=_stream_constants,
    ),
    _on_placed(
        name="spread-operators",
        summary="Spread operators over several cores",
        options=(
            PassOption(
                name="keep",
                default=(),
                read=words,
                help="operators that stay on one core, such as add_0+conv_2d_1",
            ),
        ),
        run=_spread_operators,
    ),
    TextPass(
        name="lower",
        summary="Make loop programs and runs of jobs of placed operators",
        takes=Kind.GRAPH,
        makes=Kind.MODULE,
        chip=Chip.NEEDED,
        placed=True,
        options=(
            PassOption(
                name="overlap",
                default="free",
                read=_overlap,
                help="results over operands: none, free, all",
            ),
        ),
        run=_lower,
    ),
)
