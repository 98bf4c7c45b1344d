# SPDX-License-Identifier: Apache-2.0
"""Files extend files, the command line goes on top, and every value knows its layer."""

from pathlib import Path

import pytest

from atoll.description.chip import Soc
from atoll.description.layers import MAX_LAYERS, apply_overrides, read_layers
from atoll.description.tree import SourceMap, plain
from atoll.description.yaml_text import parse_yaml, read_yaml
from atoll.diagnostics.errors import AtollError

SOCS = Path(__file__).parents[3] / "socs"
SCHEMA = Soc.model_json_schema()


def chain(folder: Path, count: int) -> Path:
    """Write `count` files of which each extends the next; return the first."""
    for index in range(count):
        text = f"extends: {index + 1}.yaml\n" if index + 1 < count else ""
        (folder / f"{index}.yaml").write_text(f"{text}v{index}: {index}\nshared: {index}\n")
    return folder / "0.yaml"


def test_the_nearest_file_wins_and_places_stay(tmp_path: Path) -> None:
    where = SourceMap(read_layers(chain(tmp_path, 3)))
    assert plain(where.root) == {
        "v2": 2,
        "shared": 0,
        "extends": "1.yaml",
        "v1": 1,
        "v0": 0,
    }
    assert where.layer("v2") == f"{tmp_path / '2.yaml'}:1:5"
    assert where.layer("shared") == f"{tmp_path / '0.yaml'}:3:9"
    assert where.layer("absent") == "built-in"


def test_tables_merge_and_lists_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("t: {a: 1, b: {c: 2}}\nl: [1, 2]\ns: {x: 1}\n")
    (tmp_path / "top.yaml").write_text("extends: base.yaml\nt: {b: {d: 3}}\nl: [3]\ns: 5\n")
    assert plain(read_layers(tmp_path / "top.yaml")) == {
        "extends": "base.yaml",
        "t": {"a": 1, "b": {"c": 2, "d": 3}},
        "l": [3],
        "s": 5,
    }


def test_the_chain_is_bounded_on_both_sides(tmp_path: Path) -> None:
    read_layers(chain(tmp_path, MAX_LAYERS))
    with pytest.raises(AtollError, match="more than 8 descriptions") as caught:
        read_layers(chain(tmp_path, MAX_LAYERS + 1))
    assert caught.value.faults[0].at is not None


def test_a_file_that_extends_itself_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to(tmp_path / "self.yaml")
    (tmp_path / "self.yaml").write_text("extends: link.yaml\n")
    with pytest.raises(AtollError, match=r"in a circle: self\.yaml -> link\.yaml"):
        read_layers(tmp_path / "self.yaml")


@pytest.mark.parametrize("value", ["3", "[a]", "~", "{}"])
def test_other_values_of_extends_are_left_to_the_schema(value: str, tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(f"extends: {value}\n")
    assert "extends" in str(plain(read_layers(path)))


def test_strange_values_of_extends(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    for value in ("'a\\0b'", '"a\\0b"', ".", "/", "''"):
        path.write_text(f"extends: {value}\n")
        with pytest.raises(AtollError) as caught:
            read_layers(path)
        assert caught.value.faults[0].at is not None


def override(*texts: str) -> SourceMap:
    """Return lagoon with overrides on top."""
    return SourceMap(apply_overrides(read_yaml(SOCS / "lagoon.yaml"), texts, lambda: SCHEMA))


def test_overrides_are_typed_like_yaml() -> None:
    where = override("devices.npu.irq=0x5", "devices.cpu.stack.size=4KiB", "console= 0x1_0000 ")
    data = plain(where.root)
    assert isinstance(data, dict)
    assert data["console"] == 0x1_0000
    assert where.layer("devices", "npu", "irq") == "--set"
    assert where.at("devices", "npu", "irq") is None
    assert where.key_at("devices", "npu", "irq") is not None
    assert where.layer("devices", "npu", "registers").endswith("lagoon.yaml:18:16")


def test_the_last_override_wins() -> None:
    data = plain(override("soc=a", "soc=b").root)
    assert isinstance(data, dict)
    assert data["soc"] == "b"


@pytest.mark.parametrize(
    "key",
    [
        "devices.cpu.code.size",
        "devices.cpu.limits.max_stack_size",
        "devices.npu.params.weight_rows",
        "limits.use_backend_alloc_workspace",
        "pools.shared.reach.npu",
        "default_device",
        "extends",
    ],
)
def test_keys_that_the_file_leaves_out_can_be_set(key: str) -> None:
    assert override(f"{key}=1").layer(*key.split(".")) == "--set"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("pools.shared.reach.a.b=rw", "pools.shared.reach.a_b"),
        ("""pools.shared.reach."a.b"=rw""", "pools.shared.reach.a_b"),
        ("memories.sram.views.a.b=0x0", "memories.sram.views.a_b"),
        ("devices.cpu.stack.threads.a.b=64", "devices.cpu.stack.threads.a_b"),
        ("devices.'a.b'={kind: cpu}", "devices.a_b.kind"),
        (
            """devices.cpu.limits.threads."a.b".max_stack_size=1""",
            "devices.cpu.limits.threads.a_b.max_stack_size",
        ),
    ],
)
def test_d1_a_new_name_with_dots_can_be_set(text: str, key: str) -> None:
    assert override(text).layer(*key.split(".")) == "--set"


@pytest.mark.parametrize(
    ("text", "code", "remedy"),
    [
        ("devices.cpu.stack.size", "E097", "write --set"),
        ("", "E097", "write --set"),
        ("devices.cpu.stak.size=1", "E098", "did you mean 'stack'?"),
        ("devices.cpx.stack.size=1", "E098", "did you mean 'cpu'?"),
        ("devices.npu.stack.size=1", "E098", "use one of"),
        ("pools.share.size=1", "E098", "did you mean 'shared'?"),
        ("soc.x=1", "E098", ""),
        ("=1", "E098", "use one of"),
        ("devices.a.b={kind: cpu}", "E098", """--set 'devices."a.b"=...'"""),
        (
            "devices.cpu.limits.threads.a.b.max_stack_size=1",
            "E098",
            """--set 'devices.cpu.limits.threads."a.b".max_stack_size=...'""",
        ),
        ("devices.npu.params.a.b=1", "E098", "set it in the file"),
    ],
)
def test_overrides_that_name_nothing(text: str, code: str, remedy: str) -> None:
    with pytest.raises(AtollError) as caught:
        override(text)
    (fault,) = caught.value.faults
    assert fault.code == code
    assert remedy in (fault.remedy or "")


def test_all_bad_overrides_are_reported() -> None:
    with pytest.raises(AtollError) as caught:
        override("a=1", "b=2", "c")
    assert len(caught.value.faults) == 3


def test_overrides_of_a_file_that_is_no_mapping() -> None:
    with pytest.raises(AtollError):
        apply_overrides(parse_yaml("[1]", Path("x.yaml")), ["a.b=1"], lambda: SCHEMA)
