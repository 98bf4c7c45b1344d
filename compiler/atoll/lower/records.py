# SPDX-License-Identifier: Apache-2.0
"""Commands for accelerators that have no emitter of their own: a record for each operator.

Where a program drives the accelerator, the record has what its steps need (`atoll.program.record`)
and the host's driver reads it. Otherwise the accelerator runs lists of commands, and the record is
one: 16 words, which are the number of the operator among those that it runs, how many addresses
follow, and the addresses of inputs, of packed constants and of the result.
"""

from collections.abc import Mapping

from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.ops.formulas import (
    Address,
    formulas,
    operands,
    packed_constants,
    support_of,
    values_of,
)
from atoll.ops.registry import kind_of
from atoll.program.expressions import names_of, parse, value_of
from atoll.program.record import WORD_BYTES, Layout, layout_of
from atoll.program.steps import ADDRESS, all_steps
from atoll.resolve.soc import Engine

LIST_WORDS = 16
"""Words of a record of an accelerator that runs lists of commands; more for many operands."""

_HEAD = 2
_USUAL_START = 40


class RecordEmitter:
    """Makes the records; see `atoll.lower.accelerator.CommandEmitter`."""

    def basis(self, npu: Engine) -> str:
        """Return what its cycles rest on: formulas of the description, or what stands in."""
        sources = {"formula" if each.cost else "assumed" for each in npu.spec.operators}
        return ", ".join(sorted(sources, reverse=True))

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Pack the constants that the description names."""
        constants = () if op.packed else tuple(packed_constants(op, graph, npu))
        return Job(
            operator=op.name,
            device=npu.name,
            reads=(*_reads(op, graph, npu), *op.packed),
            writes=op.outputs,
            constants=constants,
            commands=f"{op.name}_commands",
            commands_size=_size(op, npu),
            alignment=max((each.alignment for each in support_of(op, npu).constants), default=16),
        )

    def encode(
        self, op: Operator, graph: Graph, npu: Engine, address: Address, splits: int = 1
    ) -> bytes:
        """Return the record, with the addresses that memory planning chose."""
        if npu.spec.program is None:
            return _command_list(op, graph, npu, address)
        untouched = {*op.inputs} - {*_reads(op, graph, npu)}
        values = values_of(op, graph, npu, lambda name: 0 if name in untouched else address(name))
        layout, kinds = record_layout(op.kind, npu), tuple(npu.spec.program.runs)
        with formulas(op, npu):
            return layout.pack(kinds.index(op.kind), values)

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return what the program says that registers hold."""
        return npu.spec.program.identity if npu.spec.program else {}

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Compute the formula of the description.

        Without one: 40 cycles, one for each multiply-accumulate, and one for each beat of 8 bytes.
        """
        support = support_of(op, npu)
        if not support.cost:
            moved = (graph.tensor(name).size for name in filter(None, (*op.inputs, *op.outputs)))
            macs = kind_of(op).features(op, graph)["macs"]
            return _USUAL_START + macs + sum(-(-size // 8) for size in moved)
        with formulas(op, npu):
            return value_of(parse(support.cost), values_of(op, graph, npu, lambda name: 0))


def record_layout(kind: str, npu: Engine) -> Layout:
    """Return the layout of the records of a kind of operator on an accelerator with a program."""
    assert npu.spec.program
    return layout_of(npu.spec.program.runs[kind])


def _reads(op: Operator, graph: Graph, npu: Engine) -> tuple[str, ...]:
    """Return the activations, and the constants of which formulas or steps want the bytes."""
    named = _named_operands(op, npu)
    wanted = (
        tensor.name
        for name, tensor in operands(op, graph)
        if tensor.name in op.inputs and (tensor.data is None or named is None or name in named)
    )
    return tuple(dict.fromkeys(wanted))


def _named_operands(op: Operator, npu: Engine) -> frozenset[str] | None:
    """Return the operands whose bytes the steps touch, None if nobody says."""
    support, program = support_of(op, npu), npu.spec.program
    if program is None:
        return frozenset() if support.constants else None
    steps = tuple(all_steps(program.runs[op.kind]))
    formulas = [parse(each) for each in support.values.values()]
    formulas += [expression for step in steps for expression in step.expressions]
    names = {name for each in formulas for name in names_of(each) if name.endswith(ADDRESS)}
    return frozenset({name.removesuffix(ADDRESS) for name in names} | {s.buffer for s in steps})


def _size(op: Operator, npu: Engine) -> int:
    if npu.spec.program:
        return record_layout(op.kind, npu).size
    constants = len(support_of(op, npu).constants)
    words = _HEAD + len(op.inputs) + constants + len(op.outputs)
    return WORD_BYTES * -(-words // LIST_WORDS) * LIST_WORDS


def _command_list(op: Operator, graph: Graph, npu: Engine, address: Address) -> bytes:
    reads = _reads(op, graph, npu)
    made = op.packed or (tensor.name for tensor in packed_constants(op, graph, npu))
    inputs = (name for name in op.inputs if name in reads)
    addresses = [address(name) for name in (*inputs, *made, *op.outputs)]
    kinds = tuple(support.kind for support in npu.spec.operators)
    words = (kinds.index(op.kind), len(addresses), *addresses)
    data = b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)
    return data.ljust(_size(op, npu), b"\0")
