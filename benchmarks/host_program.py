# SPDX-License-Identifier: Apache-2.0
"""Run the object of a network in this process, for cores whose instruction set this machine has."""

import ctypes
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

from atoll.artifacts.build_tree import interface_of
from atoll.artifacts.samples import Sample
from atoll.bsp.c_names import c_name
from atoll.bsp.toolchain import program
from atoll.driver.pipeline import Compiled
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.children import run
from atoll_sim.check.layers import LayerCheck, check_layers
from atoll_sim.trace.simulation import SimResult, Stop

PORT = """#include <stdint.h>
static void (*ended)(int32_t);
void atoll_tell_ends(void (*function)(int32_t)) {{ ended = function; }}
void atoll_trace_begin(int32_t device, int32_t number) {{ (void)device, (void)number; }}
void atoll_trace_end(int32_t device, int32_t number) {{ (void)device, ended(number); }}
int32_t atoll_guard_check(int32_t status) {{ return status; }}
{pools}
"""
POOL = "uint8_t atoll_pool_{name}[{size}] __attribute__((aligned(4096)));"


def runs_here(soc: ResolvedSoc) -> bool:
    """Return whether this machine has the host's instruction set."""
    family = soc.host_cpu.instructions.family
    return family is Family.X86 and platform.machine() in ("x86_64", "AMD64")


def compare(compiled: Compiled, code: bytes, sample: Sample, folder: Path) -> LayerCheck:
    """Run the object of a network that one core alone runs, and hold each layer to the reference.

    Raises:
        ToolchainError: E070, there is no `gcc` to link it.
    """
    library = ctypes.CDLL(str(_library(compiled, code, folder)))
    layers: dict[int, Mapping[str, bytes]] = {}

    def contents(names: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            place = compiled.plan.placements[name]
            pool = ctypes.c_uint8.in_dll(library, f"atoll_pool_{place.pool}")
            begin = ctypes.addressof(pool) + place.offset
            yield name, ctypes.string_at(begin, compiled.module.entry.sizes[name])

    def note_end(number: int) -> None:
        step = next(each for each in compiled.module.entry.steps if each.number == number)
        layers[number] = dict(contents(step.writes))

    told = ctypes.CFUNCTYPE(None, ctypes.c_int32)(note_end)
    library.atoll_tell_ends(told)
    ports = interface_of(compiled)
    given = [ctypes.create_string_buffer(sample[port.name].tobytes()) for port in ports.inputs]
    taken = [ctypes.create_string_buffer(port.size) for port in ports.outputs]
    structs = [
        (ctypes.c_void_p * len(buffers))(*map(ctypes.addressof, buffers))
        for buffers in (given, taken)
    ]
    status = library[f"{c_name(compiled.graph.name)}_run"](*structs)
    outputs = {port.name: data.raw for port, data in zip(ports.outputs, taken, strict=True)}
    return check_layers(compiled.graph, (sample,), _result(status, layers, outputs))


def _library(compiled: Compiled, code: bytes, folder: Path) -> Path:
    """Link the object with what a firmware gives it."""
    used = {space.name: space.size for space in compiled.plan.problem.pools}
    pools = "\n".join(
        POOL.format(name=pool.name, size=used[pool.name])
        for pool in compiled.soc.pools
        if pool.role == "workspace" and pool.name in used
    )
    (folder / "port.c").write_text(PORT.format(pools=pools), encoding="utf-8")
    (folder / "model.o").write_bytes(code)
    compiler = program("gcc", "install a C compiler of this machine")
    words = ["-shared", "-fPIC", "-O1", "-Wl,-z,noexecstack", "port.c", "model.o"]
    done = run([compiler, *words, "-o", "model.so"], folder=folder)
    assert not done.returncode, done.stderr
    return folder / "model.so"


def _result(
    status: int, layers: Mapping[int, Mapping[str, bytes]], outputs: Mapping[str, bytes]
) -> SimResult:
    return SimResult(
        stop=Stop.EXIT,
        exit_status=0,
        results=(status,),
        outputs=(outputs,),
        layers=(layers,),
        phases=(),
        findings=(),
        findings_total=0,
        stacks={},
        text="",
        trapped=None,
        cycles=0,
        wall_seconds=0.0,
    )
