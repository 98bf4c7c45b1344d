# SPDX-License-Identifier: Apache-2.0
"""A sample of each network with the right outputs: what the first application runs."""

from collections.abc import Mapping, Sequence

from atoll.artifacts.samples import Sample
from atoll.bsp.c_names import c_name
from atoll.driver.pipeline import Compiled
from atoll.ops import reference
from atoll.records import dataclass

_BYTES_OF_A_LINE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A run of a network.

    Attributes:
        name: of the network.
        inputs: bytes of each input, by its name, in the model's order.
        outputs: bytes of each output that the reference gives, likewise.
    """

    name: str
    inputs: Mapping[str, bytes]
    outputs: Mapping[str, bytes]

    @property
    def arrays(self) -> tuple[tuple[str, str, tuple[str, ...], int], ...]:
        """Name, comment, lines of bytes in C, and size of each array of the header."""
        name = c_name(self.name)
        return tuple(
            (f"{name}_{way}_{c_name(port)}", f"{way} '{port}'", lines(data), len(data))
            for way, ports in (("input", self.inputs), ("output", self.outputs))
            for port, data in ports.items()
        )


def example_of(compiled: Compiled, samples: Sequence[Sample]) -> Example:
    """Return the run of the first sample."""
    graph, sample = compiled.graph, samples[0]
    values = reference.run(graph, sample, compiled.soc)
    return Example(
        name=graph.name,
        inputs={name: sample[name].tobytes() for name in graph.inputs},
        outputs={name: values[name].tobytes() for name in graph.outputs},
    )


def lines(data: bytes) -> tuple[str, ...]:
    """Return bytes as lines of a C initializer."""
    rows = (data[at : at + _BYTES_OF_A_LINE] for at in range(0, len(data), _BYTES_OF_A_LINE))
    return tuple(", ".join(map(str, row)) + "," for row in rows)
