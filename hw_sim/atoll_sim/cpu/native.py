"""The cores played by the machine that runs Atoll: compiled kernels on planned addresses.

Everything but the core is as on the chip: buffers are at the addresses of the plan inside
arrays that stand for the memories, and accelerators run the commands of the image.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from atoll import plugins
from atoll.codegen.llvm_jit import HeapMemory, NativeProgram
from atoll.ir.heap import Heap
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    CallStart,
    KernelCall,
    Step,
)
from atoll.pipeline import Compiled
from atoll.resolve.soc import Engine
from atoll_sim.cpu.host_memory import DeviceBus, HostMemory, merge_spans
from atoll_sim.npu_model import Outcome
from atoll_sim.samples import Sample
from atoll_sim.simulation import AccessKind, BlockedAccess, Phase, SimResult, Stop, Touched


class Accelerators(Protocol):
    """Whoever plays the accelerators of the chip."""

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Run a command list to its end or its first error."""

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what all accelerators touched since the last call."""


class ModelAccelerators:
    """The accelerators' software models on the chip's memories."""

    def __init__(self, compiled: Compiled, memory: HostMemory) -> None:
        soc = compiled.soc
        self._buses = {npu.name: DeviceBus(memory, soc, npu) for npu in soc.engines}
        self._models = {npu.name: plugins.load(npu.spec.model)(npu) for npu in soc.engines}

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Run a command list to its end or its first error."""
        outcome: Outcome = self._models[npu.name].run(self._buses[npu.name], address, count)
        return outcome

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what all accelerators touched since the last call."""
        return tuple(touched for bus in self._buses.values() for touched in bus.take_touched())


class NativeSession:
    """Runs samples through a compiled network on the host."""

    def __init__(self, compiled: Compiled, memory: HostMemory, accelerators: Accelerators) -> None:
        self._compiled = compiled
        self._memory = memory
        self._accelerators = accelerators
        self._blocked: list[BlockedAccess] = []
        self._phases: list[Phase] = []
        self._load_constants()

    def run(self, samples: Sequence[Sample]) -> SimResult:
        """Run `samples` one after the other; an accelerator's error ends its sample."""
        begin = time.perf_counter()
        program = NativeProgram(self._compiled.module, heaps=self._heaps())
        results, outputs, layers = [], [], []
        for number, sample in enumerate(samples):
            status, written = self._run_sample(program, number, sample)
            results.append(status)
            layers.append(written)
            outputs.append(self._buffers(self._compiled.module.entry.outputs))
        return SimResult(
            stop=Stop.EXIT,
            exit_status=0,
            results=tuple(results),
            outputs=tuple(outputs),
            layers=tuple(layers),
            phases=tuple(self._phases),
            blocked=tuple(self._blocked),
            blocked_total=len(self._blocked),
            stacks={},
            text="",
            trapped=None,
            cycles=0,
            wall_seconds=time.perf_counter() - begin,
        )

    def run_once(self, program: NativeProgram, sample: Sample) -> int:
        """Run one sample and return its status; what it touched is not kept."""
        for name, values in sample.items():
            self._memory.write(self._compiled.plan.address(name), values.tobytes())
        for step in self._compiled.module.entry.steps:
            if status := self._run_step(program, step):
                return status
        return 0

    def _heaps(self) -> Mapping[str, HeapMemory]:
        return {
            pool.name: HeapMemory(self._memory.pointer(pool.heap_origin), Heap(pool.heap))
            for pool in self._compiled.soc.pools
            if pool.heap
        }

    def _load_constants(self) -> None:
        compiled = self._compiled
        for constant in compiled.module.entry.constants:
            data = constant.data
            if data is None:
                data = compiled.commands[constant.name]
            if constant.name in compiled.plan.placements:
                self._memory.write(compiled.plan.address(constant.name), data)

    def _run_sample(
        self, program: NativeProgram, number: int, sample: Sample
    ) -> tuple[int, Mapping[int, Mapping[str, bytes]]]:
        for name, values in sample.items():
            self._memory.write(self._compiled.plan.address(name), values.tobytes())
        layers: dict[int, Mapping[str, bytes]] = {}
        for step in self._compiled.module.entry.steps:
            status = self._run_step(program, step)
            layers[step.number] = self._buffers(step.writes)
            if not isinstance(step.action, AcceleratorWait):
                self._phases.append(self._phase(number, step))
            if status:
                return status, layers
        return 0, layers

    def _run_step(self, program: NativeProgram, step: Step) -> int:
        plan = self._compiled.plan
        match step.action:
            case KernelCall(function, arguments) | CallStart(function, arguments):
                pointers = [self._memory.pointer(plan.address(name)) for name in arguments]
                return program.call(function, pointers)
            case AcceleratorWait():
                return 0
            case AcceleratorRun(device, commands, count) | AcceleratorStart(
                device, commands, count
            ):
                npu = self._compiled.soc.device(device)
                assert isinstance(npu, Engine)
                outcome = self._accelerators.run(npu, plan.address(commands), count)
                if outcome.error:
                    self._blocked.append(_blocked(step, outcome, len(self._phases)))
                return outcome.error

    def _buffers(self, names: Sequence[str]) -> Mapping[str, bytes]:
        plan, sizes = self._compiled.plan, self._compiled.module.entry.sizes
        return {name: self._memory.read(plan.address(name), sizes[name]) for name in names}

    def _phase(self, sample: int, step: Step) -> Phase:
        return Phase(
            sample=sample,
            operators=(step.number,),
            begin=0,
            end=0,
            touched=(*self._declared(step), *self._accelerators.take_touched()),
        )

    def _declared(self, step: Step) -> Iterator[Touched]:
        """Yield what a kernel says it writes; nothing watches the host's own accesses."""
        if isinstance(step.action, (KernelCall, CallStart)):
            plan, sizes = self._compiled.plan, self._compiled.module.entry.sizes
            spans = [
                range(plan.address(name), plan.address(name) + sizes[name]) for name in step.writes
            ]
            yield Touched(
                master=step.device,
                kind=AccessKind.WRITE,
                accesses=0,
                transferred=0,
                spans=merge_spans(spans),
            )


def _blocked(step: Step, outcome: Outcome, phase: int) -> BlockedAccess:
    return BlockedAccess(
        cycle=0,
        phase=phase,
        master=step.device,
        kind=AccessKind.WRITE if outcome.error in (3, 4) else AccessKind.READ,
        address=outcome.fault_address,
        size=1,
    )
