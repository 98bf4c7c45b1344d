# SPDX-License-Identifier: Apache-2.0
"""Several networks in one firmware, from the command line, without RTL (M7, U2)."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import compile_file, compile_models
from atoll.resolve import load_soc
from atoll_sim.inputs.build_folder import open_build

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SAMPLER = EXAMPLES / "03_two_networks" / "sampler.tflite"
BOTH = ["lagoon", str(DIGITS), str(SAMPLER)]
NATIVE = ["--cpu", "native", "--accelerator", "model"]
SECTIONS = """\
overlap: none
networks:
  digits_int8:
    place: {conv_2d_0: cpu}
    overlap: all
  sampler: {pin: {mul_5_out: shared}}
"""


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 1
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


def of_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(printed([*arguments, "--json"], capsys))


def test_run_takes_both_on_the_native_host(capsys: pytest.CaptureFixture[str]) -> None:
    reports = of_json(["run", *BOTH, *NATIVE], capsys)
    assert [each["model"] for each in reports] == ["digits_int8", "sampler"]
    for each in reports:
        assert each["bit_exact"]
        assert each["layers_compared"] > 0
        assert each["placement"]["violations"] == []
        assert each["placement"]["accesses"] > 0


def test_each_network_has_its_own_samples_and_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named or in order, what one network is given and what it answers are its own."""
    files = {"digits_int8": tmp_path / "d.npy", "sampler": tmp_path / "s.npy"}
    for model in compile_models(load_soc("lagoon"), (DIGITS, SAMPLER)):
        samples = [random_sample(model.graph, seed)[0] for seed in range(3)]
        (name,) = model.graph.inputs
        np.save(files[model.graph.name], np.concatenate([each[name] for each in samples]))
    alone = tmp_path / "alone.npy"
    arguments = ["run", "lagoon", str(DIGITS), *NATIVE, "--brief"]
    printed([*arguments, "--input", str(files["digits_int8"]), "--output", str(alone)], capsys)
    orders = {
        "named": [f"sampler={files['sampler']}", f"digits_int8={files['digits_int8']}"],
        "ordered": [str(files["digits_int8"]), str(files["sampler"])],
    }
    for how, texts in orders.items():
        outputs = [tmp_path / f"{how}-{name}.npy" for name in files]
        words = [word for text in texts for word in ("--input", text)]
        words += ["--output", f"sampler={outputs[1]}", "--output", f"digits_int8={outputs[0]}"]
        told = printed(["run", *BOTH, *NATIVE, "--brief", *words], capsys)
        assert told.count("layers bit-exact over 3 samples") == 2
        assert np.array_equal(np.load(outputs[0]), np.load(alone))
        assert len(np.load(outputs[1])) == 6, "two rows for each of three samples"


def test_a_network_without_a_file_gets_as_many_random_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "d.npy", tmp_path / "out.npy"
    np.save(file, np.zeros((2, 8, 8, 1), np.int8))
    words = ["--input", f"digits_int8={file}", "--output", f"digits_int8={output}"]
    told = printed(["run", *BOTH, *NATIVE, "--brief", *words], capsys)
    assert told.count("layers bit-exact over 2 samples") == 2
    assert len(np.load(output)) == 2


def test_a_build_is_kept_of_a_native_run_and_opens_with_its_own_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, file = tmp_path / "kept", tmp_path / "build.yaml"
    file.write_text(SECTIONS)
    words = ["--keep", str(kept), "--build", str(file), "--brief"]
    assert printed(["run", *BOTH, *NATIVE, *words], capsys).count("0 placement violations") == 2
    first, second = open_build(kept).models
    assert first.options.requests.model.place == {"conv_2d_0": "cpu"}
    assert second.options.requests.model.place == {}
    assert list(second.options.requests.model.pin) == ["mul_5_out"]
    overlaps = [model.options.requests.model.overlap for model in (first, second)]
    assert overlaps == ["all", "none"]


def test_the_command_line_says_the_same_as_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "build.yaml"
    file.write_text(SECTIONS.replace("    overlap: all\n", ""))
    by_file = of_json(["plan", *BOTH, "--build", str(file)], capsys)
    words = ["--overlap", "none", "--place", "digits_int8:conv_2d_0=cpu"]
    words += ["--pin", "sampler:mul_5_out=shared:both"]
    assert of_json(["plan", *BOTH, *words], capsys) == by_file
    assert by_file != of_json(["plan", *BOTH], capsys)
    placed = by_file[1]["buffers"]["mul_5_out"]
    assert placed["pool"] == "shared"


def test_the_name_of_a_single_network_may_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    one = ["plan", "lagoon", str(DIGITS)]
    bare = of_json([*one, "--place", "conv_2d_0=cpu"], capsys)
    assert of_json([*one, "--place", "digits_int8:conv_2d_0=cpu"], capsys) == bare


def test_free_belongs_to_one_network(capsys: pytest.CaptureFixture[str]) -> None:
    pin = ["--place", "digits_int8:conv_2d_2=npu", "--pin", "digits_int8:conv_2d_2_out=private"]
    assert "error[E049]: network 'digits_int8': " in refused(["plan", *BOTH, *pin], capsys)
    printed(["plan", *BOTH, *pin, "--free", "digits_int8:conv_2d_2_out"], capsys)
    assert refused(["plan", *BOTH, *pin, "--free", "sampler:conv_2d_2_out"], capsys)


def test_plan_shows_each_network_and_what_they_take_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "both.svg"
    key = "devices.npu.params.vector=1"
    told = printed(["plan", *BOTH, "--set", key, "--picture", "--figure", str(figure)], capsys)
    alone = [compile_file(load_soc("lagoon", (key,)), model).plan for model in (DIGITS, SAMPLER)]
    digits, sampler, together = told.split("\n\n")[0], "sampler on lagoon\n", told.split("\n\n")[-1]
    assert digits.startswith("digits_int8 on lagoon\n")
    assert f"\n\n{sampler}" in told
    rows = {line.split()[0]: line.replace(",", "").split() for line in together.splitlines()}
    assert together.startswith("together on lagoon\npool ")
    for pool in ("private", "shared", "weights"):
        first, second = (plan.use[pool].used for plan in alone)
        assert [int(word) for word in rows[pool][2:4]] == [first, second]
        largest = max(first, second)
        assert int(rows[pool][4]) == largest if pool != "weights" else largest + 1
    assert 0 <= int(rows["weights"][4]) - sum(map(int, rows["weights"][2:4])) < 64
    assert rows["shared"][5:] == ["the", "largest"]
    assert "\ndigits_int8, shared: 4,608 B used, optimal\n" in told
    groups = [each.get("id") for each in ElementTree.parse(figure).iter() if each.get("id")]
    assert len(set(groups)) == len(groups) == 6
    assert "digits_int8, sampler on lagoon" in figure.read_text()


def test_plan_as_json_is_a_list_with_the_total(capsys: pytest.CaptureFixture[str]) -> None:
    plans = of_json(["plan", *BOTH], capsys)
    assert [plan["model"] for plan in plans] == ["digits_int8", "sampler"]
    origins = [plan["pools"]["weights"]["origin"] for plan in plans]
    end = origins[1] + plans[1]["pools"]["weights"]["used_bytes"]
    for plan in plans:
        assert plan["together_bytes"]["weights"] == end - origins[0]
        assert plan["together_bytes"]["shared"] == max(
            each["pools"]["shared"]["used_bytes"] for each in plans
        )


def test_plans_are_those_of_a_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans = of_json(["plan", *BOTH], capsys)
    assert main(["build", *BOTH, "-o", str(tmp_path / "out")]) == 0
    for plan in plans:
        built = json.loads((tmp_path / "out" / plan["model"] / "plan.json").read_text())
        assert {key: plan[key] for key in built} == built


def test_explain_tells_of_each_network(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(["explain", *BOTH], capsys)
    first, second = told.split("sampler on lagoon\n\n")
    assert first.startswith("digits_int8 on lagoon\n\nBuffers\n")
    assert first.count("Operators\n") == second.count("Operators\n") == 1
    alone = printed(["explain", "lagoon", str(DIGITS)], capsys)
    assert first == f"digits_int8 on lagoon\n\n{alone}\n"
    both = of_json(["explain", *BOTH], capsys)
    assert [each["model"] for each in both] == ["digits_int8", "sampler"]
    assert both[0] == of_json(["explain", "lagoon", str(DIGITS)], capsys)


def test_explain_says_all_about_a_buffer_of_one_network(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = printed(["explain", *BOTH, "--buffer", "sampler:mul_5_out"], capsys)
    assert told.startswith("sampler on lagoon\n\nmul_5_out: activation")
    (found,) = of_json(["explain", *BOTH, "--buffer", "digits_int8:image"], capsys)
    assert (found["model"], [each["name"] for each in found["buffers"]]) == (
        "digits_int8",
        ["image"],
    )
    told = refused(["explain", *BOTH, "--buffer", "softmax_9_out"], capsys)
    assert "help: write '--buffer digits_int8:softmax_9_out'" in told


@pytest.mark.parametrize(
    ("words", "code", "remedy"),
    [
        (["--place", "conv_2d_5=cpu"], "E150", ["--place", "digits_int8:conv_2d_5=cpu"]),
        (["--pin", "image=shared:in"], "E150", ["--pin", "digits_int8:image=shared:in"]),
        (["--free", "image"], "E150", ["--free", "digits_int8:image"]),
        (["--place", "conv_2d_55=cpu"], "E150", ["--place", "digits_int8:conv_2d_5=cpu"]),
        (["--place", "sampelr:pad_1=cpu"], "E151", ["--place", "sampler:pad_1=cpu"]),
    ],
    ids=lambda each: each[-1] if isinstance(each, list) else each,
)
def test_a_word_without_its_network_is_completed(
    words: list[str], code: str, remedy: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The remedy of E150, followed to the letter, is accepted."""
    told = refused(["plan", *BOTH, *words], capsys)
    assert f"error[{code}]: '{' '.join(words)}' " in told
    if code == "E150":
        assert f"help: write '{' '.join(remedy)}'\n" in told
    else:
        assert "did you mean 'sampler'?" in told
    printed(["plan", *BOTH, *remedy], capsys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("place: {conv_2d_0: cpu}", "1:1: error[E150]: 'place' does not say which of 2 networks"),
        ("networks: {sampelr: {}}", "1:12: error[E151]: build options name network 'sampelr'"),
        ("networks: {sampler: {plase: {}}}", "1:22: error[E011]: 'networks.sampler' has no key"),
        ("networks: {sampler: {pin: {t: []}}}", "1:31: error[E012]: 'networks.sampler.pin.t'"),
    ],
)
def test_a_build_file_that_is_not_clear_is_refused_with_its_place(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "build.yaml"
    file.write_text(text + "\n")
    told = refused(["plan", *BOTH, "--build", str(file)], capsys)
    assert f"build.yaml:{message}" in told


def test_inputs_that_do_not_match_are_refused_by_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digits, wrong = str(tmp_path / "d.npy"), str(tmp_path / "w.npy")
    np.save(digits, np.zeros((1, 8, 8, 1), np.int8))
    np.save(wrong, np.zeros((1, 8, 9, 1), np.int8))
    run = ["run", *BOTH, *NATIVE]
    told = refused([*run, "--input", digits, "--input", wrong], capsys)
    assert "error[E093]: network 'sampler': the array for input" in told
    told = refused([*run, "--input", f"digits_int8={digits}", "--input", wrong], capsys)
    assert f"help: write '--input sampler={wrong}'" in told
    told = refused([*run, "--input", f"digit={digits}"], capsys)
    assert "error[E151]: '--input digit=" in told
    assert "did you mean 'digits_int8'?" in told
    twice = [word for _ in range(2) for word in ("--input", f"sampler={digits}")]
    assert "names 2 files for network 'sampler'" in refused([*run, *twice], capsys)


def test_a_network_is_called_as_its_file_in_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dash becomes a low line; who writes the file's own name is told."""
    file = tmp_path / "my-net.tflite"
    shutil.copyfile(DIGITS, file)
    plan = ["plan", "lagoon", str(file), str(SAMPLER)]
    told = refused([*plan, "--place", "my-net:conv_2d_0=cpu"], capsys)
    assert "error[E151]: '--place my-net:conv_2d_0=cpu' names network 'my-net'" in told
    assert "did you mean 'my_net'?" in told
    printed([*plan, "--place", "my_net:conv_2d_0=cpu"], capsys)
    run = ["run", *plan[1:], *NATIVE]
    assert "did you mean 'my_net'?" in refused([*run, "--input", "my-net=x.npy"], capsys)


def test_a_file_may_look_like_a_named_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "a=b.npy", np.zeros((1, 8, 8, 1), np.int8))
    shutil.copyfile(DIGITS, "digits.tflite")
    run = ["run", "lagoon", "digits.tflite", *NATIVE, "--brief"]
    assert "write './a=b.npy' for a file" in refused([*run, "--input", "a=b.npy"], capsys)
    printed([*run, "--input", "./a=b.npy"], capsys)
    printed([*run, "--input", "digits=a=b.npy"], capsys)


@pytest.mark.parametrize("form", ["csv", "tflm"])
def test_a_table_for_one_network_is_refused_for_several(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(["plan", *BOTH, "--export", form, "-o", str(tmp_path / "x")], capsys)
    assert f"error[E090]: --export {form} is of one network, and there are 2" in told
    assert of_json(["plan", *BOTH], capsys) == json.loads(
        printed(["plan", *BOTH, "--export", "json"], capsys)
    )


@pytest.mark.rtl
@pytest.mark.slow
def test_waves_of_an_operator_of_the_second_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waves = ["--waves", str(tmp_path / "a.vcd"), "--brief"]
    told = refused(["run", *BOTH, *waves, "--waves-operator", "mul_5"], capsys)
    assert "help: write '--waves-operator sampler:mul_5'" in told
    reports = of_json(["run", *BOTH, *waves, "--waves-operator", "sampler:mul_5"], capsys)
    layer = next(each for each in reports[1]["cycles"]["by_layer"] if each["operator"] == "mul_5")
    (note,) = [note for note in reports[1]["notes"] if note.startswith("waves: ")]
    assert f"cycles {layer['begin']:,} to {layer['begin'] + layer['cycles']:,}" in note
