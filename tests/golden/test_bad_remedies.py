"""The remedy of every error in tests/bad is followed to the letter: that error is then gone.

Remedies of a description are followed by a program (tests/remedy_follower.py). What no YAML reader
can read is edited as text, by the table below; a model is converted again, which makes it right.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.bad.make_tflite import good
from tests.remedy_follower import follow
from tests.tflite_builder import write

from atoll.description.template import starting_description
from atoll.description.text_edits import edit_text
from atoll.diagnostics.edit import Patch
from atoll.diagnostics.errors import AtollError, Fault
from atoll.frontend.tflite.load import load_tflite
from atoll.resolve import load_soc

BAD = Path(__file__).parent.parent / "bad"
CHIPS = sorted(path.name for path in BAD.glob("*.yaml"))
MODELS = sorted(path.name for path in BAD.glob("model_*.tflite"))
MOST_STEPS = 13

Text = Callable[[str], str]

AS_TEXT: dict[str, Text] = {
    "delete it; outside of quotes only printable text is needed": lambda t: t.replace("\a", ""),
    "write the whole character, or leave it out": lambda text: text.replace("\\uD83D", ""),
    "save the file as UTF-8": lambda text: text,
    "delete it": lambda text: re.sub(r"&all |!!\S+ ", "", text),
    "write the value out": lambda text: text.replace("*all", "{cpu: rw, npu: rw}"),
    "delete the '---' line": lambda text: text[: text.index("---\n")],
    "indent with spaces, not with tabs": lambda text: text.replace("\t", "    "),
    "start the keys of one mapping in the same column": lambda t: t.replace("   isa", "    isa"),
    "separate entries by ',' and close the mapping with '}'": lambda text: text.replace(
        "size: 8 KiB\n", "size: 8 KiB}\n"
    ),
    "start from the output of 'atoll new NAME'": lambda text: starting_description("chip"),
    "split it with 'extends', or describe a smaller chip": lambda t: re.sub(r"\[+\]+", "cpu", t),
    "give the YAML of a chip, which has 'soc: NAME'": lambda text: starting_description("chip"),
    "give the YAML of a core, which has 'core: NAME'": lambda text: text.replace(
        "./accelerator_for_a_chip.yaml", "picorv32"
    ),
    "give the YAML of an accelerator, which has 'accelerator: NAME'": lambda text: text.replace(
        "./chip_for_parts.yaml", "reef"
    ),
    "add 'isa:' with an instruction set of its core": lambda text: text.replace(
        "core: cortex_m35p", "isa: armv8-m.main+dsp, core: cortex_m35p"
    ),
    "check the name and its permissions": lambda t: t.replace("no_such_base", "interrupt_clash"),
}
"""What a person does with a file that cannot be read, by remedy."""

AGAIN = re.compile(
    r"convert|download or convert|remove the output|remove it from the model|give a model that"
    r"|build the layer of|export the model without|quantise the weights"
    r"|use one of none, relu|set stride_w to 1 or more|choose one of its signatures"
    r"|export (what is run|fewer iterations)|let a counter end the loop"
)
"""Remedies of model files: no edit of a file, the network is made, converted or named again."""


def faults_of(path: Path) -> tuple[Fault, ...]:
    """Return what is wrong with the description at `path`."""
    try:
        load_soc(path)
    except AtollError as error:
        return error.faults
    return ()


def obey(fault: Fault, path: Path) -> None:
    """Follow the remedy of a fault of the description at `path`."""
    if edit := AS_TEXT.get(fault.remedy or ""):
        path.write_text(edit(path.read_bytes().decode("latin-1")), encoding="utf-8")
    elif found := re.search(
        r"Atoll has no model of it: .* such as (\S+)\.yaml$", fault.remedy or ""
    ):
        describe_core(found[1], path)
    else:
        follow(fault, path)


def describe_core(file: str, path: Path) -> None:
    """Write the least that describes a core, and name the file in the place of the core."""
    text, name = path.read_text(), file.removeprefix("./")
    (isa,) = re.findall(rf"isa: ([^,\s]+), core: {name}", text) or ["armv8.1-m.main+mve"]
    (path.parent / f"{file}.yaml").write_text(f"core: {name}\nversion: 1\nisas: [{isa}]\n")
    path.write_text(text.replace(f"core: {name}", f"core: {file}.yaml"))


def known(fault: Fault) -> tuple[str, str]:
    """Return what stays the same of a fault when numbers change."""
    return fault.code, re.sub(r"\b(?:0x)?[0-9a-f]*[0-9][0-9a-f]*\b", "#", fault.message)


def copy_to(folder: Path) -> Path:
    """Copy the descriptions, and what they name; models are four fifths of the files."""
    unused = shutil.ignore_patterns("model_*", "opt_*", "*.txt", "*.py", "__pycache__")
    return Path(shutil.copytree(BAD, folder, ignore=unused))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_to(tmp_path / "bad")


@pytest.mark.parametrize("name", CHIPS)
def test_every_remedy_makes_its_error_go(name: str, folder: Path) -> None:
    before = (folder / name).read_bytes()
    for number, fault in enumerate(faults_of(folder / name)):
        shutil.rmtree(folder)
        copy_to(folder)
        assert (folder / name).read_bytes() == before
        assert fault.remedy, f"fault {number} has none"
        obey(fault, folder / name)
        left = faults_of(folder / name)
        assert known(fault) not in map(known, left), f"{fault}\n\nstill there:\n{left}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_edits_of_a_remedy_do_what_its_words_say(name: str, folder: Path) -> None:
    for fault in faults_of(folder / name):
        if not fault.fixes or isinstance(fault.fixes[0][0], Patch):
            continue
        target = fault.at.path if fault.at else folder / name
        before = target.read_text()
        edited = edit_text(before, fault.fixes[0])
        assert edited is not None, fault
        follow(fault, folder / name)
        assert plain(edited) == plain(target.read_text()), fault
        assert comments(before) == comments(edited), fault
        target.write_text(before)


def plain(text: str) -> object:
    return yaml.load(text, Loader=yaml.BaseLoader)


def comments(text: str) -> list[str]:
    return re.findall(r"(?:^|\s)#.*", text)


@pytest.mark.parametrize("name", CHIPS)
def test_remedies_lead_to_a_description_without_faults_and_in_no_circle(
    name: str, folder: Path
) -> None:
    seen: list[dict[str, bytes]] = []
    while faults := faults_of(folder / name):
        seen.append({str(path): path.read_bytes() for path in folder.rglob("*.yaml")})
        assert len(seen) <= MOST_STEPS, faults
        obey(faults[0], folder / name)
        now = {str(path): path.read_bytes() for path in folder.rglob("*.yaml")}
        assert now not in seen, f"in a circle: {faults[0]}"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_made_again_has_no_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(AtollError) as caught:
        load_tflite(BAD / name)
    assert all(AGAIN.match(fault.remedy or "") for fault in caught.value.faults), caught.value
    (tmp_path / name).write_bytes(write(good()))
    load_tflite(tmp_path / name)
