# SPDX-License-Identifier: Apache-2.0
"""Chains in stripes: which rows are made, where they lie, and what may not be cut."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.operator_samples import SCALE, Tree
from tests.recurrent_samples import svdf

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops.registry import COPY
from atoll.place.plan_devices import plan_devices
from atoll.place.views import with_views
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll.tile.cut import Cut, Tiling, tile
from atoll.tile.stripes import Chain, stripes_of

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
DUO = str(ROOT / "tests" / "data" / "duo.yaml")
TIGHT = "pools.shared.size=2304"
"""Less than digits needs with its tensors as a whole, whatever lies over what."""
NO_OTHER = "pools.private.size=16"
"""The host alone has no room either."""


@pytest.fixture(scope="module")
def digits() -> Graph:
    return load_tflite(DIGITS)


def test_a_stripe_makes_the_rows_that_its_own_result_needs(digits: Graph) -> None:
    first, second = stripes_of(Chain(digits, 0, 3), 2) or ()
    assert first.given == {"conv_2d_0_out": (0, 4), "conv_2d_2_out": (0, 4)}
    assert first.rows["depthwise_conv_2d_1_out"] == (0, 4)
    assert first.rows["conv_2d_0_out"] == (0, 5)
    assert second.rows["conv_2d_0_out"] == (3, 8)
    assert second.rows["image"] == (2, 8)


def test_padding_stays_where_the_image_ends(digits: Graph) -> None:
    first, second = stripes_of(Chain(digits, 1, 2), 2) or ()
    pads = [
        tuple(
            stripe.work["depthwise_conv_2d_1"].attributes[each]
            for each in ("pad_top", "pad_bottom")
        )
        for stripe in (first, second)
    ]
    assert pads == [(1, 0), (0, 1)]


def test_what_joins_all_rows_is_not_cut(digits: Graph) -> None:
    assert stripes_of(Chain(digits, 6, 8), 2) is None


def test_rows_are_views_where_one_pool_serves(digits: Graph) -> None:
    soc = load_soc("lagoon")
    cut = tile(digits, Tiling(cuts=(Cut(begin=0, end=4, stripes=2),)))
    graph = with_views(plan_devices(cut, soc).graph, soc)
    assert not any(op.kind in ("rows", "join_rows", COPY) for op in graph.operators)
    halves = [each for each in graph.tensors if each.view == "add_3_out"]
    assert [(each.offset, each.size) for each in halves] == [(0, 768), (768, 768)]
    assert graph.written_in_parts == ("add_3_out", "conv_2d_0_out_stripe0")[:1]


def test_rows_are_copied_where_a_tensor_lies_apart(digits: Graph) -> None:
    soc = load_soc("lagoon")
    tiling = Tiling(cuts=(Cut(begin=0, end=4, stripes=2),), apart={"image": "private"})
    graph = with_views(plan_devices(tile(digits, tiling), soc).graph, soc)
    copies = [op for op in graph.operators if op.kind == COPY]
    assert [graph.storage(op.inputs[0]) for op in copies] == ["image", "image"]
    assert [op.device for op in copies] == ["cpu", "cpu"]


def test_what_does_not_fit_is_cut_and_says_so() -> None:
    compiled = compile_file(load_soc("lagoon", (TIGHT,)), DIGITS)
    (cut, *_) = explanation(compiled).cuts
    assert compiled.tiling.cuts
    assert cut.stripe_bytes < cut.whole_bytes
    assert cut.cycles > cut.whole_cycles
    assert "Chains in stripes of rows" in explanation(compiled).text()


def test_cores_alone_are_cut_for_all_pools_together() -> None:
    chip = load_soc("lagoon", ("pools.shared.size=1 KiB", "pools.private.size=2 KiB"))
    compiled = compile_file(chip, DIGITS, BuildOptions(accelerators=False))
    assert compiled.tiling.cuts
    assert not compiled.tiling.apart
    assert {op.device for op in compiled.graph.operators} == {"cpu"}


def test_an_error_names_the_smallest_pool_and_that_works() -> None:
    with pytest.raises(AtollError, match=r"cut into stripes of rows, it needs (\d+) B") as caught:
        compile_file(load_soc("lagoon", ("pools.shared.size=256", NO_OTHER)), DIGITS)
    ((key, size),) = caught.value.faults[0].wants
    assert key == "pools.shared.size"
    assert compile_file(load_soc("lagoon", (f"{key}={size}", NO_OTHER)), DIGITS).tiling.cuts


def test_the_smallest_pool_of_what_keeps_a_state_works(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """Of the two results of an SVDF, the pool holds one, and the state is too large for it."""
    tree, path = Tree(tflite_builder), tmp_path / "svdf.tflite"
    svdf(tree, tree.add((8, 4), **SCALE), units=2, rank=1, steps=300)
    path.write_bytes(tflite_builder.write(tree.model()))
    with pytest.raises(AtollError, match="E061") as caught:
        compile_file(load_soc(DUO, ("pools.shared.size=4 KiB",)), path)
    ((key, size),) = caught.value.faults[0].wants
    compile_file(load_soc(DUO, (f"{key}={size}",)), path)


def test_nothing_is_cut_against_the_users_will(tmp_path: Path) -> None:
    path = tmp_path / "options.yaml"
    path.write_text("tile: never\n")
    words = ["--set", TIGHT, "--set", NO_OTHER, "--build", str(path)]
    assert main(["plan", "lagoon", str(DIGITS), *words]) == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "{first: conv_2d_0, last: softmax_9, stripes: 2}",
            "error[E159]: 'conv_2d_0' to 'softmax_9' cannot be cut into 2 stripes: 'softmax_9' does"
            " not work by rows there",
        ),
        (
            "{first: add_3, last: conv_2d_0, stripes: 2}",
            "error[E159]: 'add_3' to 'conv_2d_0' cannot be cut into 2 stripes: the last comes"
            " before the first",
        ),
        (
            "{first: conv_2d_9, last: add_3, stripes: 2}",
            "error[E025]: build options cut operator 'conv_2d_9', which does not exist",
        ),
        (
            "{first: conv_2d_0, last: add_3, stripes: 1}",
            "'cuts.0.stripes' must be a whole number, at least 2 and at most 4096, not 1",
        ),
    ],
)
def test_cuts_that_cannot_be_are_refused(
    asked: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "options.yaml"
    path.write_text(f"cuts: [{asked}]\n")
    assert main(["plan", "lagoon", str(DIGITS), "--build", str(path)]) == 1
    assert said in capsys.readouterr().err
