"""The host core played by the machine that runs Atoll: compiled kernels on planned addresses.

Everything but the core is as on the chip: buffers are at the addresses of the plan inside
arrays that stand for the memories, and accelerators run the commands of the image.
"""

import time
from collections.abc import Iterator, Mapping, Sequence

from atoll import plugins
from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.tir import AcceleratorRun, KernelCall, Step
from atoll.pipeline import Compiled
from atoll.resolve.soc import Npu
from atoll_sim.cpu.host_memory import DeviceBus, HostMemory, merge_spans
from atoll_sim.execution import Blocked, Execution, PhaseTrace, SampleRun, Touch
from atoll_sim.npu_model import Outcome
from atoll_sim.samples import Sample

class ModelAccelerators:
    """The accelerators' software models on the chip's memories."""

    def __init__(self, compiled: Compiled, memory: HostMemory) -> None:
        soc = compiled.soc
        self._buses = {npu.name: DeviceBus(memory, soc, npu) for npu in soc.npus}
        self._models = {npu.name: plugins.load(npu.spec.model)(npu) for npu in soc.npus}

    def run(self, npu: Npu, address: int, count: int) -> Outcome:
        """Run a command list to its end or its first error."""
        outcome: Outcome = self._models[npu.name].run(self._buses[npu.name], address, count)
        return outcome

    def take_touches(self) -> tuple[Touch, ...]:
        """Return what all accelerators touched since the last call."""
        return tuple(touch for bus in self._buses.values() for touch in bus.take_touches())


class NativeSession:
    """Runs samples through a compiled network on the host."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._memory = HostMemory(compiled.soc)
        self._accelerators = ModelAccelerators(compiled, self._memory)
        self._load_constants()

    def run(self, samples: Sequence[Sample]) -> Execution:
        """Run `samples` one after the other; an accelerator's error ends its sample."""
        begin = time.perf_counter()
        program = NativeProgram(self._compiled.module)
        compiled_at = time.perf_counter()
        blocked: list[Blocked] = []
        runs = tuple(self._run_sample(program, sample, blocked) for sample in samples)
        wall = {"jit": compiled_at - begin, "run": time.perf_counter() - compiled_at}
        return Execution(samples=runs, blocked=tuple(blocked), wall=wall)

    def _load_constants(self) -> None:
        entry, plan = self._compiled.module.entry, self._compiled.plan
        for constant in entry.constants:
            data = constant.data if constant.data is not None else self._commands(constant.name)
            if constant.name in plan.placements:
                self._memory.write(plan.address(constant.name), data)

    def _commands(self, name: str) -> bytes:
        return self._compiled.commands[name]

    def _run_sample(
        self, program: NativeProgram, sample: Sample, blocked: list[Blocked]
    ) -> SampleRun:
        plan, entry = self._compiled.plan, self._compiled.module.entry
        for name, values in sample.items():
            self._memory.write(plan.address(name), values.tobytes())
        layers: dict[int, Mapping[str, bytes]] = {}
        phases: list[PhaseTrace] = []
        status = 0
        for step in entry.steps:
            status = self._run_step(program, step, blocked)
            layers[step.number] = self._buffers(step.writes)
            phases.append(self._phase(step))
            if status:
                break
        return SampleRun(
            status=status, outputs=self._buffers(entry.outputs), layers=layers, phases=tuple(phases)
        )

    def _run_step(self, program: NativeProgram, step: Step, blocked: list[Blocked]) -> int:
        plan = self._compiled.plan
        match step.action:
            case KernelCall(function, arguments):
                pointers = [self._memory.pointer(plan.address(name)) for name in arguments]
                program.call(function, pointers)
                return 0
            case AcceleratorRun(device, commands, count):
                npu = self._compiled.soc.device(device)
                assert isinstance(npu, Npu)
                outcome = self._accelerators.run(npu, plan.address(commands), count)
                if outcome.error:
                    blocked.append(_blocked(step, outcome))
                return outcome.error

    def _buffers(self, names: Sequence[str]) -> Mapping[str, bytes]:
        plan, sizes = self._compiled.plan, self._compiled.module.entry.sizes
        return {name: self._memory.read(plan.address(name), sizes[name]) for name in names}

    def _phase(self, step: Step) -> PhaseTrace:
        return PhaseTrace(
            operator=step.number,
            device=self._compiled.soc.device(step.device).ordinal,
            begin=0,
            end=0,
            touches=(*self._declared(step), *self._accelerators.take_touches()),
        )

    def _declared(self, step: Step) -> Iterator[Touch]:
        """Yield what a kernel's contract says it writes; nothing watches the host's own accesses."""
        if isinstance(step.action, KernelCall):
            plan, sizes = self._compiled.plan, self._compiled.module.entry.sizes
            spans = [(plan.address(name), plan.address(name) + sizes[name]) for name in step.writes]
            yield Touch(master=step.device, kind="write", spans=merge_spans(spans), accesses=0)


def _blocked(step: Step, outcome: Outcome) -> Blocked:
    return Blocked(
        master=step.device,
        operator=step.number,
        address=outcome.fault_address,
        write=outcome.error in (3, 4),
        cycle=0,
    )
