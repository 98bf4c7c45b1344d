# SPDX-License-Identifier: Apache-2.0
"""The run function of a model, and the dispatcher of another core, as C99."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from atoll.codegen.c.pools import place
from atoll.codegen.c.words import SHARED, TYPES, identifier
from atoll.codegen.core_steps import calls_on
from atoll.codegen.run_arguments import RunArguments
from atoll.ir.maintenance import Maintenance
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    CallSpread,
    CallStart,
    CoreCall,
    IRModule,
    KernelCall,
    PrimFunc,
    Step,
)
from atoll.ir.walk import runtime_allocations
from atoll.lower.joined_lists import join_lists
from atoll.protocol import Status
from atoll.resolve.mailbox import core_command, step_function
from atoll.resolve.soc import Cpu, ResolvedSoc

RUNTIME = """void atoll_trace_begin(int32_t device, int32_t number);
void atoll_trace_end(int32_t device, int32_t number);
int32_t atoll_guard_check(int32_t status);
int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count);
int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count);
int32_t atoll_npu_wait(int32_t device);
int32_t atoll_core_run(int32_t device, int32_t command);
int32_t atoll_core_start(int32_t device, int32_t command);
int32_t atoll_core_wait(int32_t device);
"""
CACHES = """void atoll_cache_clean(void *address, uint32_t size);
void atoll_cache_invalidate(void *address, uint32_t size);
"""
NPU_CACHES = """void atoll_npu_cache_clean(int32_t device, const void *address, uint32_t size);
void atoll_npu_cache_invalidate(int32_t device, const void *address, uint32_t size);
"""
COPY = """static void atoll_copy(void *to, const void *from, uint32_t size) {
  uint8_t *target = (uint8_t *)to;
  const uint8_t *source = (const uint8_t *)from;
  for (uint32_t at = 0; at < size; ++at) {
    target[at] = source[at];
  }
}
"""

NO_NPUS: Mapping[str, str] = {}
_MEMBERS = {"pools": "uint8_t *", "parameters": "const uint8_t *", "devices": "int32_t "}
"""Types of the members of structs, but for tensors'."""


class RunText:
    """Prints the run function of a model."""

    def __init__(
        self,
        module: IRModule,
        soc: ResolvedSoc,
        arguments: RunArguments,
        position: int,
        starts: Mapping[str, int],
    ) -> None:
        """`starts` has the first byte that the model has of each pool."""
        self._starts = {pool: starts[pool] for pool in arguments.parameters}
        self._module = module
        self._soc = soc
        self._arguments = arguments
        self._position = position
        self._busy: list[str] = []

    def structs(self) -> Iterator[str]:
        """Yield the structs of pointers that the caller hands over."""
        types = {each.buffer: TYPES[each.type] for each in self._module.entry.allocations}
        for struct in self._arguments.structs():
            const = "const " if struct == "inputs" else ""
            kinds = {
                name: _MEMBERS.get(struct) or f"{const}{types[name]} *"
                for name in getattr(self._arguments, struct)
            }
            members = "".join(f"  {kind}{identifier(name)};\n" for name, kind in kinds.items())
            yield f"struct {self._module.name}_{struct} {{\n{members}}};\n"

    def text(self) -> str:
        """Return the function."""
        name, arguments = self._module.name, self._arguments
        given = ", ".join(f"const struct {name}_{each} *{each}" for each in arguments.structs())
        head = f"int32_t {name}_run({given or 'void'})"
        lines = ["int32_t status = 0;"]
        for pool in arguments.pools:
            lines.append(f"if (pools->{identifier(pool)} != atoll_pool_{pool}) {{")
            lines.append(f"  return {Status.ARGUMENT:d};\n}}")
        for pool, start in self._starts.items():
            lines.append(f"if (parameters->{identifier(pool)} != atoll_pool_{pool} + {start}u) {{")
            lines.append(f"  return {Status.ARGUMENT:d};\n}}")
        lines += (self._transfer("inputs", each) for each in arguments.inputs)
        for first, *further in join_lists(self._module.entry.steps, self._soc):
            lines += self._step(first, further)
        lines += self._caches(self._module.entry.after)
        lines += (self._transfer("outputs", each) for each in arguments.outputs)
        lines.append("return atoll_guard_check(status);" if arguments.outputs else "return status;")
        body = "\n".join(lines).replace("\n", "\n  ")
        return f"{head};\n\n{head} {{\n  {body}\n}}\n"

    def _transfer(self, struct: str, name: str) -> str:
        given, planned = f"{struct}->{identifier(name)}", place(name)
        to, source = (given, planned) if struct == "outputs" else (planned, given)
        size = self._module.entry.sizes[name]
        return (
            f"if ((const void *){given} != (const void *){planned}) {{\n"
            f"  atoll_copy({to}, {source}, {size}u);\n}}"
        )

    def _step(self, step: Step, further: Sequence[Step]) -> Iterator[str]:
        """Print a step; `further` ones are what its engine goes on with."""
        ordinal, action = self._soc.device(step.runner).ordinal, step.action
        title = ", ".join((step.operator, *(each.operator for each in further)))
        if isinstance(action, AcceleratorWait):
            yield f"\n/* {title}: the end of it on {step.device} */"
        else:
            begin = f"atoll_trace_begin({ordinal}, {step.number});"
            yield f"\n/* {title} on {step.device} */\n{begin}"
        yield from self._caches(step.before)
        match action:
            case KernelCall() if step.device != self._soc.host:
                yield from self._check_call(f"atoll_core_run({self._command(step, step.device)})")
            case CallStart():
                yield from self._check_call(f"atoll_core_start({self._command(step, step.device)})")
                self._busy.append(step.device)
            case KernelCall(function, names):
                yield from self._call(function, names)
            case CallSpread(parts):
                yield from self._spread(step, parts)
            case AcceleratorRun(device, commands, count):
                at = f"{self._device(device)}, {place(commands)}, {count + bool(further)}"
                yield from self._check_call(f"atoll_npu_run({at})")
            case AcceleratorStart(device, commands, count):
                at = f"{self._device(device)}, {place(commands)}, {count}"
                yield from self._check_call(f"atoll_npu_start({at})")
                self._busy.append(device)
            case AcceleratorWait(device):
                self._busy.remove(device)
                yield from self._check_call(self._wait(device))
        if not isinstance(action, (AcceleratorStart, CallStart)):
            yield from self._check_call("atoll_guard_check(0)")
            last = further[-1] if further else step
            yield f"atoll_trace_end({ordinal}, {last.number});"

    def _caches(self, operations: Iterable[Maintenance]) -> Iterator[str]:
        """Yield the calls by which the host maintains caches, those of accelerators included."""
        npus = {npu.name: self._device(npu.name) for npu in self._soc.cached_npus}
        return cache_calls(self._module, self._soc.host, operations, npus)

    def _call(self, function: str, names: Sequence[str]) -> Iterator[str]:
        """Run a kernel on the host."""
        call = kernel_call(self._module.by_name[function], names)
        if runtime_allocations(self._module.by_name[function]):
            yield from self._check_call(call)
        else:
            yield f"{call};"

    def _spread(self, step: Step, parts: Sequence[CoreCall]) -> Iterator[str]:
        """Start all parts on other cores, run the host's, and wait for the others."""
        others = [part.device for part in parts if part.device != self._soc.host]
        for device in others:
            yield from self._check_call(f"atoll_core_start({self._command(step, device)})")
            self._busy.append(device)
        for part in parts:
            if part.device == self._soc.host:
                yield from self._call(part.function, part.arguments)
        for device in others:
            self._busy.remove(device)
            yield from self._check_call(self._wait(device))

    def _command(self, step: Step, device: str) -> str:
        return f"{self._device(device)}, {core_command(self._position, step.number)}"

    def _device(self, name: str) -> str:
        return f"devices->{identifier(name)}"

    def _wait(self, device: str) -> str:
        kind = "core" if isinstance(self._soc.device(device), Cpu) else "npu"
        return f"atoll_{kind}_wait({self._device(device)})"

    def _check_call(self, call: str) -> Iterator[str]:
        """Call; on an error, wait for what still runs and return why."""
        yield f"status = {call};\nif (status != 0) {{"
        yield from (f"  (void){self._wait(device)};" for device in self._busy)
        yield "  return atoll_guard_check(status);\n}"


def kernel_call(kernel: PrimFunc, names: Sequence[str]) -> str:
    """Return the call of a kernel on planned buffers."""
    given = []
    for name, parameter in zip(names, kernel.buffers, strict=True):
        const = "" if parameter.direction.writes else "const "
        given.append(f"({const}{SHARED[parameter.type]} *)({const}void *){place(name)}")
    return f"{identifier(kernel.name)}({', '.join(given)})"


def cache_calls(
    module: IRModule,
    core: str,
    operations: Iterable[Maintenance],
    npus: Mapping[str, str] = NO_NPUS,
) -> Iterator[str]:
    """Yield the calls that maintain the data cache of `core`, and those of `npus`.

    `npus` has the ordinal of each accelerator, as C.
    """
    for each in operations:
        given = f"(void *){place(each.buffer)}, {module.entry.sizes[each.buffer]}u"
        if each.device == core:
            yield f"atoll_cache_{each.operation}({given});"
        elif each.device in npus:
            yield f"atoll_npu_cache_{each.operation}({npus[each.device]}, {given});"


def steps_text(module: IRModule, core: str, position: int) -> str:
    """Return ``int32_t <model>_<core>_step(int32_t command)``, which runs one step of a core.

    `position` is the model's; commands for another model are refused.
    """
    head = f"int32_t {step_function(module.name, core)}(int32_t command)"
    lines = ["(void)command;"]
    for step, call in calls_on(module, core):
        command = core_command(position, step.number)
        lines.append(f"if (command == {command}) {{ /* {step.operator} */")
        lines += (f"  {each}" for each in cache_calls(module, core, step.before))
        lines.append(f"  {kernel_call(module.by_name[call.function], call.arguments)};")
        lines += (f"  {each}" for each in cache_calls(module, core, step.after))
        lines.append("  return 0;\n}")
    lines.append(f"return {Status.ARGUMENT:d};")
    body = "\n".join(lines).replace("\n", "\n  ")
    return f"{head};\n\n{head} {{\n  {body}\n}}\n"
