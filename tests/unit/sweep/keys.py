# SPDX-License-Identifier: Apache-2.0
"""Every key that a chip may have, also those that it does not say, with values to try.

They are derived from the JSON schema of a chip and from the parameters that its accelerators
declare; what no schema can know is in the tables below.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

import atoll
from atoll.description.chip import Soc
from atoll.description.share import shared_folder
from atoll.diagnostics.errors import AtollError
from atoll.isa.find import USUAL

Key = tuple[str, ...]
Point = tuple[str, ...]
"""Texts ``key=value``, as `Soc.with_` takes them."""

SCHEMA: Mapping[str, Any] = Soc.model_json_schema()
NAME = SCHEMA["properties"]["soc"]["pattern"]
NEW = "other"
"""The name of a part that the chip does not have."""

MOST = 2
"""Values of a key that make chips, but of `PARTS` all."""

PARTS = ("accelerator", "core", "loader", "memory", "role")

EXAMPLES = Path(__file__).parents[3] / "examples"
OWN = ("10_vector_engine/plover", "07_own_accelerator/tern", "11_systolic_array/loom")
VALUES: Mapping[str, tuple[object, ...]] = {
    "abi": ("ilp32", "ilp32e", "lp64"),
    "accelerator": tuple(str(EXAMPLES / f"{each}.yaml") for each in OWN),
    "function_unit": (str(EXAMPLES.parent / "tests" / "bad" / "parts" / "unit_cvxif.yaml"),),
    "isa": USUAL,
    "label": ("Other-one",),
    "origin": (0x7000_0000,),
    "section": ("OWN",),
    "size": (4096,),
    "views": (0x7100_0000,),
}
"""By the last word of a key, or by that of what is around it."""

NEEDS: Mapping[str, tuple[Point, ...]] = {
    r"\.cache=": tuple(
        ("{part}.core=cortex_m7", "{part}.isa=armv7e-m", "console=0x8000_2000", *more)
        for more in ((), ("{part}.cache.ways=4",), ("{part}.cache.size=4096",))
    ),
    r"\.function_unit=": (
        ("{part}.core=cv32e40x",),
        ("{part}.core=cv32e40x", "{part}.isa=rv32imc"),
    ),
    r"\.instruction_cache=": (("{part}.core=riscv",),),
    r"\.threads\.|\.runs=": (("{part}.stack.threads.other=2048",),),
    r"^pools\..*section=": (("{part}.provided=application",),),
    r'^memories.*"offset"': (("{part}.alias_of=sram",),),
    r'^memories.*"sector"': (("{part}.kind=rom",),),
    r"^pools\.other=": (("{part}.size=4096", "{part}.others=rw"),),
    r"\.load(er)?=": (("{part}.loader=copy", "{part}.code={{memory: {memory}}}"),),
    r"\.accelerator=": (
        ("{part}.params=null",),
        ("{part}.params=null", "{part}.irq=null"),
        ("{part}.params=null", "{part}.runs=null"),
        ("{part}.params=null", "{part}.irq=null", "{part}.runs=null"),
    ),
    r'{"kind": "master"': (("{part}=null",),),
} | {
    rf'\.core="{path.stem}"': tuple(
        (f"{{part}}.isa={isa}",) for isa in yaml.safe_load(path.read_text())["isas"][:1]
    )
    for path in (shared_folder("socs") / "cores").glob("*.yaml")
}
"""What values need beside them, one or the other, that alone make no chip."""


class Keys:
    """All keys of one chip."""

    def __init__(self, soc: atoll.Soc) -> None:
        source = soc._resolved.source
        assert source is not None
        self._soc = soc
        self._data = source.soc.model_dump(mode="json")
        self._declared = {name: one.model.parameters for name, one in source.accelerators.items()}

    def texts(self) -> list[tuple[Key, str]]:
        """Return each key with ``key=value``, its own or that of what is around it."""
        return [*dict.fromkeys(self._changes(SCHEMA, self._data, ()))]

    def points(self) -> dict[str, list[tuple[Point, bool]]]:
        """Return points by the key that they set, with whether each is a chip: one that is none."""
        found = dict[str, list[tuple[Point, bool]]]()
        for key, text in self.texts():
            points = found.setdefault(".".join(key), [])
            chips = sum(is_chip for _, is_chip in points)
            is_new = not text.startswith(".".join(key))
            wanted = key[-1] in PARTS or chips < (1 if is_new else MOST)
            if wanted or chips == len(points):
                point = self._complete(key, text)
                if wanted if point else chips == len(points):
                    points.append((point or (text,), point is not None))
        return found

    def kind_of(self, key: str) -> str:
        """Return a key without names of the chip, those of devices by what kind they are."""
        names = {name: each["kind"].upper() for name, each in self._data["devices"].items()}
        names |= dict.fromkeys((*self._data["memories"], *self._data["pools"], NEW), "*")
        return ".".join(names.get(word, word) for word in key.split("."))

    def _complete(self, key: Key, text: str) -> Point | None:
        """Return a point that is a chip, with what the key needs beside it; None if none is."""
        needed = (each for pattern, of in NEEDS.items() if re.search(pattern, text) for each in of)
        for beside in ((), *needed):
            for memory in self._data["memories"] if "{memory}" in str(beside) else ("",):
                others = [each.format(part=".".join(key[:2]), memory=memory) for each in beside]
                point = tuple(sorted((text, *others), key=lambda each: not each.endswith("=null")))
                try:
                    self._soc.with_(point)
                except AtollError:
                    continue
                return point
        return None

    def _changes(self, shape: Any, data: Any, key: Key) -> Iterator[tuple[Key, str]]:
        """Yield each key with ``key=value``, its own or that of what is around it."""
        first, *_ = self._options(shape, data)
        if key[-1:] == ("params",):
            for name, each in self._declared.get(key[1], {}).items():
                for value in each.choices or (each.default * 2, each.default // 2):
                    yield _change((*key, name), value)
        elif "patternProperties" in first:
            (child,) = first["patternProperties"].values()
            for name in self._names_in(key, data):
                yield from self._changes(child, (data or {}).get(name), (*key, name))
        elif "properties" in first and data is None:
            yield from self._additions(first, key)
        elif "properties" in first:
            for name, each in first["properties"].items():
                yield from self._changes(each, data[name], (*key, name))
            if key[:-1] == ("devices",):
                yield _change((*key, "kind"), None, {"kind": "master", "reach": "rw"})
        else:
            others = (value for value in self._values(shape, data, key) if value != data)
            yield from (_change(key, value) for value in others)

    def _additions(self, shape: Any, key: Key) -> Iterator[tuple[Key, str]]:
        """Yield each key of what is not there yet, beside those that it must have."""
        inside = {
            name: [*self._values(each, None, (*key, name))]
            for name, each in shape["properties"].items()
            if "patternProperties" not in each or name in shape.get("required", ())
        }
        needed = {name: inside[name][0] for name in shape.get("required", ())}
        for name, values in inside.items():
            yield from (_change((*key, name), each, needed | {name: each}) for each in values)

    def _names_in(self, key: Key, data: Any) -> Iterable[str]:
        if key[-1] in ("reach", "views"):
            return list(self._data["devices"])
        return [*(data or {}), *([] if key == ("devices",) else [NEW])]

    def _options(self, shape: Any, data: Any) -> Iterator[Any]:
        """Yield the alternatives that a value has; those of a device are of its kind."""
        if "discriminator" in shape:
            shape = {"$ref": shape["discriminator"]["mapping"][data["kind"]]}
        if "$ref" in shape:
            yield from self._options(SCHEMA["$defs"][shape["$ref"].rpartition("/")[2]], data)
        elif "anyOf" in shape:
            yield from chain.from_iterable(self._options(each, data) for each in shape["anyOf"])
        else:
            yield shape

    def _values(self, shape: Any, data: Any, key: Key) -> Iterator[object]:
        """Yield values that a key might have, the likely ones first; null deletes it."""
        for word in key[-2:]:
            yield from VALUES.get(word, ())
        if key[-1] == "masters":
            yield {name: number for number, name in enumerate(self._data["devices"])}
        if key == ("mpool", "device"):
            yield from (
                name for name, each in self._data["devices"].items() if each["kind"] == "npu"
            )
        for each in shape.get("examples", ()):
            yield yaml.safe_load(each) if isinstance(each, str) else each
        for each in self._options(shape, data):
            yield from each.get("enum", ())
            if each.get("pattern") == NAME:
                yield from (*self._data["memories"], *self._data["devices"], NEW)
            elif each.get("type") == "boolean":
                yield from (True, False)
            elif each.get("type") in ("integer", "number"):
                yield from _numbers(data, each.get("minimum", 0), each.get("maximum", 1))
            elif each.get("type") == "array":
                yield from (data[:1], data[1:], data[::-1]) if data else ()
                yield from ([one] for one in each["items"].get("enum", ()))
        if data is not None:
            yield None


def _change(key: Key, value: object, whole: object = None) -> tuple[Key, str]:
    return key, f"{'.'.join(key[:-1] if whole else key)}={json.dumps(whole or value)}"


def _numbers(now: object, least: float, most: float) -> list[float]:
    """Return other numbers within bounds, or some if there is none now."""
    given = (
        (1, 2048, 0, 8, 64, 4096, 1 << 16)
        if not isinstance(now, int | float)
        else (2 * now, now // 2, now + 4096, now + 1)
    )
    return [each for each in given if least <= each <= most]
