# SPDX-License-Identifier: Apache-2.0
"""`import atoll`: chips, networks, compilations and plans, from files and from memory."""

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.unit.api.both import plain, printed

import atoll
from atoll.diagnostics.errors import MOST_TEXTS, path_of_text

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = Path(__file__).parents[3] / "examples" / "03_two_networks" / "sampler.tflite"


@pytest.fixture(scope="module")
def made() -> atoll.Compilation:
    return atoll.compile("lagoon", DIGITS)


def add_graph(name: str = "sum") -> atoll.Graph:
    grid = atoll.Quantization(scales=(0.5,), zero_points=(0,))
    x, y, z = (
        atoll.Tensor(name=each, shape=(1, 16), dtype="int8", quantization=grid) for each in "xyz"
    )
    add = atoll.Operator(
        name="add_0",
        kind="add",
        inputs=("x", "y"),
        outputs=("z",),
        attributes={"activation": "none"},
    )
    return atoll.Graph(name, (x, y, z), (add,), ("x", "y"), ("z",))


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in atoll.__all__:
        assert getattr(atoll, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = atoll.nothing  # type: ignore[attr-defined]


def test_importing_atoll_imports_nothing_else() -> None:
    """Every room waits until a name of it is used, also for other packages' heavy modules."""
    code = "import atoll, sys; print([m for m in sys.modules if m.startswith('atoll.')])"
    code += "; print({'numpy', 'pydantic', 'yaml', 'rich'} & {*sys.modules})"
    code += "; print({*atoll.__all__} - {*dir(atoll)})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['atoll.utils', 'atoll.utils.lazy', 'atoll.version']\nset()\nset()\n"


def test_a_room_does_not_take_the_place_of_a_function() -> None:
    """Python binds a submodule in its package, over a function of that name."""
    folder = Path(atoll.__file__).parent
    rooms = {path.stem for path in folder.iterdir() if path.suffix in ("", ".py")}
    assert not rooms & {*atoll.__all__}


def test_a_chip_comes_from_a_name_a_path_a_text_and_a_mapping(tmp_path: Path) -> None:
    text = "extends: lagoon\nsoc: mine\nversion: 1\npools:\n  shared: {size: 128 KiB}\n"
    data = {
        "extends": "lagoon",
        "soc": "mine",
        "version": 1,
        "pools": {"shared": {"size": "128 KiB"}},
    }
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    chips = [atoll.load_soc(each) for each in (file, str(file), text, data)]
    for chip in chips:
        assert chip.name == "mine"
        assert chip.pool_size_bytes["shared"] == 128 * 1024
    assert atoll.load_soc(chips[0]) is chips[0]
    shipped = atoll.load_soc("lagoon", overrides=["pools.shared.size=128KiB"])
    assert shipped.pool_size_bytes == chips[0].pool_size_bytes


def test_other_values_make_another_chip() -> None:
    chip = atoll.load_soc("lagoon")
    smaller = chip.with_({"pools.shared.size": "64 KiB", "devices.npu.params.output_lanes": 4})
    both = smaller.with_({"pools.private.size": 8192})
    assert chip.pool_size_bytes["shared"] == 262144
    assert both.pool_size_bytes == {**smaller.pool_size_bytes, "private": 8192}
    assert both.pool_size_bytes["shared"] == 65536
    with pytest.raises(FrozenInstanceError):
        chip.name = "other"  # type: ignore[misc]


def test_a_chip_says_what_the_commands_say(capsys: pytest.CaptureFixture[str]) -> None:
    chip = atoll.load_soc("lagoon")
    assert plain(chip.to_json()) == printed(capsys, "explain", "lagoon")
    assert plain(chip.check().to_json()) == printed(capsys, "check", "lagoon")
    assert chip.rows() == chip.to_json()["pools"]
    ElementTree.fromstring(chip._repr_svg_())
    ElementTree.fromstring(f"<p>{chip.explain()._repr_html_()}</p>")


def test_a_fault_in_memory_is_shown_in_its_place() -> None:
    description = {
        "extends": "lagoon",
        "soc": "mine",
        "version": 1,
        "pools": {"shared": {"siz": 1}},
    }
    with pytest.raises(atoll.DescriptionError) as caught:
        atoll.load_soc(description)
    error = caught.value
    assert error.code == "E011"
    assert error.remedy is not None
    assert "'size'" in error.remedy
    assert error.place is not None
    assert error.place.line_text.strip() == '"siz": 1'
    (fault,) = [error.to_json()["faults"]]
    assert plain(fault)[0]["code"] == "E011"
    assert plain(fault)[0]["at"]["line"] == error.place.line
    other = {**description, "soc": "other"}
    with pytest.raises(atoll.DescriptionError) as again:
        atoll.load_soc(other)
    assert '"siz": 1' in str(again.value)
    assert error.place.line_text.strip() == '"siz": 1', "another text does not take its place"
    assert again.value.place is not None
    assert error.place.path != again.value.place.path


def test_old_places_are_never_those_of_newer_texts(tmp_path: Path) -> None:
    first = path_of_text("one\n", "text", tmp_path)
    assert path_of_text("one\n", "text", tmp_path) == first
    others = [path_of_text(f"{number}\n", "text", tmp_path) for number in range(MOST_TEXTS)]
    assert len({first, *others}) == MOST_TEXTS + 1
    assert atoll.SourceLoc(first, 1, 1).line_text == "", (
        "it is forgotten, and nothing else is shown"
    )
    assert atoll.SourceLoc(others[-1], 1, 1).line_text == str(MOST_TEXTS - 1)
    assert path_of_text("one\n", "text", tmp_path) not in {first, *others}


def test_what_is_no_plain_data_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="plain data"):
        atoll.load_soc({"extends": "lagoon", "soc": object()})


def test_a_network_comes_from_a_path_bytes_and_a_graph(made: atoll.Compilation) -> None:
    by_bytes = atoll.load_network(DIGITS.read_bytes(), name="digits_int8")
    by_graph = atoll.load_network(atoll.load_network(str(DIGITS)).graph)
    told = plain(made.to_json())
    of_text = plain(atoll.compile("lagoon", by_graph).to_json())
    assert by_bytes.name == by_graph.name == "digits_int8"
    assert plain(atoll.compile("lagoon", by_bytes).to_json()) == told
    assert of_text["model_sha256"] != told["model_sha256"], "a graph has no file: it is of its text"
    assert {**of_text, "model_sha256": told["model_sha256"]} == told
    assert atoll.load_network(DIGITS, name="other").name == "other"
    assert by_graph.rows()[0]["kind"] == "conv_2d"
    assert plain(by_graph.to_json())["inputs"] == ["image"]


def test_a_graph_of_the_caller_compiles_runs_and_builds(tmp_path: Path) -> None:
    made = atoll.compile("lagoon", add_graph(), accelerators=False)
    values = {name: np.full((1, 16), value, np.int8) for name, value in (("x", 3), ("y", 4))}
    run = atoll.run(made, values, cpu="native")
    assert run.passed
    assert run.network.outputs[0]["z"].tolist() == [[7] * 16]
    built = atoll.build(made, tmp_path / "build")
    assert "add(%x, %y)" in (built.folder / "sum.graph").read_text()
    with pytest.raises(atoll.UsageError) as caught:
        atoll.simulate(built.folder)
    assert caught.value.code == "E096"
    assert caught.value.remedy == "run it from the program that made it: atoll.run(compilation)"


def test_a_graph_that_is_none_is_refused() -> None:
    graph = add_graph()
    broken = atoll.Graph("sum", graph.tensors, graph.operators, ("x",), ("z",))
    with pytest.raises(atoll.AtollError) as caught:
        atoll.load_network(broken)
    assert caught.value.code == "E112"
    assert "load_network was given a graph" in str(caught.value)


def test_a_compilation_says_what_atoll_plan_says(
    made: atoll.Compilation, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plain(made.to_json()) == printed(capsys, "plan", "lagoon", str(DIGITS))
    one = made.network
    assert one.peak_bytes == {each.pool: each.peak_bytes for each in one.pools}
    used = {each.pool: each.used_bytes for each in one.pools if each.used_bytes}
    assert made.used_bytes == used
    assert one.estimated_cycles == atoll.estimate(made).network.estimated_cycles
    rows = {row["buffer"]: row for row in made.rows()}
    assert rows["image"]["size_bytes"] == 64
    assert rows["image"]["pool"] == "shared"
    ElementTree.fromstring(made._repr_svg_())
    ElementTree.fromstring(f"<p>{made._repr_html_()}</p>")


def test_several_networks_say_what_the_commands_say(capsys: pytest.CaptureFixture[str]) -> None:
    made = atoll.compile("lagoon", [DIGITS, SAMPLER])
    files = (str(DIGITS), str(SAMPLER))
    assert plain(made.to_json()) == printed(capsys, "plan", "lagoon", *files)
    assert plain(atoll.estimate(made).to_json()) == printed(capsys, "estimate", "lagoon", *files)
    told = [each.explain().to_json() for each in made]
    assert plain(told) == printed(capsys, "explain", "lagoon", *files)
    with pytest.raises(ValueError, match="too many"):
        _ = made.network


def test_estimate_and_explanation_say_what_the_commands_say(
    made: atoll.Compilation, capsys: pytest.CaptureFixture[str]
) -> None:
    estimate = atoll.estimate(made)
    assert plain(estimate.to_json()) == printed(capsys, "estimate", "lagoon", str(DIGITS))
    assert estimate.rows()[0]["sram_read_bytes"] == 2816
    told = made.network.explain()
    assert plain(told.to_json()) == printed(capsys, "explain", "lagoon", str(DIGITS))
    ElementTree.fromstring(f"<p>{told._repr_html_()}{estimate._repr_html_()}</p>")


def test_estimates_rest_on_instructions_that_ran(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("unicorn")
    made = atoll.compile("lagoon", DIGITS, accelerators=False)
    counts = made.count_instructions()
    row = counts.rows()[0]
    assert (row["network"], row["operator"], row["device"]) == ("digits_int8", "conv_2d_0", "cpu")
    first = counts.operators[0]
    assert row["instructions"] == first.instructions
    assert first.instructions == sum(
        number for name, number in first.by_class.items() if name not in ("taken", "shifted")
    )
    ElementTree.fromstring(counts._repr_html_())
    counted = made.with_instructions(counts)
    words = ("lagoon", str(DIGITS), "--no-accelerators", "--iss")
    estimate = atoll.estimate(counted)
    assert plain(estimate.to_json()) == printed(capsys, "estimate", *words)
    assert estimate.network.to_json()["cycles"]["weakest"] == "simulated"
    assert estimate.network.basis == counted.network.estimated_cycles_basis
    assert atoll.estimate(made).network.basis == "counted x measured", "it stays as it was"
    slower = made.soc.with_({"memories.flash.read_latency": 6})
    longer = atoll.estimate(counted, soc=slower).network
    assert longer.basis == "simulated x measured"
    assert longer.estimated_cycles > 1.2 * estimate.network.estimated_cycles
    again = atoll.compile(slower, DIGITS, accelerators=False).with_instructions(counts)
    assert atoll.estimate(again).network.estimated_cycles == longer.estimated_cycles


def test_nothing_runs_where_engines_run_all(made: atoll.Compilation) -> None:
    counts = made.count_instructions()
    assert counts.rows() == []
    assert atoll.estimate(made.with_instructions(counts)).to_json() == (
        atoll.estimate(made).to_json()
    )


def test_an_estimate_of_what_nobody_measured_says_so() -> None:
    slow = atoll.compile("rp2040", DIGITS, accelerators=False)
    assert slow.network.estimated_cycles_basis != "measured"


def test_requests_are_keys_of_a_build_file(tmp_path: Path) -> None:
    file = tmp_path / "build.yaml"
    file.write_text("place: {conv_2d_0: cpu}\noverlap: none\n")
    wanted = {"conv_2d_0": "cpu", "softmax_9": "cpu"}
    merged = atoll.compile("lagoon", DIGITS, build=file, place={"softmax_9": "cpu"})
    devices = {row["operator"]: row["device"] for row in merged.network.explain().operator_rows()}
    assert {name: devices[name] for name in wanted} == wanted
    mapping = {"place": {"conv_2d_0": "cpu"}, "overlap": "none"}
    same = atoll.compile("lagoon", DIGITS, build=mapping, place={"softmax_9": "cpu"})
    assert same.to_json() == merged.to_json()


def test_a_request_that_cannot_be_is_shown_in_its_place() -> None:
    with pytest.raises(atoll.PlacementError) as caught:
        atoll.compile("lagoon", DIGITS, place={"softmax_9": "npux"})
    assert caught.value.place is not None
    assert caught.value.place.line_text.strip() == '"softmax_9": "npux"'
    with pytest.raises(atoll.UsageError, match="E094"):
        atoll.compile("lagoon", DIGITS, algorithm="nobody")


def test_what_no_clock_measured_is_not_a_number(made: atoll.Compilation) -> None:
    run = atoll.run(made, cpu="native", accelerator="model")
    assert run.passed
    one = run.network
    assert one.total_cycles is None
    assert one.total_cycles_basis.startswith("unknown")
    for row in one.rows():
        assert row["cycles"] is None
        assert row["time_ns"] is None
        assert isinstance(row["estimated_cycles"], int)
    assert {row["watermark_bytes"] for row in one.stack_rows()} == {None}
    assert "unknown" in run._repr_html_()


def test_a_run_says_what_atoll_run_says(
    made: atoll.Compilation, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = plain(atoll.run(made, cpu="native", accelerator="model").to_json())
    words = ("--cpu", "native", "--accelerator", "model")
    theirs = printed(capsys, "run", "lagoon", str(DIGITS), *words)
    assert ours.pop("wall_seconds").keys() == theirs.pop("wall_seconds").keys()
    assert ours == theirs


def test_samples_are_files_arrays_or_names(made: atoll.Compilation, tmp_path: Path) -> None:
    digits = np.random.default_rng(1).integers(-128, 128, (3, 8, 8, 1), np.int8)
    np.save(tmp_path / "x.npy", digits)
    given: list[Any] = [digits, {"image": digits}, [{"image": each} for each in digits]]
    given += [tmp_path / "x.npy"]
    runs = [atoll.run(made, each, cpu="native", accelerator="model") for each in given]
    scores = [[each["softmax_9_out"].tolist() for each in run.network.outputs] for run in runs]
    assert all(each == scores[0] for each in scores)
    assert len(scores[0]) == 3
    with pytest.raises(atoll.UsageError, match="E093"):
        atoll.run(made, digits[:, :4], cpu="native")


def test_samples_of_several_networks_name_them() -> None:
    made = atoll.compile("lagoon", [DIGITS, SAMPLER], accelerators=False)
    digits = np.zeros((2, 8, 8, 1), np.int8)
    run = atoll.run(made, {"digits_int8": digits}, cpu="native")
    assert [each.samples for each in run] == [2, 2]
    assert run.passed
    for wrong, code in ((digits, "E093"), ({"digit": digits}, "E151")):
        with pytest.raises(atoll.UsageError, match=code):
            atoll.run(made, wrong, cpu="native")


def test_words_that_say_nothing_are_refused(made: atoll.Compilation) -> None:
    with pytest.raises(atoll.UsageError, match="E090"):
        atoll.run(made, cpu="magic")  # type: ignore[arg-type]
    with pytest.raises(atoll.UsageError, match="accelerators=False"):
        atoll.run(made, cpu="native", accelerator="none")
    with pytest.raises(atoll.UsageError, match="E163"):
        atoll.run(made, cpu="native", accelerator={"npux": "model"})


def test_without_a_simulator_there_is_a_remedy(
    made: atoll.Compilation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atoll.api.beside.find_spec", lambda name: None)
    with pytest.raises(atoll.UsageError) as caught:
        atoll.run(made)
    assert caught.value.code == "E090"
    assert "is not installed" in str(caught.value)
    assert caught.value.remedy == "install Atoll whole, with: pip install atoll"


def test_a_build_folder_says_what_atoll_build_says(
    made: atoll.Compilation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "build"
    built = atoll.build(made, folder)
    by_command = printed(capsys, "build", "lagoon", str(DIGITS), "-o", str(folder))
    assert plain(built.to_json()) == by_command
    assert [row["core"] for row in built.rows()] == ["cpu"]
    objects = atoll.build(made, tmp_path / "objects", objects=True)
    assert not objects.linked
    assert objects.rows()


INSTANCE = "id,lower,upper,size\na,0,3,100\nb,1,5,50\n"


def test_an_instance_comes_from_a_file_a_text_and_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "instance.csv"
    file.write_text(INSTANCE)
    rows = [
        {"id": "a", "lower": 0, "upper": 3, "size": 100},
        {"id": "b", "lower": 1, "upper": 5, "size": 50},
    ]
    plans = [atoll.plan_instance(each) for each in (file, str(file), INSTANCE, rows)]
    for plan in plans:
        assert plan.used_bytes == plan.peak_bytes == 150
        assert plan.optimal
        assert plan.pool.size_bytes is None, "nobody has bounded it"
        assert plan.csv() == plans[0].csv()
    by_command = printed(capsys, "plan", "--instance", str(file))
    assert plain(plans[0].to_json()) == by_command
    assert by_command["pools"]["pool"]["size_bytes"] is None
    ElementTree.fromstring(plans[0]._repr_svg_())


def test_an_instance_that_cannot_be_says_where_and_what_helps() -> None:
    with pytest.raises(atoll.PlanError) as caught:
        atoll.plan_instance(INSTANCE, capacity_bytes=120)
    assert caught.value.remedy == "give capacity_bytes=150 or more"
    assert atoll.plan_instance(INSTANCE, capacity_bytes=150).optimal
    with pytest.raises(atoll.UsageError) as wrong:
        atoll.plan_instance([{"id": "a", "lower": 3, "upper": 3, "size": 1}])
    assert wrong.value.code == "E058"
    assert wrong.value.place is not None
    assert wrong.value.place.line_text == "a,3,3,1"


@pytest.mark.rtl
def test_a_build_folder_is_simulated(made: atoll.Compilation, tmp_path: Path) -> None:
    pytest.importorskip("unicorn")
    built = atoll.build(made, tmp_path / "build")
    run = atoll.simulate(built.folder, cpu="iss")
    assert run.passed
    assert run.network.total_cycles is not None
    assert run.network.total_cycles_basis.startswith("counted")
    with pytest.raises(atoll.UsageError, match="E089"):
        atoll.simulate(built.folder, cpu="native")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"first": 3, "last": 2}, "E089"),
        ({"operator": "conv_2d_0", "first": 1}, "E089"),
        ({"limit": "much"}, "E089"),
        ({"operator": "no_such_operator"}, "E025"),
    ],
)
def test_waveforms_that_cannot_be_recorded_are_refused(
    asked: dict[str, Any], code: str, made: atoll.Compilation, tmp_path: Path
) -> None:
    with pytest.raises(atoll.UsageError) as wrong:
        atoll.run(made, waves=atoll.Waveforms(tmp_path / "a.vcd", **asked))
    assert wrong.value.code == code
    assert not list(tmp_path.iterdir())


@pytest.mark.rtl
@pytest.mark.slow
def test_the_first_run_of_an_operator_is_recorded(made: atoll.Compilation, tmp_path: Path) -> None:
    path = tmp_path / "a.vcd"
    run = atoll.run(made, waves=atoll.Waveforms(str(path), operator="conv_2d_0", limit="100 MiB"))
    report = run.network.to_json()
    layer = next(each for each in report["cycles"]["by_layer"] if each["operator"] == "conv_2d_0")
    (note,) = [note for note in report["notes"] if note.startswith("waves: ")]
    assert f"cycles {layer['begin']:,} to " in note
    assert path.read_text().startswith("$")


@pytest.mark.rtl
@pytest.mark.slow
def test_faults_are_planted_and_noticed() -> None:
    found = atoll.validate("lagoon", DIGITS, mutants=2, jobs=1)
    assert atoll.validate("lagoon", DIGITS, mutants=2, jobs=1, resume=True).rows() == found.rows()
    assert found.passed
    assert [row["network"] for row in found.rows()] == ["digits_int8"] * 2
    assert found.to_json()["networks"][0]["right_build"]["bit_exact"]
    assert "planted faults" in found.text()
    ElementTree.fromstring(found._repr_html_())


@pytest.mark.rtl
def test_cycles_of_rtl_are_measured(made: atoll.Compilation) -> None:
    run = atoll.run(made)
    assert run.passed
    assert run.network.total_cycles_basis == "measured in RTL"
    assert all(isinstance(row["cycles"], int) for row in run.rows())
