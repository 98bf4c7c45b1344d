# SPDX-License-Identifier: Apache-2.0
"""A model as one file of C99 for each core that has a part in it."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.codegen.apart import Apart, together_on
from atoll.codegen.c.entry import CACHES, COPY, NPU_CACHES, RUNTIME, RunText, steps_text
from atoll.codegen.c.expressions import (
    DOT,
    DOT_OF,
    OF_WORDS,
    WORD,
    Expressions,
    helper,
    instruction_name,
    instruction_text,
)
from atoll.codegen.c.functions import FunctionText, signature
from atoll.codegen.c.pools import foreign_pools, host_pools
from atoll.codegen.c.reset import reset_text
from atoll.codegen.commands import link_lists
from atoll.codegen.core_steps import calls_on, maintains, overlapping_parameters
from atoll.codegen.pool_images import behind
from atoll.codegen.run_arguments import run_arguments
from atoll.ir.tir import IRModule, PrimFunc
from atoll.ir.walk import executed_instructions, externs, runtime_allocations
from atoll.isa.code_target import Generator
from atoll.isa.function_unit import DOT4, Instruction
from atoll.memory.problem import MemoryPlan
from atoll.resolve.c_functions import translation
from atoll.resolve.soc import Cpu, ResolvedSoc

HEAD = """#include <stdint.h>

#if defined(__GNUC__)
#define ATOLL_KERNEL static __attribute__((noinline))
#if defined(ATOLL_NO_SECTIONS) /* constants may lie anywhere */
#define ATOLL_IN_POOL(name, alignment) __attribute__((aligned(alignment)))
#else
#define ATOLL_IN_POOL(name, alignment) \\
  __attribute__((section(".atoll.pool." name), aligned(alignment)))
#endif
#define ATOLL_MAY_ALIAS __attribute__((may_alias))
#else /* the linker puts each pool where the plan has it; strict aliasing has to be off */
#define ATOLL_KERNEL static
#define ATOLL_IN_POOL(name, alignment)
#define ATOLL_MAY_ALIAS
#endif

/* Elements of buffers, whose bytes serve other types at other times. */
typedef int16_t ATOLL_MAY_ALIAS atoll_i16;
typedef int32_t ATOLL_MAY_ALIAS atoll_i32;
typedef int64_t ATOLL_MAY_ALIAS atoll_i64;

/* What C99 leaves to the compiler: shifts keep the sign, conversions keep the low bits. */
typedef char atoll_shifts_keep_the_sign[(-3 >> 1) == -2 ? 1 : -1];
typedef char atoll_conversions_keep_low_bits[(int8_t)(uint8_t)255 == -1 ? 1 : -1];
typedef char atoll_int_has_32_bits[sizeof(int) >= 4 ? 1 : -1];
"""
WORKSPACE = """struct atoll_workspace;
int32_t atoll_workspace_allocate(struct atoll_workspace *workspace, uint32_t size, void **block);
int32_t atoll_workspace_free(struct atoll_workspace *workspace, const void *block);
"""


def emit_sources(
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    commands: Mapping[str, bytes],
    position: int = 0,
) -> dict[str, str]:
    """Return the C of a model for every core that has an image, by name, host first.

    The arguments, symbols and sections are those of `atoll.codegen.llvm.emit_objects`.
    """
    starts = {space.name: behind(space, soc) for space in plan.problem.pools}
    run = RunText(module, soc, run_arguments(module, plan, soc), position, starts)
    host = (
        _title(module, soc.host),
        HEAD,
        RUNTIME,
        *host_pools(module, plan, soc, link_lists(commands, module, plan, soc)),
        *_kernels(module, soc.host_cpu),
        *((CACHES,) if maintains(module, soc.host) else ()),
        *((NPU_CACHES,) if any(maintains(module, npu.name) for npu in soc.cached_npus) else ()),
        *run.structs(),
        COPY,
        run.text(),
        *reset_text(module, soc),
    )
    sources = {soc.host: "\n".join(host)}
    for core in soc.remote_cpus:
        buffers = [name for _, call in calls_on(module, core.name) for name in call.arguments]
        parts = (
            _title(module, core.name),
            HEAD,
            *foreign_pools(plan, soc, core.name, buffers),
            *_kernels(module, core),
            *((CACHES,) if maintains(module, core.name) else ()),
            steps_text(module, core.name, position),
        )
        sources[core.name] = "\n".join(parts)
    return sources


def _kernels(module: IRModule, core: Cpu) -> Iterator[str]:
    overlapping = overlapping_parameters(module)
    functions, apart = together_on(module, core, Generator.C)
    yield from functions_text(functions, overlapping, four=_four(core), network=module.name)
    for each in apart:
        yield f"{signature(each, overlapping.get(each.name, frozenset()))};\n"


def apart_source(module: IRModule, apart: Apart) -> str:
    """Return the C of kernels of one target of a core, as global functions."""
    functions, name = apart.functions, apart.core.name
    network = f"{module.name}_{apart.target.name}"
    overlapping, four = overlapping_parameters(module), _four(apart.core)
    texts = functions_text(functions, overlapping, "", four, network)
    title = f"/* What the network {module.name} has on '{name}' for '{apart.target.name}'. */"
    return "\n".join((title, HEAD, *texts))


def _four(core: Cpu) -> Instruction | None:
    return core.unit.meaning(DOT4) if core.unit else None


def _title(module: IRModule, core: str) -> str:
    return f"/* The network {module.name} on the core {core}, made by `atoll build --emit c`. */"


def functions_text(
    functions: Sequence[PrimFunc],
    overlapping: Mapping[str, frozenset[str]],
    kernel: str = "ATOLL_KERNEL ",
    four: Instruction | None = None,
    network: str = "",
) -> Iterator[str]:
    """Yield functions, callees first, with what they need.

    Args:
        functions: of one core.
        overlapping: parameters that may share bytes with others, by function.
        kernel: begins the functions of operators.
        four: the core's instruction that adds four products of int8, if it has one.
        network: whose functions these are.
    """
    expressions = Expressions(four, of_words=bool(four or executed_instructions(functions)))
    texts = []
    if foreign := externs(functions):
        yield translation(foreign, network)
    for function in functions:
        words = "static inline " if function.result else kernel
        head = signature(function, overlapping.get(function.name, frozenset()))
        texts.append(f"{words}{head} {FunctionText(function, expressions, network).body()}")
    taken = {each.pools[0] for one in functions for each in runtime_allocations(one)}
    if taken:
        yield WORKSPACE
        yield "".join(
            f"extern struct atoll_workspace atoll_heap_{each};\n" for each in sorted(taken)
        )
    yield from (helper(*each) for each in sorted(expressions.helpers))
    if expressions.dots:
        yield DOT
    if expressions.of_words:
        yield OF_WORDS
    if expressions.words:
        yield WORD
    products = expressions.products
    called = expressions.instructions | ({products} if products else set())
    yield from (instruction_text(each) for each in sorted(called, key=lambda each: each.name))
    if products:
        yield DOT_OF.format(name=instruction_name(products))
    yield from texts
