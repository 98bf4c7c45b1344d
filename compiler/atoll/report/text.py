"""The report as a person reads it in a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from atoll.memory.problem import MemoryPlan
from atoll.report.result import RunReport

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
    if report.by_layer and report.total_cycles and not brief:
        parts.append(cycle_table(report))
    parts += [resource_table(report), *_verdict(report)]
    return Group(*parts)


def memory_maps(plan: MemoryPlan) -> Iterator[Table]:
    """Yield a table for each pool that holds a buffer, by address."""
    for pool in plan.problem.pools:
        inside = [p for p in plan.placements.values() if p.pool == pool.name]
        if not inside:
            continue
        use = plan.use[pool.name]
        table = Table(
            title=f"pool {pool.name}: {use.used:,} of {use.size:,} B used, bound {use.bound:,} B",
            title_justify="left",
            box=None,
            pad_edge=False,
        )
        for heading in ("address", "bytes", "live steps", "buffer"):
            table.add_column(heading, justify="left" if heading == "buffer" else "right")
        buffers = {buffer.name: buffer for buffer in plan.problem.buffers}
        for placement in sorted(inside, key=lambda p: (p.offset, buffers[p.buffer].live)):
            buffer = buffers[placement.buffer]
            table.add_row(
                f"{pool.origin + placement.offset:#010x}",
                f"{buffer.size:,}",
                ", ".join(f"{first}..{end - 1}" for first, end in buffer.live),
                buffer.name,
            )
        yield table


def cycle_table(report: RunReport) -> Table:
    """Return cycles per layer and device, of the first sample."""
    table = Table(
        title="cycles by layer (first sample)", title_justify="left", box=None, pad_edge=False
    )
    for heading in ("operator", "device", "begin", "end", "cycles", "worked", "estimate"):
        table.add_column(heading, justify="left" if heading in ("operator", "device") else "right")
    for layer in report.by_layer:
        times = (layer.begin, layer.end, layer.cycles, layer.worked, layer.estimate)
        table.add_row(layer.operator, layer.device, *(f"{cycles:,}" for cycles in times))
    for kind, cycles in report.cycles_by_kind.items():
        table.add_row(f"all on {kind}", "", "", "", f"{cycles:,}", style="bold")
    return table


def resource_table(report: RunReport) -> Table:
    """Return what each pool and stack holds against its limit."""
    table = Table(box=None, pad_edge=False)
    for heading in ("resource", "used", "bound", "limit"):
        table.add_column(heading, justify="left" if heading == "resource" else "right")
    for name, pool in report.pools.items():
        table.add_row(f"pool {name}", f"{pool.used:,} B", f"{pool.bound:,} B", f"{pool.size:,} B")
    for device, stack in report.stack.items():
        table.add_row(
            f"stack {device}",
            "not measured" if stack.watermark is None else f"{stack.watermark:,} B",
            "no binary" if stack.bound is None else f"{stack.bound:,} B",
            f"{stack.limit:,} B ({stack.layer})",
        )
    return table


def _verdict(report: RunReport) -> Iterator[Text]:
    for mismatch in report.mismatches[:MISMATCHES_SHOWN]:
        yield Text(str(mismatch), style="red")
    if len(report.mismatches) > MISMATCHES_SHOWN:
        yield Text(f"... and {len(report.mismatches) - MISMATCHES_SHOWN} more tensors that differ")
    for violation in report.violations[:VIOLATIONS_SHOWN]:
        yield Text(str(violation), style="red")
    if len(report.violations) > VIOLATIONS_SHOWN:
        yield Text(f"... and {len(report.violations) - VIOLATIONS_SHOWN} more violations")
    if report.concurrency.at_once:
        yield Text(str(report.concurrency))
    for note in report.notes:
        yield Text(f"note: {note}")
    yield Text(
        f"{report.model} on {report.soc}: {report.layers_equal} of {report.layers_compared} layers "
        f"bit-exact over {report.samples} sample{'s' if report.samples != 1 else ''}",
        style="green" if report.bit_exact else "red",
    )
    count = len(report.violations)
    yield Text(
        f"{count} placement violation{'s' if count != 1 else ''} in {report.accesses:,} accesses",
        style="red" if count else "green",
    )
