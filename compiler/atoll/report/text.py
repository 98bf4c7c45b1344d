# SPDX-License-Identifier: Apache-2.0
"""The report as a person reads it in a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType

from atoll.cost.basis import with_basis
from atoll.memory.problem import MemoryPlan
from atoll.report.grid import Grid, Sentence
from atoll.report.result import Relinked, RunReport, StackUse

MISMATCHES_SHOWN = 5
VIOLATIONS_SHOWN = 10


def render(report: RunReport, plan: MemoryPlan | None = None, *, brief: bool = False) -> Group:
    """Lay the report out; with `plan` also the memory map of each pool.

    Args:
        report: what to show.
        plan: the plan that the run was held against.
        brief: leave out the memory map and the cycles of each layer.
    """
    parts: list[RenderableType] = []
    if plan and not brief:
        parts += memory_maps(plan)
    if report.by_layer and report.relinked and not brief:
        parts.append(instruction_table(report, report.relinked))
    elif report.by_layer and report.clocked and not brief:
        parts.append(cycle_table(report))
    parts.append(resource_table(report))
    if report.not_modelled and not brief:
        parts.append(Sentence(f"not modelled: {'; '.join(report.not_modelled)}"))
    parts += _verdict(report)
    return Group(*parts)


def memory_maps(plan: MemoryPlan) -> Iterator[Grid]:
    """Yield a table for each pool that holds a buffer, by address."""
    for pool in plan.problem.pools:
        buffers = {buffer.name: buffer for buffer in plan.problem.buffers}
        inside = [plan.placements[name] for name in buffers]
        inside = [place for place in inside if place.pool == pool.name]
        if not inside:
            continue
        use = plan.use[pool.name]
        yield Grid(
            title=f"pool {pool.name}: {use.used:,} of {use.size:,} B used, bound {use.bound:,} B",
            headings=("address", "bytes", "live steps", "buffer"),
            left=("buffer",),
            rows=tuple(
                (
                    f"{pool.origin + placement.offset:#010x}",
                    f"{buffer.size:,}",
                    ", ".join(f"{first}..{end - 1}" for first, end in buffer.live),
                    buffer.name,
                )
                for placement in sorted(inside, key=lambda p: (p.offset, buffers[p.buffer].live))
                for buffer in (buffers[placement.buffer],)
            ),
        )


def cycle_table(report: RunReport) -> Grid:
    """Return cycles per layer and device, of the first sample; their time if clocks differ."""
    clocks = any(layer.clock != report.host_clock for layer in report.by_layer)
    layers = tuple(
        (
            layer.operator,
            f"{layer.device} + {len(layer.helpers)}" if layer.helpers else layer.device,
            *(f"{cycles:,}" for cycles in (layer.begin, layer.end, layer.cycles)),
            *(f"{layer.worked:,}", with_basis(f"{layer.estimate:,}", layer.basis)),
            *([] if layer.instructions is None else [f"{layer.instructions:,}"]),
            *([f"{layer.device_cycles:,}", f"{layer.nanoseconds / 1000:,.2f}"] if clocks else []),
        )
        for layer in report.by_layer
    )
    more = ["instructions"] if any(e.instructions is not None for e in report.by_layer) else []
    more += ["own cycles", "us"] if clocks else []
    devices = dict.fromkeys(layer.device for layer in report.by_layer)
    sums = tuple(
        (f"all on {device}", "", "", "", f"{cycles:,}", "", "", *("" for _ in more))
        for device in devices
        for cycles in (sum(each.cycles for each in report.by_layer if each.device == device),)
    )
    return Grid(
        title=f"cycles{' of the host' if clocks else ''} by layer (first sample)",
        headings=("operator", "device", "begin", "end", "cycles", "worked", "estimate", *more),
        left=("operator", "device"),
        rows=(*layers, *sums),
        strong=range(len(layers), len(layers) + len(sums)),
    )


def instruction_table(report: RunReport, relinked: Relinked) -> Grid:
    """Return what each operator of the first sample took on a machine that is not the chip."""
    return Grid(
        title=f"instructions by layer on QEMU's machine '{relinked.machine}' (first sample)",
        headings=("operator", "device", "instructions"),
        left=("operator", "device"),
        rows=tuple(
            (layer.operator, layer.device, f"{layer.instructions or 0:,}")
            for layer in report.by_layer
        ),
    )


def resource_table(report: RunReport) -> Grid:
    """Return what each pool and stack holds against its limit."""
    pools = tuple(
        (f"pool {name}", f"{pool.used:,} B", f"{pool.bound:,} B", f"{pool.size:,} B", "")
        for name, pool in report.pools.items()
    )
    stacks = tuple(
        (
            f"stack {device}{_place_of(report, stack)}",
            "not measured" if stack.watermark is None else f"{stack.watermark:,} B",
            "no binary" if stack.bound is None else f"{stack.bound:,} B",
            f"{stack.limit:,} B",
            stack.layer,
        )
        for device, stack in report.stack.items()
    )
    return Grid(
        headings=("resource", "used", "bound", "limit", "set by"),
        left=("resource", "set by"),
        rows=(*pools, *stacks),
    )


def _place_of(report: RunReport, stack: StackUse) -> str:
    """Say where a stack was used, if it is not the chip's."""
    measured = stack.watermark is not None
    return f" on {report.relinked.machine}" if report.relinked and measured else ""


def _verdict(report: RunReport) -> Iterator[Sentence]:
    for mismatch in report.mismatches[:MISMATCHES_SHOWN]:
        yield Sentence(str(mismatch), style="red")
    if len(report.mismatches) > MISMATCHES_SHOWN:
        yield Sentence(
            f"... and {len(report.mismatches) - MISMATCHES_SHOWN} more tensors that differ"
        )
    for violation in report.violations[:VIOLATIONS_SHOWN]:
        yield Sentence(str(violation), style="red")
    if len(report.violations) > VIOLATIONS_SHOWN:
        yield Sentence(f"... and {len(report.violations) - VIOLATIONS_SHOWN} more violations")
    if report.relinked:
        yield Sentence(str(report.relinked), style="yellow")
    if report.concurrency.at_once:
        yield Sentence(str(report.concurrency))
    for note in report.notes:
        yield Sentence(f"note: {note}")
    if report.start_seed is not None and not report.passed:
        yield Sentence(f"what nobody resets began with random values of seed {report.start_seed}")
    what = "outputs" if report.cpu == "board" else "layers"
    yield Sentence(
        f"{report.model} on {report.soc}: {report.layers_equal} of {report.layers_compared} {what} "
        f"bit-exact over {report.samples} sample{'s' if report.samples != 1 else ''}, "
        "against Atoll's reference",
        style="green" if report.bit_exact else "red",
    )
    if report.oracle:
        yield Sentence(str(report.oracle), style="green" if report.oracle.passed else "red")
    count = len(report.violations)
    if not count and not report.accesses:
        yield Sentence(f"no accesses were judged: {_unjudged_text(report)}", style="yellow")
        return
    yield Sentence(
        f"{count} placement violation{'s' if count != 1 else ''} in {report.accesses:,} accesses",
        style="red" if count else "green",
    )


def _unjudged_text(report: RunReport) -> str:
    """Say why no access of a run could be held against the plan."""
    if report.cpu == "qemu":
        return "QEMU does not tell them; firewalls and shadow memory are no part of its machines"
    if report.cpu == "board":
        return "a board does not tell them"
    if report.cpu != "native":
        return "the simulation recorded none"
    if report.accelerator == "none":
        return "those of a native core are not recorded, and no accelerator took part"
    return "those of a native core are not recorded, and no operator ran on an accelerator"
