# SPDX-License-Identifier: Apache-2.0
"""Lines of data caches: by reuse in loop nests, by runs on the simulator, and what both cost."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cached_chips import APART, CORE, CORTEX_M7, SHARED_BY_REGISTERS, cached_lagoon

import atoll
from atoll.api.driver import kernels_of, with_kernels
from atoll.cost.counted import INSTRUCTIONS
from atoll.cost.data_lines import stores_through
from atoll.cost.maintenance import CALL, LINE
from atoll.cost.reuse import Space, count_lines
from atoll.driver.compiled import cost_of
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir import scalars
from atoll.ir.expressions import add, maximum, minimum, multiply, subtract
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.scalars import Binary, Cast, Const, Conversion, Expr, Load, Type, Var
from atoll.ir.statements import BufferParam, Direction, For, Let, PrimFunc, Stmt, Store
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.data_cache import Cache
from atoll_sim.runs.kernel_runs import run_kernels

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
STRAIT = ROOT / "tests" / "data" / "strait.yaml"
ALONE = BuildOptions(accelerators=False)
ZICBOM = (
    f"devices.cpu.core={CORE}",
    "devices.cpu.cache.line=32",
    "memories.dtcm.cached=false",
    "devices.npu.params.vector=0",
)
SIZED = ("devices.cpu.cache.size=4 KiB", "devices.cpu.cache.ways=4")


class Trace:
    """Runs a kernel round after round, and has each access look for its line."""

    def __init__(self, cache: Cache, places: Mapping[str, int]) -> None:
        assert cache.ways
        self.cache, self.places = cache, places
        self.sets: list[list[int]] = [[] for _ in range(cache.sets)]
        self.dirty: set[int] = set()
        self.loaded = self.written = 0

    def run(self, body: tuple[Stmt, ...], known: dict[str, int]) -> None:
        for each in body:
            match each:
                case For(name, begin, end, inside):
                    for number in range(self.value(begin, known), self.value(end, known)):
                        self.run(inside, {**known, name: number})
                case Let(name, value):
                    known = {**known, name: self.value(value, known)}
                case Store(buffer, index, value):
                    self.value(value, known)
                    self.access(self.places[buffer] + self.value(index, known), writes=True)

    def value(self, expr: Expr, known: Mapping[str, int]) -> int:
        match expr:
            case Const(value):
                return value
            case Var(name):
                return known[name]
            case Cast(_, inner):
                return self.value(inner, known)
            case Load(buffer, index):
                self.access(self.places[buffer] + self.value(index, known), writes=False)
                return 1
            case Binary(operation, left, right):
                return OPERATIONS[operation](self.value(left, known), self.value(right, known))
        raise AssertionError(expr)

    def access(self, address: int, *, writes: bool) -> None:
        line = address // self.cache.line
        there = self.sets[line % self.cache.sets]
        if line in there:
            there.remove(line)
        elif writes and not self.cache.write_back:
            return
        else:
            self.loaded += 1
            if len(there) == self.cache.ways:
                self.dirty.discard(there.pop(0))
        there.append(line)
        if writes and self.cache.write_back and line not in self.dirty:
            self.dirty.add(line)
            self.written += 1


OPERATIONS: Mapping[scalars.Operation, Callable[[int, int], int]] = {
    scalars.Operation.ADD: lambda a, b: a + b,
    scalars.Operation.SUB: lambda a, b: a - b,
    scalars.Operation.MUL: lambda a, b: a * b,
    scalars.Operation.MIN: min,
    scalars.Operation.MAX: max,
}


def loop(name: str, end: int | Expr, *body: Stmt, begin: int | Expr = 0) -> For:
    one, two = (Const(each, Type.I32) if isinstance(each, int) else each for each in (begin, end))
    return For(name, one, two, body)


def at(**strides: int) -> Expr:
    """Return a sum over variables of loops."""
    parts = [multiply(Var(name, Type.I32), by) for name, by in strides.items()]
    found: Expr = parts[0]
    for each in parts[1:]:
        found = add(found, each)
    return found


def load(buffer: str, **strides: int) -> Expr:
    return Cast(Conversion.SEXT, Load(buffer, at(**strides), Type.I8), Type.I32)


def put(index: Expr, value: Expr) -> Store:
    return Store("y", index, Cast(Conversion.TRUNC, value, Type.I8))


def nests() -> Iterator[tuple[str, int, int, For]]:
    """Yield names, sizes of x and y, and loops."""
    yield "once", 4096, 4096, loop("i", 4096, put(at(i=1), add(load("x", i=1), 1)))
    again = put(at(i=1), add(load("x", i=1), load("x", i=1)))
    yield "again, fits", 256, 256, loop("r", 5, loop("i", 256, again))
    yield "again, too large", 4096, 4096, loop("r", 5, loop("i", 4096, again))
    product = put(at(i=1), multiply(load("x", i=64, k=1), load("x", j=64, k=1)))
    yield "rows of a product", 4096, 64, loop("i", 64, loop("j", 64, loop("k", 64, product)))
    columns = put(at(i=64, j=1), load("x", j=64, i=1))
    yield "transposed", 4096, 4096, loop("i", 64, loop("j", 64, columns))
    window = put(at(oy=30, ox=1), load("x", oy=32, ky=32, ox=1, kx=1))
    taps = loop("ky", 3, loop("kx", 3, window))
    yield "windows", 1024, 900, loop("oy", 30, loop("ox", 30, taps))
    wide = put(at(oy=1022, ox=1), load("x", oy=1024, ky=1024, ox=1, kx=1))
    taps = loop("ky", 3, loop("kx", 3, wide))
    yield "windows of long rows", 6144, 4088, loop("oy", 4, loop("ox", 1022, taps))
    yield "strides", 8192, 128, loop("i", 128, put(at(i=1), load("x", i=64)))


NESTS = {name: each for name, *each in nests()}


@pytest.mark.parametrize("write_back", [True, False])
@pytest.mark.parametrize("name", NESTS)
def test_lines_of_a_loop_nest_are_those_of_its_accesses(name: str, write_back: bool) -> None:
    """Of 2 KiB in four ways; each access of the same nest looks for its line."""
    x, y, nest = NESTS[name]
    assert isinstance(x, int)
    assert isinstance(y, int)
    assert isinstance(nest, For)
    cache = Cache(line=32, write_back=write_back, size=2048, ways=4)
    trace = Trace(cache, {"x": 0, "y": x})
    trace.run((nest,), {})
    buffers = (
        BufferParam("x", Type.I8, x, Direction.READ),
        BufferParam("y", Type.I8, y, Direction.WRITE),
    )
    spaces = Space(0, x, (("x", 0),)), Space(x // 32, y, (("y", 0),))
    found = count_lines(PrimFunc("nest", buffers, (nest,)), (), cache, spaces, locals_too=False)
    assert sum(found.loaded.values()) == pytest.approx(trace.loaded, rel=0.1, abs=4)
    assert sum(found.dirty.values()) == pytest.approx(trace.written, rel=0.1, abs=4)


SHIFTED = add(at(o=32, k=32, i=1), -32)


def test_limits_of_windows_take_the_side_that_holds_inside() -> None:
    """Rows above and below the first and last one are cut off; all lines come once."""
    above = Let("above", maximum(subtract(Const(1, Type.I32), Var("o", Type.I32)), 0))
    below = Let("below", minimum(subtract(Const(17, Type.I32), Var("o", Type.I32)), 3))
    row = put(at(o=32, i=1), add(Cast(Conversion.SEXT, Load("x", SHIFTED, Type.I8), Type.I32), 1))
    inner = loop("k", Var("below", Type.I32), loop("i", 32, row), begin=Var("above", Type.I32))
    buffers = (
        BufferParam("x", Type.I8, 512, Direction.READ),
        BufferParam("y", Type.I8, 512, Direction.WRITE),
    )
    cache = Cache(line=32, write_back=True, size=2048, ways=4)
    spaces = Space(0, 512, (("x", 0),)), Space(16, 512, (("y", 0),))
    function = PrimFunc("cut", buffers, (loop("o", 16, above, below, inner),))
    found = count_lines(function, (), cache, spaces, locals_too=False)
    assert found.loaded == pytest.approx({"0": 16, "1": 16}, abs=1)


def digits(*settings: str) -> Compiled:
    core = [each for each in CORTEX_M7 if "npu" not in each]
    core.append("memories.flash.read_latency=1")
    return compile_file(load_soc(STRAIT, (*core, *settings)), DIGITS, ALONE)


def test_digits_moves_the_lines_that_the_simulator_counts() -> None:
    """Nothing was fitted to it: 8 of 9 operators are within 20 %, all within 8 lines."""
    compiled = digits(*SIZED)
    runs = run_kernels((compiled,))
    lines = cost_of(compiled).lines
    near, networks = 0, [0.0, 0.0]
    for (_, number), (run,) in runs.items():
        assert run.data is not None
        moved = sum(run.data.moved.values())
        name = compiled.graph.operators[number].name
        told = sum(sum(each) for each in lines[name].by_memory.values())
        near += abs(told - moved) <= 0.2 * moved
        assert abs(told - moved) <= 8
        networks = [networks[0] + told, networks[1] + moved]
    assert near >= len(runs) - 1
    assert networks[0] == pytest.approx(networks[1], rel=0.05)

    known = with_kernels(compiled, kernels_of((compiled,), runs))
    ran = cost_of(known).lines
    for (_, number), (run,) in runs.items():
        each = ran[compiled.graph.operators[number].name]
        assert run.data is not None
        assert each.ran
        assert sum(sum(m) for m in each.by_memory.values()) == sum(run.data.moved.values())
    (estimate,) = estimates_of((known,))
    assert {each.basis for each in estimate.layers if each.kind != "reshape"} == {
        "simulated x published"
    }
    other = digits("devices.cpu.cache.size=8 KiB", SIZED[1])
    elsewhere = with_kernels(other, kernels_of((compiled,), runs))
    assert not any(each.ran for each in cost_of(elsewhere).lines.values()), "of another cache"


def test_lines_take_the_burst_of_their_memory() -> None:
    """What a cache of a known size adds is the latency and the words of each line."""
    usual, sized = digits("devices.cpu.cache.line=32"), digits(*SIZED)
    lines = cost_of(sized).lines
    for latency in (1, 5):
        slow = f"memories.sram.read_latency={latency}"
        one, other = digits("devices.cpu.cache.line=32", slow), digits(*SIZED, slow)
        costs = cost_of(one), cost_of(other)
        soc = costs[1].soc
        for op in sized.graph.operators:
            if op.name not in lines:
                continue
            expected = 0.0
            for name, moved in lines[op.name].by_memory.items():
                memory = soc.memory(name)
                words = 32 // memory.width
                expected += moved.loaded * (memory.read_latency - 1 + words - 1)
                expected += moved.written * words
            more = costs[1].spent[op.name].cycles - costs[0].spent[op.name].cycles
            assert more == pytest.approx(expected, abs=1)
    (before,), (now,) = estimates_of((usual,)), estimates_of((sized,))
    assert "assumed" in before.basis
    assert all("assumed" not in each.basis for each in now.layers)
    assert all(each.band is None for each in now.layers), "nobody measured it"


def test_memory_that_a_cache_keeps_moves_lines() -> None:
    sized = digits(*SIZED)
    lines, (estimate,) = cost_of(sized).lines, estimates_of((sized,))
    for layer in estimate.layers:
        moved = lines[layer.operator].by_memory if layer.operator in lines else {}
        for each in layer.traffic:
            if each.memory in moved:
                assert each.read == 32 * round(moved[each.memory].loaded)
                assert each.written == 32 * round(moved[each.memory].written)


def test_stores_go_through_a_cache_that_holds_none() -> None:
    """They wait as on a core without a cache, and each byte of a result is written."""
    through = digits(*SIZED, "devices.cpu.cache.write_back=false")
    cost, (estimate,) = cost_of(through), estimates_of((through,))
    assert not any(m.written for each in cost.lines.values() for m in each.by_memory.values())
    results = {op.name: through.graph.results(op)[0] for op in through.graph.operators}
    for layer in estimate.layers:
        written = sum(each.written for each in layer.traffic)
        assert written == results[layer.operator].size
    host = through.soc.host_cpu
    assert host.spec.timing
    spec = replace(host.spec, timing=replace(host.spec.timing, data_waits={"load": 1, "store": 2}))
    others = (each for each in through.soc.devices if each.name != host.name)
    soc = replace(through.soc, devices=(replace(host, spec=spec), *others))
    slow = replace(soc, memories=tuple(replace(m, read_latency=5) for m in soc.memories))
    op = through.graph.operators[0]
    stores = [
        stores_through(op, cost.graph, each.host_cpu, each) for each in (through.soc, soc, slow)
    ]
    assert stores[:2] == [0, 0]
    assert stores[2] == pytest.approx(results[op.name].size * 2 * 4, rel=0.1)


@pytest.mark.parametrize(
    ("operation", "moved"),
    [(None, (0, 0)), (Operation.INVALIDATE, (48, 0)), (Operation.CLEAN, (0, 0))],
)
def test_lines_that_were_invalidated_come_again(
    operation: Operation | None, moved: tuple[float, float]
) -> None:
    """All of the network is in the cache; an operand has 48 lines, and is not written."""
    compiled = digits("devices.cpu.cache.size=16 KiB", "devices.cpu.cache.ways=4")
    assert lines_of_add(compiled, "conv_2d_2_out", operation) == moved


def test_lines_that_were_cleaned_become_dirty_again() -> None:
    compiled = digits("devices.cpu.cache.size=16 KiB", "devices.cpu.cache.ways=4")
    assert lines_of_add(compiled, "add_3_out", Operation.CLEAN) == (0, 48)


def lines_of_add(
    compiled: Compiled, buffer: str, operation: Operation | None
) -> tuple[float, float]:
    """Return the lines of an addition before which an operation is done on a buffer."""
    cost = cost_of(compiled)
    before = (Maintenance("cpu", operation, buffer),) if operation else ()
    lists = tuple(
        tuple(replace(s, before=before) if s.operator == "add_3" else s for s in each)
        for each in cost.lists
    )
    found = replace(cost, lists=lists).lines["add_3"].by_memory
    loaded, written = found.get("sram", (0.0, 0.0))
    return loaded, written


def test_energy_of_a_cache_of_a_known_size_is_that_of_its_lines() -> None:
    memory = {"source": "s", "read_pj_per_byte": 2, "write_pj_per_byte": 3}
    soc = atoll.load_soc("stm32h747").with_({"memories.flash1.energy": memory})
    network = atoll.estimate(atoll.compile("stm32h747", DIGITS), soc=soc).network
    assert not [each for each in network.energy_lacks if "hits" in each]
    for each, layer in zip(network.to_json()["energy"]["by_layer"], network.operators, strict=True):
        for port in layer.traffic:
            if port.memory == "flash1":
                assert each["memories_pj"]["flash1"] == 2 * port.read_bytes


def test_a_core_without_such_a_cache_has_no_lines() -> None:
    assert not cost_of(digits("devices.cpu.cache.line=32")).lines
    assert not cost_of(compile_file(load_soc(STRAIT), DIGITS, ALONE)).lines


def test_lines_of_a_cache_of_several_cores_are_not_counted() -> None:
    """How many of its lines each of them has is not known, so that none is said to be."""
    settings = (
        "devices.cpu.core=cortex_m7",
        "devices.cpu.isa=armv7e-m",
        "devices.cpu.cache.size=16 KiB",
        "devices.cpu.cache.ways=4",
        "devices.npu=null",
        "devices.cpu_1.mailbox=0x4006_0000",
        "devices.cpu_1.irq=4",
    )
    one, two = (
        compile_file(load_soc(SHARED_BY_REGISTERS, (*settings, *more)), DIGITS, ALONE)
        for more in ((), APART)
    )
    assert cost_of(two).lines
    assert not cost_of(one).lines
    for estimate in estimates_of((one,)):
        ran = [each for each in estimate.layers if each.kind != "reshape"]
        assert all("assumed" in each.basis and each.band is None for each in ran)
    for compiled, counted in ((one, False), (two, True)):
        runs = [run for parts in run_kernels((compiled,)).values() for run in parts]
        assert {run.data is not None for run in runs} == {counted}


@pytest.mark.parametrize("core", ["cortex_m7", "zicbom"])
def test_maintenance_takes_the_instructions_that_run(core: str) -> None:
    """The host invalidates what reef wrote before it adds: with a cache, it runs that much more."""
    ran, told = [], []
    for cached in (False, True):
        settings = list(CORTEX_M7 if core == "cortex_m7" else ZICBOM)
        if not cached:
            settings = [each for each in settings if "cache.line" not in each]
        compiled = compile_file(load_soc("lagoon", settings), DIGITS, BuildOptions())
        ops = compiled.graph.operators
        number = next(n for n, each in enumerate(ops) if each.kind == "add")
        runs = run_kernels((compiled,))
        ran.append(runs[0, number][0].instructions)
        cost = cost_of(compiled)
        told.append(cost.spent[ops[number].name].cycles)
        if cached:
            host = cost.soc.host_cpu
            step = next(s for each in cost.lists for s in each if s.number == number)
            operations = [each for each in step.before if each.device == host.name]
            assert {each.operation for each in operations} >= {Operation.INVALIDATE}
            lines = sum(-(-cost.sizes[each.buffer] // 32) for each in operations)
            per_call, per_line = (
                sum(n for n, each in zip(table[core_kind(core)], INSTRUCTIONS, strict=True) if each)
                for table in (CALL, LINE)
            )
            expected = len(operations) * per_call + lines * per_line
            assert ran[1] - ran[0] == pytest.approx(expected, rel=0.05, abs=4 * len(operations))
    assert told[1] > told[0]


def core_kind(core: str) -> str:
    return "scb" if core == "cortex_m7" else core


def test_a_network_ends_with_the_maintenance_of_its_outputs() -> None:
    """The host forgets what another device wrote of them, and cleans what it wrote of states."""
    compiled = compile_file(cached_lagoon(), DIGITS, BuildOptions(accelerators=True))
    cost = cost_of(compiled)
    assert (cost.closing_cycles > 0) is bool(compiled.module.entry.after)
    (estimate,) = estimates_of((compiled,))
    plain = load_soc("lagoon", [each for each in CORTEX_M7 if "cache.line" not in each])
    (usual,) = estimates_of((compile_file(plain, DIGITS, BuildOptions()),))
    assert estimate.after - usual.after == cost.closing_cycles
