# SPDX-License-Identifier: Apache-2.0
"""What each command prints with `--json`, as JSON Schemas.

Numbers are raw; keys end in the unit, and what is below a key `cycles` is in cycles. Addresses are
numbers of bytes from 0. A key that is not here is not printed.
"""

from collections.abc import Mapping

from atoll.report.accuracy_schema import ACCURACY
from atoll.report.estimate_schema import ESTIMATE, ESTIMATED_NETWORK
from atoll.report.explain_schema import ACCESS, CANDIDATES, EXPLAINED, STEPS
from atoll.report.image_schema import CHECK_IMAGE
from atoll.report.json_shapes import (
    BASIS,
    COUNT,
    FAULT,
    FLAG,
    NUMBER,
    RATIO,
    SECONDS,
    TEXT,
    TEXT_OR_NUMBER,
    Shape,
    choice,
    each,
    mapping_of,
    maybe,
    object_of,
    one_or_more,
)
from atoll.report.validate_schema import validation_shape

_DEVICE = object_of(
    **dict.fromkeys(("device", "kind", "is", "note"), TEXT),
    **dict.fromkeys(("type", "id", "ordinal", "clock_hz"), COUNT),
    loader=choice("xip", "copy", "host", "external", "none"),
)
_SPAN = dict.fromkeys(("first_address", "last_address", "size_bytes"), COUNT)
_MEMORY = object_of(
    memory=TEXT,
    kind=TEXT,
    **_SPAN,
    **dict.fromkeys(("width_bytes_per_cycle", "banks", "read_latency_cycles"), COUNT),
)
_ALIAS = object_of(
    **_SPAN, **dict.fromkeys(("alias", "memory", "cached", "regions"), TEXT), byte=COUNT
)
_POOL = object_of(
    pool=TEXT, role=TEXT, memory=TEXT, **_SPAN, alignment_bytes=COUNT, preference=NUMBER
)
_SUMMARY: Mapping[str, Shape] = {
    **dict.fromkeys(("soc", "host", "default_device"), TEXT),
    "devices": each(_DEVICE),
    "memories": each(_MEMORY),
    "aliases": each(_ALIAS),
    "views": each(object_of(what=TEXT, device=TEXT, first_address=COUNT, last_address=COUNT)),
    "pools": each(_POOL),
}
CHECK = object_of(
    **_SUMMARY,
    notes=each(TEXT),
    players=maybe(
        each(object_of(cpu=TEXT, plays=maybe(FLAG), why_not=each(FAULT), not_known=TEXT, note=TEXT))
    ),
    not_checked=each(TEXT),
)

_SPEED = object_of(
    pool=TEXT,
    **dict.fromkeys(("read_bytes_per_cycle", "write_bytes_per_cycle", "latency_cycles"), COUNT),
    burst_bytes=maybe(COUNT),
    clock_hz=COUNT,
)
_PROTECTION = object_of(
    **dict.fromkeys(("device", "unit", "form", "what"), TEXT),
    **dict.fromkeys(("entry", "first_address", "last_address"), COUNT),
    access=choice("ro", "rw", "rx", "none"),
)
_CHIP = object_of(
    **_SUMMARY,
    protection=each(_PROTECTION),
    targets=each(object_of(device=TEXT, target=TEXT, made_by=TEXT, abi=TEXT)),
    speeds=each(_SPEED),
    scopes=each(object_of(device=TEXT, scope=TEXT)),
    address_map=each(object_of(**_SPAN, what=TEXT, kind=TEXT)),
    reach=each(object_of(pool=TEXT, access=mapping_of(ACCESS))),
    reach_layers=each(object_of(pool=TEXT, device=TEXT, access=ACCESS, set_by=TEXT)),
    stacks=each(object_of(device=TEXT, limit=TEXT, size_bytes=COUNT, set_by=TEXT)),
    accelerators=each(
        object_of(device=TEXT, accelerator=TEXT, parameters=mapping_of(NUMBER), runs=each(TEXT))
    ),
    layers=each(object_of(key=TEXT, layer=TEXT)),
)
EXPLAIN: Shape = {"anyOf": [_CHIP, one_or_more(EXPLAINED), one_or_more(CANDIDATES)]}

_FIGURES = dict.fromkeys(("size_bytes", "used_bytes", "peak_bytes", "bound_bytes"), COUNT)
_PLACED = object_of(
    pool=TEXT,
    **dict.fromkeys(("offset_bytes", "address", "size_bytes", "alignment_bytes"), COUNT),
    live_steps=STEPS,
    candidates=each(TEXT),
)
_PLAN: Mapping[str, Shape] = {
    "cost": COUNT,
    "gap_bytes": COUNT,
    "optimal": FLAG,
    "pools": mapping_of(object_of(origin=COUNT, **{**_FIGURES, "size_bytes": maybe(COUNT)})),
    "buffers": mapping_of(_PLACED),
}
_OF_A_NETWORK: Mapping[str, Shape] = {
    **dict.fromkeys(("soc", "model", "model_sha256"), TEXT),
    "notes": each(TEXT),
    **_PLAN,
}
_TOGETHER = object_of(**_OF_A_NETWORK, together_bytes=mapping_of(COUNT))
_PROGRAM = object_of(
    soc=TEXT,
    program=TEXT,
    methods=each(
        object_of(
            method=TEXT,
            tensors=COUNT,
            buffers=each(object_of(pool=TEXT, used_bytes=COUNT, size_bytes=COUNT)),
        )
    ),
    not_checked=each(TEXT),
)
PLAN: Shape = {
    "anyOf": [
        _PROGRAM,
        {**each(_PROGRAM), "minItems": 2},
        object_of(instance=TEXT, **_PLAN),
        object_of(**_OF_A_NETWORK),
        {**each(_TOGETHER), "minItems": 2},
    ]
}

_IMAGE = object_of(
    **dict.fromkeys(("core", "elf", "map", "toolchain"), TEXT),
    regions=each(object_of(region=TEXT, used_bytes=COUNT, size_bytes=COUNT)),
    stack_bytes=COUNT,
    targets=mapping_of(object_of(stack_bytes=maybe(COUNT))),
)
_OBJECT = object_of(
    **dict.fromkeys(("file", "network", "core", "isa", "abi"), TEXT),
    size_bytes=COUNT,
    defines=each(TEXT),
    needs=each(TEXT),
    sections=each(
        object_of(
            section=TEXT,
            pool=TEXT,
            **dict.fromkeys(("address", "size_bytes", "alignment_bytes"), COUNT),
        )
    ),
    targets=each(
        object_of(
            **dict.fromkeys(("target", "made_by", "abi"), TEXT),
            kernels=each(TEXT),
            size_bytes=COUNT,
        )
    ),
)
_FOLDER: Mapping[str, Shape] = {
    "folder": TEXT,
    "soc": TEXT,
    "models": each(TEXT),
    "notes": each(TEXT),
}
BUILD: Shape = {
    "anyOf": [
        object_of(**_FOLDER, images=each(_IMAGE)),
        object_of(**_FOLDER, objects=each(_OBJECT)),
    ]
}

_MISMATCH = object_of(
    **dict.fromkeys(("sample", "first_element", "differing_elements"), COUNT),
    **dict.fromkeys(("number", "tensor", "operator", "device"), TEXT),
    expected=NUMBER,
    actual=maybe(NUMBER),
)
_VIOLATION = object_of(
    **dict.fromkeys(("rule", "number", "device", "operator", "buffer", "pool"), TEXT),
    **dict.fromkeys(("detail", "key", "at", "remedy"), TEXT),
    offset_bytes=NUMBER,
    **dict.fromkeys(("address", "size_bytes", "count"), COUNT),
    cycle=maybe(COUNT),
)
_LAYER = object_of(
    **dict.fromkeys(("operator", "kind", "device"), TEXT),
    **dict.fromkeys(("begin", "end", "cycles", "worked", "device_cycles"), maybe(COUNT)),
    **dict.fromkeys(("time_ns", "instructions"), maybe(COUNT)),
    **dict.fromkeys(("estimate", "clock_hz"), COUNT),
    basis=BASIS,
    helpers=mapping_of(COUNT),
    memories=maybe(each(object_of(memory=TEXT, read_bytes=COUNT, written_bytes=COUNT))),
)
_CYCLES = object_of(
    **dict.fromkeys(("total", "cpu", "dsp", "npu", "dma", "working"), maybe(COUNT)),
    **dict.fromkeys(("at_once", "overlapped", "total_ns"), maybe(COUNT)),
    clock_hz=COUNT,
    by_device=mapping_of(COUNT),
    by_layer=each(_LAYER),
    by_sample=each(
        object_of(
            **dict.fromkeys(("sample", "begin", "end"), COUNT),
            by_layer=each(
                object_of(
                    **dict.fromkeys(("operator", "device"), TEXT),
                    **dict.fromkeys(("begin", "end", "worked"), COUNT),
                    helpers=mapping_of(COUNT),
                )
            ),
        )
    ),
    interrupts=maybe(
        each(
            object_of(
                **dict.fromkeys(("source", "core"), TEXT),
                line=maybe(COUNT),
                raised=COUNT,
                pulses=each(object_of(rise=COUNT, fall=maybe(COUNT))),
            )
        )
    ),
)
_STACK = object_of(
    bound_bytes=maybe(COUNT),
    watermark_bytes=maybe(COUNT),
    limit_bytes=COUNT,
    layer=TEXT,
    unmeasured=TEXT,
)
_ORACLE = object_of(
    oracle=TEXT,
    passed=FLAG,
    limit_steps=COUNT,
    elements_by_steps=mapping_of(COUNT),
    furthest_steps=mapping_of(COUNT),
)
_REPORT: Mapping[str, Shape] = dict(
    **dict.fromkeys(("soc", "model", "model_sha256", "cpu", "accelerator", "reference"), TEXT),
    oracle=maybe(_ORACLE),
    **dict.fromkeys(("samples", "layers_compared", "layers_equal"), COUNT),
    bit_exact=FLAG,
    mismatches=each(_MISMATCH),
    placement=object_of(accesses=COUNT, violations=each(_VIOLATION)),
    stack=mapping_of(_STACK),
    pools=mapping_of(object_of(**_FIGURES)),
    touched=maybe(
        each(
            object_of(
                pool=TEXT,
                **dict.fromkeys(("first_address", "size_bytes"), COUNT),
                **dict.fromkeys(("read_bytes", "written_bytes"), maybe(COUNT)),
            )
        )
    ),
    cycles=_CYCLES,
    wall_seconds=mapping_of(SECONDS),
    notes=each(TEXT),
    not_modelled=each(TEXT),
    start_seed=maybe(COUNT),
    relinked=maybe(object_of(machine=TEXT, core=TEXT, without=each(TEXT))),
)
_RUN = object_of(**_REPORT, dataset=maybe(ACCURACY))
RUN = one_or_more(_RUN)
_BESIDE = object_of(
    network=TEXT,
    **dict.fromkeys(("samples", "layers_compared", "layers_equal", "accesses"), COUNT),
    mismatches=each(_MISMATCH),
    violations=each(_VIOLATION),
    total_cycles=maybe(COUNT),
    notes=each(TEXT),
)
_BENCH = object_of(
    bench=TEXT,
    passed=FLAG,
    tests=each(
        object_of(
            test=TEXT,
            passed=FLAG,
            skipped=FLAG,
            message=TEXT,
            networks=maybe(each(_BESIDE)),
        )
    ),
)
SIMULATE: Shape = {"anyOf": [_RUN, {**each(_RUN), "minItems": 2}, _BENCH]}

OPERATORS = object_of(
    soc=maybe(TEXT),
    operators=each(
        object_of(
            **dict.fromkeys(("operator", "kind", "accepts"), TEXT),
            devices=mapping_of(mapping_of(object_of(min=maybe(NUMBER), max=maybe(NUMBER)))),
        )
    ),
)

EXPORT_RTL = object_of(
    **dict.fromkeys(("soc", "folder", "top"), TEXT),
    sources=COUNT,
    clocks=mapping_of(COUNT),
    networks=each(TEXT),
)
PROOF = object_of(
    soc=TEXT,
    passed=FLAG,
    devices=each(
        object_of(
            device=TEXT,
            proven=maybe(FLAG),
            processor_seconds=SECONDS,
            grants=each(
                object_of(
                    name=TEXT,
                    first_address=COUNT,
                    last_address=COUNT,
                    access=choice("ro", "rw"),
                )
            ),
            broken=maybe(
                object_of(
                    rule=TEXT,
                    first_address=COUNT,
                    size_bytes=COUNT,
                    access=choice("read", "write"),
                    cycle=COUNT,
                )
            ),
        )
    ),
)
DOCTOR = object_of(
    ok=FLAG,
    checks=each(object_of(name=TEXT, ok=FLAG, found=TEXT, remedy=TEXT, required=FLAG)),
)
CORE = object_of(
    **dict.fromkeys(("core", "isa", "module"), TEXT),
    passed=FLAG,
    checks=each(object_of(check=TEXT, waits=TEXT, cycles=COUNT, faults=each(TEXT))),
    notes=each(TEXT),
)
_FIT = ("factor_percent", "offset_cycles", "off_percent_median")
_SHARES = object_of(low=NUMBER, high=NUMBER)
_TIMINGS = each(
    object_of(
        operator=TEXT,
        **dict.fromkeys(_FIT, maybe(NUMBER)),
        band=maybe(_SHARES),
        measured=each(object_of(formula_cycles=COUNT, cycles=COUNT)),
    )
)
_TIMING = object_of(
    source=TEXT,
    params=mapping_of(NUMBER),
    operators=mapping_of(object_of(factor=NUMBER, offset=NUMBER, band=_SHARES)),
)
_MEASURED = object_of(
    accelerator=TEXT, timings=_TIMINGS, timing=maybe(_TIMING), wrote=TEXT, left_out=each(TEXT)
)
_TRIED = object_of(
    accelerator=TEXT,
    **dict.fromkeys(("rtl", "passed"), FLAG),
    checks=each(object_of(check=TEXT, tried=COUNT, faults=each(TEXT), wall_ns=COUNT)),
    coverage=each(
        object_of(
            **dict.fromkeys(("operator", "feature"), TEXT),
            **dict.fromkeys(("least", "most"), COUNT),
            **dict.fromkeys(("min", "max"), maybe(COUNT)),
        )
    ),
    timings=_TIMINGS,
    left_out=each(TEXT),
    notes=each(TEXT),
)
ACCELERATOR: Shape = {"anyOf": [_TRIED, _MEASURED]}
WROTE = object_of(wrote=each(TEXT))
IMPORT = object_of(
    wrote=each(TEXT),
    questions=each(
        object_of(**dict.fromkeys(("key", "asks", "example"), TEXT), line=COUNT, answers=each(TEXT))
    ),
    left_out=each(object_of(**dict.fromkeys(("what", "why", "file"), TEXT), line=COUNT)),
)
DIFF = object_of(
    changes=each(
        object_of(
            **dict.fromkeys(("kind", "name", "key", "text"), TEXT),
            **dict.fromkeys(("before", "after"), maybe(TEXT_OR_NUMBER)),
        )
    )
)
BSP = object_of(
    **dict.fromkeys(("folder", "soc"), TEXT),
    **dict.fromkeys(("written", "same", "kept", "removed"), each(TEXT)),
)

SELFTEST = object_of(
    chip=TEXT,
    **dict.fromkeys(("tests", "passed"), COUNT),
    missing=each(COUNT),
    lost=maybe(each(COUNT)),
    findings=each(object_of(message=TEXT, devices=each(TEXT), places=each(TEXT), at=maybe(TEXT))),
    results=each(
        object_of(
            number=COUNT,
            **dict.fromkeys(("kind", "device", "expect", "found"), TEXT),
            place=maybe(TEXT),
        )
    ),
)

_SIMULATED_IMAGE = object_of(
    **dict.fromkeys(("soc", "cpu", "stop", "text"), TEXT),
    status=maybe(NUMBER),
    cycles=COUNT,
    seconds=NUMBER,
    not_modelled=each(TEXT),
)
RUN_IMAGE: Shape = {"anyOf": [_SIMULATED_IMAGE, RUN]}

OPT: Shape = {
    "anyOf": [
        object_of(kind=choice("graph", "module"), passes=each(TEXT), text=TEXT),
        object_of(
            passes=each(
                object_of(
                    **dict.fromkeys(("name", "summary", "lacks"), TEXT),
                    **dict.fromkeys(("takes", "makes"), choice("graph", "module")),
                    chip=choice("none", "optional", "needed"),
                    options=each(object_of(**dict.fromkeys(("name", "help"), TEXT), required=FLAG)),
                )
            )
        ),
    ]
}

_VALIDATION = validation_shape(object_of(**_REPORT))

_TRIED = object_of(
    **dict.fromkeys(("model", "operator", "device", "bound", "what", "why_not"), TEXT),
    changes=mapping_of(TEXT_OR_NUMBER),
    **dict.fromkeys(("operator_ns", "total_ns"), COUNT),
    **dict.fromkeys(("operator_then_ns", "total_then_ns"), maybe(COUNT)),
)
SWEEP = object_of(
    **dict.fromkeys(("sweep",), TEXT),
    folder=maybe(TEXT),
    **dict.fromkeys(("space_points", "computed_points"), COUNT),
    finished=FLAG,
    failures=mapping_of(COUNT),
    objectives=each(TEXT),
    front=each(
        object_of(
            **dict.fromkeys(("point", "cycles", "ram_bytes", "rom_bytes"), COUNT),
            **dict.fromkeys(("cycles_low", "cycles_high", "energy_pj", "area_um2"), maybe(COUNT)),
            **dict.fromkeys(("logic_um2", "logic_um2_low", "logic_um2_high"), maybe(COUNT)),
            **dict.fromkeys(("sram_bytes",), maybe(COUNT)),
            **dict.fromkeys(("logic_basis", "energy_basis", "area_basis"), maybe(TEXT)),
            time_us=RATIO,
            basis=TEXT,
            axes=mapping_of(TEXT),
            objectives=mapping_of({"type": "number"}),
            alike_points=COUNT,
            stages=mapping_of(mapping_of(maybe(COUNT))),
        )
    ),
    axes=mapping_of(each(TEXT)),
    drawn=each(
        object_of(
            point=COUNT,
            values=each(COUNT),
            objectives=mapping_of({"type": "number"}),
            front=FLAG,
        )
    ),
    sensitivity=each(object_of(axis=TEXT, shares=mapping_of(maybe(RATIO)))),
)
_DOCUMENTS: Mapping[str, Shape] = {
    "chip": maybe(_CHIP),
    "check": maybe(CHECK),
    "plan": each({"anyOf": [object_of(**_OF_A_NETWORK), _TOGETHER]}),
    "explanation": each(EXPLAINED),
    "candidates": each(CANDIDATES),
    "estimate": each(ESTIMATED_NETWORK),
    "run": each(_RUN),
    "image": each(CHECK_IMAGE),
    "validate": maybe(_VALIDATION),
    "tried": each(_TRIED),
    "diff": maybe(DIFF),
    "sweep": maybe(SWEEP),
    "prove": maybe(PROOF),
}
REPORT = object_of(**_DOCUMENTS, before=maybe(object_of(**_DOCUMENTS)))
"""What a report has; what it knows nothing of is null, or a list without an item."""

OUTPUTS: Mapping[str, tuple[str, Shape]] = {
    "check": (
        "a chip's devices, memories and pools; the tests of a bench",
        {"anyOf": [CHECK, _BENCH]},
    ),
    "check-image": ("what an image takes, and what is not as the chip has it", CHECK_IMAGE),
    "explain": ("a chip, or where a network's buffers are", EXPLAIN),
    "plan": ("a memory plan", PLAN),
    "estimate": ("what a network takes, a list for several networks", ESTIMATE),
    "sweep": ("which points of a sweep are best", SWEEP),
    "build": ("the firmware of a build folder, or its objects", BUILD),
    "opt": ("what passes made of a text, or the passes that there are", OPT),
    "bsp": ("what became of the files of a board support package", BSP),
    "selftest": ("what failed tests of a chip's self-test mean", SELFTEST),
    "run": ("what a run proved and measured, a list for several networks", RUN),
    "simulate": (
        "what a run proved and measured, a list for several networks; the tests of a bench",
        SIMULATE,
    ),
    "run-image": (
        "what images printed, and how they ended; with --serial, what networks did on a board",
        RUN_IMAGE,
    ),
    "prove": ("who reaches what, and whether that is proven", PROOF),
    "export-rtl": ("the RTL of a chip that was written for other tools", EXPORT_RTL),
    "validate": (
        "which planted faults were noticed, and how hardware faults ended",
        _VALIDATION,
    ),
    "report": ("what commands found, by subject: all that a report shows", REPORT),
    "new": ("the file that was written", WROTE),
    "core": (
        "how the adapter of a core did; the file that was written",
        {"anyOf": [CORE, WROTE]},
    ),
    "accelerator": ("how an accelerator did, or what it takes", ACCELERATOR),
    "operators": ("the operators that a model may have", OPERATORS),
    "doctor": ("which tools work", DOCTOR),
    "import": ("the description that was begun, and what a human has to answer", IMPORT),
    "diff": ("what differs between two chips, or between two builds", DIFF),
    "schema": ("the files that were written; without --write, a schema", WROTE),
}
"""By command, with a phrase that says what the object is."""
