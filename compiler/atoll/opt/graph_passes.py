"""Passes from graph to graph, and to a loop program: rewrites, placement, lowering."""

from functools import partial

from atoll.driver.compile import SPARE_STACK
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule
from atoll.lower.jobs import prepare_jobs
from atoll.lower.overlapping import OVERLAPPING
from atoll.lower.passes import PASSES as LOWERING
from atoll.lower.passes import Program as LoweredProgram
from atoll.opt.text_pass import Chip, Given, Kind, PassOption, TextPass, flag, words
from atoll.place.capabilities import runners, with_roundings
from atoll.place.copy_engines import assign_copies
from atoll.place.device_copies import insert_copies
from atoll.place.elide_copies import ElideCopies
from atoll.place.layouts import with_layouts
from atoll.place.plan_devices import plan_devices
from atoll.place.private_constants import with_private_constants
from atoll.place.views import with_views
from atoll.rewrite.edit import Given as Rewriting
from atoll.rewrite.passes import PASSES as REWRITES
from atoll.rewrite.passes import GraphPass
from atoll.rewrite.passes import verify as verify_rewriting

KEEP = PassOption(
    name="keep",
    default=(),
    read=words,
    help="operators and tensors that must stay, such as add_0+conv_2d_1_out",
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
    return plan_devices(graph, given.chip, **given.options).graph


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


_on_graph = partial(TextPass, takes=Kind.GRAPH, makes=Kind.GRAPH, chip=Chip.NEEDED)
_on_placed = partial(_on_graph, placed=True)

GRAPH_PASSES = (
    _on_graph(
        name="vela-subgraphs",
        summary="Let an Ethos-U run what Vela makes of a network",
        lacks="the model file, which Vela reads",
        stage=REWRITES[0].name,
    ),
    *map(_rewrite, REWRITES),
    _on_graph(
        name="plan-devices",
        summary="Choose a device for every operator, and do what the next five passes do",
        options=(
            PassOption(name="accelerators", default=True, read=flag, help="use them"),
            PassOption(name="spread", default=False, read=flag, help="weigh like cores together"),
            PassOption(name="unlike", default=False, read=flag, help="use any core that is faster"),
        ),
        run=_place,
    ),
    _on_placed(
        name="round-as-devices",
        summary="Let placed operators round as their devices do",
        run=lambda graph, given: with_roundings(graph, given.chip),
    ),
    _on_placed(
        name="change-layouts",
        summary="Give accelerators operands in the layouts that they want",
        run=lambda graph, given: with_layouts(graph, given.chip),
    ),
    _on_placed(
        name="private-constants",
        summary="Copy packed constants to the private memory of their accelerator",
        run=lambda graph, given: with_private_constants(graph, given.chip),
    ),
    _on_placed(
        name="insert-copies",
        summary="Copy each tensor that no pool in reach of all its devices can hold",
        run=lambda graph, given: insert_copies(graph, given.chip),
    ),
    _on_placed(
        name="elide-copies",
        summary="Drop copies over pools that both sides share, and second copies of a kind",
        run=lambda graph, given: ElideCopies(given.chip).run(graph),
    ),
    _on_placed(
        name="assign-copies",
        summary="Give copies of the host to DMA engines that can move them",
        run=lambda graph, given: assign_copies(graph, given.chip),
    ),
    _on_placed(
        name="make-views",
        summary="Make reshapes, rows and joins views of one tensor where one pool serves",
        run=lambda graph, given: with_views(graph, given.chip),
    ),
    _on_placed(
        name="stream-constants",
        summary="Copy constants ahead from slow memory",
        lacks="the choice of constants, which the search makes",
        stage="place",
    ),
    _on_placed(
        name="spread-operators",
        summary="Spread operators over several cores",
        lacks="the decisions of placement and what they cost",
        stage="place",
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
