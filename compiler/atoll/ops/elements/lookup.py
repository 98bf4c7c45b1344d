# SPDX-License-Identifier: Apache-2.0
"""LOOKUP: a table of what each int8 value becomes, for what real numbers compute of one value."""

from collections.abc import Iterator

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.elements.elementwise import VALUES, broadcast_shape, symmetric
from atoll.ops.elements.unary import Unary
from atoll.ops.quantization import LIMITS, Integers


class Lookup(Unary):
    """A kind that front ends make; its `table` has the results in the order of `VALUES`."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an int8 input, an int8 or int16 result, and a table of 256 results."""
        checks.apply(_RULES, op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Look each value up."""
        table: Integers = np.array(op.attributes["table"], np.int64)
        results: Integers = table[values & (len(VALUES) - 1)]
        return results


def _table(op: Operator, graph: Graph) -> Iterator[Fault]:
    (output,), table = graph.results(op), op.attributes.get("table")
    least, most = LIMITS[output.dtype]
    results = table if isinstance(table, tuple) else ()
    if len(results) != len(VALUES) or not all(least <= each <= most for each in results):
        yield checks.fault(op, f"has no table of {len(VALUES)} values of {output.dtype}")


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8",), results=("int8", "int16")),
    checks.output_shape(broadcast_shape),
    symmetric,
    _table,
)


LOOKUP = Lookup()
