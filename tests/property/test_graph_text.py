# SPDX-License-Identifier: Apache-2.0
"""The text of a graph reads back as the graph, but for what the text does not hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ir.graph_text import parse_graph

from atoll.ir.faults import ProgramError
from atoll.ir.graph import ITEM_BYTES, Attribute, Graph, Operator, Quantization, Tensor

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
NAMES = WORDS.filter(lambda word: word != "none")
CHOICES = st.sampled_from(["none", "relu", "relu6", "relu_n1_to_1"])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ATTRIBUTES: st.SearchStrategy[Attribute] = st.one_of(
    st.integers(), FLOATS, st.booleans(), CHOICES, st.lists(st.integers(), max_size=3).map(tuple)
)


@st.composite
def tensors(draw: st.DrawFn, name: str, views: st.SearchStrategy[str]) -> Tensor:
    dtype = draw(st.sampled_from(sorted(ITEM_BYTES)))
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    pools = draw(st.lists(WORDS, max_size=3).map(tuple))
    tensor = Tensor(name=name, shape=shape, dtype=dtype, pools=pools, view=draw(views))
    return replace(tensor, data=bytes(tensor.size)) if draw(st.booleans()) else tensor


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Make any graph that prints, sensible or not."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    some = st.lists(st.sampled_from(names), max_size=3).map(tuple)
    views = st.just("") | st.sampled_from(names)
    operators = [
        Operator(
            name=draw(WORDS),
            kind=draw(WORDS),
            inputs=draw(st.lists(st.sampled_from([*names, ""]), max_size=3).map(tuple)),
            outputs=draw(some),
            attributes=draw(st.dictionaries(WORDS, ATTRIBUTES, max_size=4)),
            device=draw(st.just("") | WORDS),
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    return Graph(
        name=draw(WORDS),
        tensors=tuple(draw(tensors(name, views)) for name in names),
        operators=tuple(operators),
        inputs=draw(some),
        outputs=draw(some),
    )


@given(graphs())
def test_p2_the_text_of_any_graph_reads_back(graph: Graph) -> None:
    read = parse_graph(str(graph))
    assert read == graph
    assert str(read) == str(graph)


def test_p2_what_the_text_does_not_hold_is_empty() -> None:
    scale = Quantization(scales=(0.5,), zero_points=(1,))
    full = Tensor(
        name="w",
        shape=(2,),
        dtype="int8",
        quantization=scale,
        data=b"\1\2",
        index=7,
        pools=("rom",),
    )
    graph = Graph(name="m", tensors=(full,), operators=(), inputs=(), outputs=())
    bare = replace(full, quantization=None, data=bytes(2), index=-1)
    assert parse_graph(str(graph)) == replace(graph, tensors=(bare,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 of the graph: '' instead of 'graph NAME"),
        ("graph m(x)", "line 1 of the graph: 'graph m(x)' instead of 'graph NAME"),
        ("graph m() -> ()\n\n %x: int9[1]", "line 3 of the graph: 'int9' instead of one of int8"),
        ("graph m() -> ()\n%x: int8[1,2]", "line 2 of the graph: '%x: int8[1,2]' instead of a"),
        ("graph m() -> ()\n%x = add(%y)", "line 2 of the graph: '%x = add(%y)' instead of an"),
        ("graph m() -> ()\n%x = add(%y) {a}  # n", "line 2 of the graph: 'a' instead of options"),
        ("graph m(x) -> ()", "the graph names tensor 'x' and does not declare it"),
    ],
)
def test_p2_ill_formed_text_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match="E079") as caught:
        parse_graph(text)
    assert message in str(caught.value)
