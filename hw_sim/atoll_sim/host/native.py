# SPDX-License-Identifier: Apache-2.0
"""The cores played by the machine that runs Atoll: compiled kernels on planned addresses.

Everything but the core is as on the chip: buffers are at the addresses of the plan inside
arrays that stand for the memories, and accelerators run the commands of the image.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from atoll.artifacts.samples import Sample
from atoll.codegen.llvm_jit import HeapMemory, NativeProgram
from atoll.driver.pipeline import Compiled
from atoll.ir.heap import Heap
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    CallSpread,
    CallStart,
    KernelCall,
    Step,
)
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.engines.calls import model_of, run_model, teach
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.player import list_address, lists_of, play
from atoll_sim.host.memory import Accessed, Bytes, DeviceBus, HostMemory, Kept
from atoll_sim.host.watch import Watch
from atoll_sim.trace.contents import contents_of
from atoll_sim.trace.simulation import Phase, SimResult, Stop, Touched
from atoll_sim.trace.so_far import SoFar, Teller

FINE = Outcome(error=0, fault_address=0, completed=0)
"""How a step ends that no accelerator can fail."""


class Accelerators(Protocol):
    """Whoever plays the accelerators of the chip."""

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Run a command list to its end or its first error; `address` is as the engine sees it."""

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """Return what an operator whose data the host moves makes, by address as the host sees it.

        `address` is that of its record; nothing is written.
        """

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """Have accelerators read and write memories through their data caches, by name."""

    def recent(self) -> tuple[Accessed, ...]:
        """Return what they accessed since the last call of `take_touched`, as far as known."""

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what all accelerators touched since the last call."""


class ModelAccelerators:
    """The accelerators' software models on the chip's memories."""

    def __init__(
        self, soc: ResolvedSoc, memory: HostMemory, models: Sequence[Compiled] = ()
    ) -> None:
        host = soc.host_cpu
        self._memory = memory
        self._buses = {
            npu.name: DeviceBus(memory, soc, host if npu.spec.fed else npu) for npu in soc.engines
        }
        self._models = {npu.name: model_of(npu) for npu in soc.engines if npu.spec.model}
        self._lists = lists_of(models)
        for compiled in models:
            teach(self._models, compiled)

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Run a command list to its end or its first error.

        What has no model of lists plays the operators of the networks by their functions.
        """
        if model := self._models.get(npu.name):
            return run_model(model, self._buses[npu.name], address, count)
        if found := self._lists.get((npu.name, address)):
            return play(self._buses[npu.name], *found, npu)
        return Outcome(error=ErrorCode.BAD_OPCODE, fault_address=address, completed=0)

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """Return what an operator whose data the host moves makes; see `Accelerators`."""
        kept = Kept(self._memory)
        if found := self._lists.get((npu.name, address)):
            play(kept, *found, npu)
        return kept.written

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """See `Accelerators`."""
        for name, cache in caches.items():
            self._buses[name].memory = cache

    def recent(self) -> tuple[Accessed, ...]:
        """Return what they accessed since the last call of `take_touched`, in order."""
        return tuple(each for bus in self._buses.values() for each in bus.recent())

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what all accelerators touched since the last call."""
        return tuple(touched for bus in self._buses.values() for touched in bus.take_touched())


class MixedAccelerators:
    """Some accelerators in RTL, software models of the others."""

    def __init__(self, rtl: Accelerators, names: frozenset[str], models: ModelAccelerators) -> None:
        self._rtl = rtl
        self._names = names
        self._models = models

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """See `Accelerators`."""
        return self._of(npu).run(npu, address, count)

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """See `Accelerators`."""
        return self._of(npu).results(npu, address)

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """See `Accelerators`; in RTL there are none."""
        self._models.see_through(caches)

    def recent(self) -> tuple[Accessed, ...]:
        """See `Accelerators`."""
        return (*self._rtl.recent(), *self._models.recent())

    def take_touched(self) -> tuple[Touched, ...]:
        """See `Accelerators`."""
        return (*self._rtl.take_touched(), *self._models.take_touched())

    def _of(self, npu: Engine) -> Accelerators:
        return self._rtl if npu.name in self._names else self._models


def add_models(
    rtl: Accelerators,
    names: frozenset[str],
    soc: ResolvedSoc,
    memory: HostMemory,
    models: Sequence[Compiled],
) -> Accelerators:
    """Return `rtl`, or beside it models of the accelerators that are not among `names`."""
    if all(engine.name in names for engine in soc.engines):
        return rtl
    return MixedAccelerators(rtl, names, ModelAccelerators(soc, memory, models))


class HostCores:
    """Runs samples through the networks of one firmware, in turn, on the host."""

    def __init__(
        self, models: Sequence[Compiled], memory: HostMemory, accelerators: Accelerators
    ) -> None:
        self._models = models
        self._memory = memory
        self._accelerators = accelerators
        self._phases: list[Phase] = []
        for compiled in models:
            self._load_constants(compiled)
            self._reset(compiled)

    def run(
        self, samples: Sequence[Sample], tell: Callable[[SoFar], None] = lambda _: None
    ) -> SimResult:
        """Run `samples` one after the other; an accelerator's error ends its sample.

        Sample k is for network k modulo their number. `tell` is told how far it is; cycles there
        are microseconds of this machine.
        """
        beats = not isinstance(self._accelerators, ModelAccelerators)
        watch = Watch(self._models, self._memory, beats=beats)
        watch.reset()
        self._begin, self._teller = time.perf_counter(), Teller(tell)
        self._so_far = SoFar(networks=len(self._models))
        heaps = self._heaps()
        programs = [NativeProgram(compiled.module, heaps=heaps) for compiled in self._models]
        results, outputs, layers = [], [], []
        for number, sample in enumerate(samples):
            turn = number % len(programs)
            status, written = self._run_sample(programs[turn], watch, number, sample)
            results.append(status)
            layers.append(written)
            compiled = self._models[turn]
            outputs.append(self._buffers(compiled, compiled.module.entry.outputs))
        findings, findings_total = watch.findings()
        return SimResult(
            stop=Stop.EXIT,
            exit_status=0,
            results=tuple(results),
            outputs=tuple(outputs),
            layers=tuple(layers),
            phases=tuple(self._phases),
            findings=findings,
            findings_total=findings_total,
            stacks={},
            text="",
            trapped=None,
            cycles=0,
            wall_seconds=time.perf_counter() - self._begin,
        )

    def _microseconds(self) -> int:
        return round((time.perf_counter() - self._begin) * 1e6)

    def run_once(self, program: NativeProgram, sample: Sample) -> int:
        """Run one sample of the first network and return its status; keep nothing of it."""
        compiled = self._models[0]
        self._fill(compiled, sample)
        for step in compiled.module.entry.steps:
            if status := self._run_step(compiled, program, step).error:
                return status
        return 0

    def _heaps(self) -> Mapping[str, HeapMemory]:
        return {
            pool.name: HeapMemory(self._memory.pointer(pool.heap_origin), Heap(pool.heap))
            for pool in self._models[0].soc.pools
            if pool.heap
        }

    def _load_constants(self, compiled: Compiled) -> None:
        for name, data in contents_of(compiled).items():
            if name in compiled.plan.placements:
                self._memory.write(compiled.plan.address(name), data)

    def _reset(self, compiled: Compiled) -> None:
        """Do what ``<model>_reset`` does."""
        for each in compiled.module.entry.allocations:
            if each.initial is not None:
                self._memory.write(compiled.plan.address(each.buffer), each.initial)

    def _fill(self, compiled: Compiled, sample: Sample) -> None:
        for name, values in sample.items():
            self._memory.write(compiled.plan.address(name), values.tobytes())

    def _run_sample(
        self, program: NativeProgram, watch: Watch, number: int, sample: Sample
    ) -> tuple[int, Mapping[int, Mapping[str, bytes]]]:
        compiled = self._models[number % len(self._models)]
        self._fill(compiled, sample)
        layers: dict[int, Mapping[str, bytes]] = {}
        outcome = FINE
        watch.begin_run()
        self._so_far.begin_run(self._microseconds())
        for step in compiled.module.entry.steps:
            outcome = self._run_step(compiled, program, step)
            watch.step(step, self._accelerators.recent(), outcome)
            layers[step.number] = self._buffers(compiled, step.writes)
            if not isinstance(step.action, AcceleratorWait):
                self._phases.append(self._phase(number, step))
                self._so_far.end_operator(step.number, self._microseconds())
                self._teller.look(self._so_far, self._microseconds)
            if outcome.error:
                break
        watch.end_run()
        self._so_far.end_run(self._microseconds())
        return outcome.error, layers

    def _run_step(self, compiled: Compiled, program: NativeProgram, step: Step) -> Outcome:
        plan = compiled.plan
        match step.action:
            case KernelCall() | CallStart() | CallSpread():
                for call in step.calls:
                    pointers = [self._memory.pointer(plan.address(n)) for n in call.arguments]
                    if status := program.call(call.function, pointers):
                        return Outcome(error=status, fault_address=0, completed=0)
                return FINE
            case AcceleratorWait():
                return FINE
            case AcceleratorRun(device, _, count) | AcceleratorStart(device, _, count):
                npu = compiled.soc.device(device)
                assert isinstance(npu, Engine)
                return self._accelerators.run(npu, list_address(compiled, step), count)

    def _buffers(self, compiled: Compiled, names: Sequence[str]) -> Mapping[str, bytes]:
        plan, sizes = compiled.plan, compiled.module.entry.sizes
        return {name: self._memory.read(plan.address(name), sizes[name]) for name in names}

    def _phase(self, sample: int, step: Step) -> Phase:
        return Phase(
            sample=sample,
            operators=(step.number,),
            begin=0,
            end=0,
            touched=self._accelerators.take_touched(),
        )
