# SPDX-License-Identifier: Apache-2.0
"""The text of a graph reads back as the very same graph."""

from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.ir.faults import ProgramError
from atoll.ir.graph import ITEM_BYTES, Attribute, Graph, Operator, Quantization, Tensor
from atoll.ir.layouts import Layout, Patches
from atoll.ir.read_graph import parse_graph

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True) | st.sampled_from(
    ["none", "inf", "nan", "graph", "body", "packed", "scale", "zeros", "kept", "crc32", "x2"]
)
FLOATS = st.floats(allow_nan=False)
ATTRIBUTES: st.SearchStrategy[Attribute] = st.one_of(
    st.integers(),
    FLOATS,
    st.booleans(),
    NAMES,
    st.text(max_size=6),
    st.lists(st.integers(), max_size=3).map(tuple),
)
PAIRS = st.tuples(st.integers(0, 3), st.integers(0, 3))
SMALL = st.integers(1, 4)
QUANTIZATIONS = st.lists(st.tuples(FLOATS, st.integers(-200, 200)), max_size=3).flatmap(
    lambda rows: st.builds(
        Quantization,
        scales=st.just(tuple(scale for scale, _ in rows)),
        zero_points=st.just(tuple(zero for _, zero in rows)),
        axis=st.integers(0, 3),
    )
)
PATCHES = st.builds(Patches, kernel=PAIRS, stride=PAIRS, dilation=PAIRS, before=PAIRS, places=PAIRS)
LAYOUTS = st.builds(
    Layout,
    image=st.tuples(SMALL, SMALL, SMALL, SMALL),
    order=st.sampled_from(["NHWC", "NCHW", "NCHWc", "NHCWc"]),
    block=SMALL,
    row=SMALL,
    patches=st.none() | PATCHES,
    fill=st.integers(-128, 127),
)


@st.composite
def tensors(draw: st.DrawFn, name: str, names: list[str]) -> Tensor:
    tensor = Tensor(
        name=name,
        shape=tuple(draw(st.lists(st.integers(0, 5), max_size=3))),
        dtype=draw(st.sampled_from(sorted(ITEM_BYTES))),
        quantization=draw(st.none() | QUANTIZATIONS),
        index=draw(st.integers(-1, 9)),
        pools=draw(st.lists(NAMES, max_size=3).map(tuple)),
        layout=draw(st.none() | LAYOUTS),
    )
    if draw(st.booleans()):
        view, offset = draw(st.sampled_from(names)), draw(st.integers(0, 9))
        tensor = replace(tensor, view=view, offset=offset)
    if draw(st.booleans()):
        tensor = replace(tensor, rows_of=draw(NAMES), first_row=draw(st.integers(0, 9)))
    data, initial = (
        draw(st.none() | st.integers(0, 255).map(lambda byte: bytes([byte]) * tensor.size))
        for _ in range(2)
    )
    return replace(tensor, data=data, initial=initial)


@st.composite
def graphs(draw: st.DrawFn, depth: int = 0) -> Graph:
    """Make any graph that prints, sensible or not."""
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    some = st.lists(st.sampled_from(names), max_size=3).map(tuple)
    operators = [
        Operator(
            name=draw(NAMES),
            kind=draw(NAMES),
            inputs=draw(st.lists(st.sampled_from([*names, ""]), max_size=3).map(tuple)),
            outputs=draw(some),
            attributes=draw(st.dictionaries(NAMES, ATTRIBUTES, max_size=4)),
            device=draw(st.just("") | NAMES),
            index=draw(st.integers(-1, 9)),
            packed=draw(some),
            target=draw(st.just("") | NAMES),
            body=draw(graphs(depth + 1)) if depth < 2 and draw(st.integers(0, 4)) == 4 else None,
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    helpers = [
        replace(op, helpers=draw(st.lists(NAMES, max_size=2).map(tuple))) if op.device else op
        for op in operators
    ]
    return Graph(
        name=draw(NAMES),
        tensors=tuple(draw(tensors(name, names)) for name in names),
        operators=tuple(helpers),
        inputs=draw(some),
        outputs=draw(some),
    )


@settings(max_examples=cases(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_p2_the_text_of_any_graph_reads_back(graph: Graph) -> None:
    text = str(graph)
    read = parse_graph(text)
    assert read == graph
    assert str(read) == text
    assert parse_graph(" ".join(text.split())) == graph or '"' in text, "white space is free"


def test_p2_a_text_for_people_is_refused_where_it_leaves_bytes_out(tmp_path: Path) -> None:
    data = bytes(range(65))
    tensor = Tensor(name="w", shape=(65,), dtype="int8", data=data)
    graph = Graph("m", (tensor, replace(tensor, name="v", data=bytes(65))), (), (), ())
    assert graph.brief() == (
        f"graph m() -> ()\n  %w: int8[65] = crc32 0x{crc32(data):08x}\n  %v: int8[65] = zeros\n\n"
    )
    assert parse_graph(str(graph)) == graph
    path = tmp_path / "graph.txt"
    path.write_text(graph.brief())
    with pytest.raises(ProgramError) as caught:
        parse_graph(graph.brief(), path)
    (fault,) = caught.value.faults
    assert (fault.code, str(fault.at)) == ("E198", f"{path}:2:18")
    assert fault.message == "this text is for people and leaves out the bytes of 'w'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1 of the graph: the end instead of 'graph'"),
        ("graph m(x)", "line 1, column 11 of the graph: the end instead of '->'"),
        ("graph m() -> ()\n\n %x: int9[1]", "line 3, column 6 of the graph: 'int9' instead of one"),
        ("graph m() -> ()\n%x: int8[1,2]", "line 2, column 11 of the graph: ',' instead of ']'"),
        ("graph m() -> ()\n%x = add(%y)", "line 2, column 13 of the graph: the end instead of '{'"),
        ("graph m() -> ()\n%x = add(%y) {a}  # n", "column 16 of the graph: '}' instead of '='"),
        ("graph m() -> ()\n%x = add(%y) {a=)}  # n", "')' instead of a value such as 1, 0.5"),
        ("graph m(x) -> ()", "line 1, column 9 of the graph: the graph names tensor 'x' and does"),
        ("graph m() -> ()\n%x: int8[1]\n%x: int8[1]", "instead of a tensor that is not declared"),
        ("graph m() -> ()\n%x: int8[2] = 0x00", "'0x00' instead of the 2 bytes of 'x'"),
        ("graph m() -> ()\n%x: int8[2] scale (a) zero (1)", "'a' instead of a number"),
        ("graph m() -> ()\n%x: int8[2] as NHWC {image=3}", "layout 'NHWC' has not the values"),
        ('graph m() -> ()\n%x = add() {a="\\q"} # n', "instead of a text in quotes"),
        ("graph m() -> ()\n}", "'}' instead of the end of the graph"),
        ("graph m() -> ()\nx", "'x' instead of a tensor such as"),
    ],
)
def test_p2_ill_formed_text_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match="E222") as caught:
        parse_graph(text)
    assert message in str(caught.value)
