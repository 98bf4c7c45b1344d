"""LOOKUP: a table of what each int8 value becomes, for what real numbers compute of one value."""

from collections.abc import Iterator

import numpy as np

from atoll.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.elements.elementwise import VALUES
from atoll.ops.elements.unary import Unary
from atoll.ops.quantization import LIMITS, Integers


class Lookup(Unary):
    """A kind that front ends make; its `table` has the results in the order of `VALUES`."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a quantised int8 input of the output's shape, and a table of 256 results."""
        super().check(op, graph)
        checks.apply((_table,), op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Look each value up."""
        table: Integers = np.array(op.attributes["table"], np.int64)
        results: Integers = table[values & (len(VALUES) - 1)]
        return results


def _table(op: Operator, graph: Graph) -> Iterator[Fault]:
    table, (least, most) = op.attributes.get("table"), LIMITS["int8"]
    results = table if isinstance(table, tuple) else ()
    if len(results) != len(VALUES) or not all(least <= each <= most for each in results):
        yield checks.fault(op, f"has no table of {len(VALUES)} values of int8")


LOOKUP = Lookup()
