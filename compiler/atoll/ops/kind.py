# SPDX-License-Identifier: Apache-2.0
"""What a kind of operator is: the one interface of Atoll's operators and of other packages'."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Lowered
from atoll.isa.instruction_set import Arithmetic
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.tflite_form import TfliteForm
from atoll.records import dataclass

Array = NDArray[np.generic]
Distances = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Operators that together do what one does.

    Attributes:
        operators: in their order; they read and write the tensors of the one, and their own.
        tensors: those of their own.
    """

    operators: tuple[Operator, ...]
    tensors: tuple[Tensor, ...] = ()


class OperatorKind(ABC):
    """All that Atoll needs to know about one kind of operator.

    Attributes:
        tflite: how TFLite files hold it, None if they do not.
        any_layout: where no input is broadcast, each element of the result depends on those at its
            place alone: a core computes it in any layout that all tensors have.
        slower_over_operands: its loops move bytes one by one where the result may lie over an
            operand. Where it may not, compilers move words.
        of_shapes_alone: its result depends on no value of its inputs, but on their shapes.
        unproven: what a run does not show of such an operator, for people.
        on_cores: a core can run it; else `lower` and `cycles` are never asked.
        parallel: loops of its program, by the names that it gives them, each of whose iterations
            writes bytes of its own and reads none that others write; `parallel_loops` shares
            them out. The one that does the least twice comes first.
    """

    tflite: ClassVar[TfliteForm | None] = None
    any_layout: ClassVar[bool] = False
    slower_over_operands: ClassVar[bool] = False
    unproven: ClassVar[str] = ""
    of_shapes_alone: ClassVar[bool] = False
    on_cores: ClassVar[bool] = True
    parallel: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, op: Operator, graph: Graph) -> None:
        """Accept `op` if it can be compiled.

        Raises:
            ModelError: an option, type or shape is not supported; the message names the
                operator, the tensor and its index.
        """

    @abstractmethod
    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the outputs from the inputs, bit for bit as the TFLM reference kernels."""

    @abstractmethod
    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the operator's loop program, with shapes and quantisation as constants."""

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Return the program that suits an `arithmetic`: of most kinds, one suits all cores."""
        return self.lower(op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return what accelerator descriptions match on and reports count, at least `macs`."""
        return {"macs": 0}

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the numbers of its arithmetic that accelerators' formulas may name."""
        return {}

    def table(self, op: Operator, graph: Graph) -> Array | None:
        """Return int8 [256], what each int8 value of its only input becomes, by its byte.

        None if an element of the result depends on anything else.
        """
        return None

    def caution(self, op: Operator, graph: Graph) -> str:
        """Say what other runtimes than TFLM make another result of; "" if none is known to."""
        return ""

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Say how far the output of the loop program may lie over each input.

        Returns:
            For each input the least distance in bytes, 0 or more, from the start of the output
            up to the start of the input with which no byte is written that is still read; None
            where the two must not share bytes.
        """
        return (None,) * len(op.inputs)

    def view_offset(self, op: Operator, graph: Graph) -> int | None:
        """Return where in its first input the bytes of its result lie in their order.

        Placement may then move none; None if they do not lie there so.
        """
        return None

    def joins(self, op: Operator, graph: Graph) -> bool:
        """Tell whether its result is its inputs, one behind the other.

        Placement may then have them written there, and move none.
        """
        return False

    def parts(self, op: Operator, graph: Graph) -> Parts | None:
        """Return simpler operators that take its place, None if it is compiled as it is.

        They do so once `check` accepts it; `lower` is then never asked. Names that the graph has
        already are changed.
        """
        return None

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Return how it makes some rows of its result [1, H, W, C], None if it cannot."""
        return None

    def why_off_cores(self, op: Operator) -> str:
        """Say, for people, why an accelerator must run `op`; asked where `on_cores` is False."""
        return "no core can run it"

    def cycles(self, op: Operator, graph: Graph) -> int | None:
        """Predict the cycles of a core where its loops cannot be counted; None if unknown."""
        return None
