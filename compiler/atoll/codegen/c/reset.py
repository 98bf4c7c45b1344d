# SPDX-License-Identifier: Apache-2.0
"""The function that gives a model's states their first bytes, as C99."""

from collections.abc import Iterator

from atoll.codegen.c.entry import cache_calls
from atoll.codegen.c.pools import in_lines, place
from atoll.codegen.c.words import identifier
from atoll.ir.tir import IRModule
from atoll.resolve.soc import ResolvedSoc

FILL = """static void atoll_fill(void *to, uint8_t value, uint32_t size) {
  uint8_t *target = (uint8_t *)to;
  for (uint32_t at = 0; at < size; ++at) {
    target[at] = value;
  }
}
"""


def reset_text(module: IRModule, soc: ResolvedSoc) -> Iterator[str]:
    """Yield ``void <model>_reset(void)`` and what it needs, nothing if there are no states."""
    kept = [item for item in module.entry.allocations if item.initial is not None]
    if not kept:
        return
    calls: list[str] = []
    filled = False
    for item in kept:
        assert item.initial is not None
        at, size = place(item.buffer), f"{item.size}u"
        if len(set(item.initial)) == 1:
            calls.append(f"atoll_fill({at}, {item.initial[0]}u, {size});")
            filled = True
        else:
            first = f"{identifier(item.buffer)}_initial"
            yield f"static const uint8_t {first}[] = {{\n{in_lines(item.initial)}}};\n"
            calls.append(f"atoll_copy({at}, {first}, {size});")
    if filled:
        yield FILL
    calls += cache_calls(module, soc.host, module.entry.reset)
    head = f"void {module.name}_reset(void)"
    body = "".join(f"  {each}\n" for each in calls)
    yield f"{head};\n\n{head} {{\n{body}}}\n"
