# SPDX-License-Identifier: Apache-2.0
"""Mutants of YAML, TFLite and NumPy files, each named by its kind and number, which also seed it.

Test modules get it as the fixture `mutants`.
"""

import io
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import yaml
from tests.all_samples import any_sample
from tests.differential.generator import random_model

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
EVIL = "e\x1b[2J\u202e\u2066\x9bl"

TOKENS = (
    *(b"\x1b[31m", b"\x00", b"\x7f", b"\xc2\x9b", b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf"),
    *("\u202e".encode(), "\u2066".encode(), "\u2028".encode(), "é面".encode(), b"\t", b"\r", b"\n"),
    *(b"9" * 30, b"9" * 5_000, b"-1", b"1e999", b"0x" + b"f" * 70, b".nan", b"-.inf", b"1_0"),
    *(b"[" * 40, b"{a: " * 40, b"(" * 300, b"- " * 200, b"x" * 5_000, b"'" + b"y" * 5_000 + b"'"),
    *(
        b"[]",
        b"{}",
        b"~",
        b"null",
        b"true",
        b"''",
        b"*a",
        b"&a ",
        b"!!int ",
        b"? ",
        b"<<: ",
        b"---",
    ),
    *(b"None", b"descr", b"O", b"<U8", b"V9", b"<f8", b"|i1", b"True", b"PK\x03\x04", b"#", b"\\"),
    *(b'"\\e[2J\\u202E"', b'"\\uD800"', b"rw", b"none", b"cpu", b"64 KiB", b"1e9 MiB", b"dma"),
)
WORDS = (0, 1, 2, 3, 9, 17, 127, 128, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 0x7FC00000)
VALUES: tuple[Any, ...] = (
    *(0, 1, 3, 16, 4096, 2**31, 2**32, 2**64, 10**300, -1, 1.5, float("inf"), float("nan"), None),
    *(True, "", "4 KiB", "1e9 MiB", "9" * 40, "x" * 5_000, "x y " * 5_000, EVIL, EVIL * 1_000, "é"),
    *([], {}, [[]] * 100, {EVIL: EVIL}, ["x" * 300] * 300, "rw", "cpu", "sram", "ram", "CONV_2D"),
)
RANDOM_FILES = 40
TYPES = (
    *("int8", "int32", "uint8", "float32", "int64", "int16", "bool", "int4", "resource"),
    *("float16", "string"),
)
SCALES = (0.0, -1.0, 1e-30, 1e30, 0.5, float("inf"), float("nan"))
EXTENTS = (0, 1, 2, 3, 8, 255, 65536, 2**31 - 1, -1)
HEADERS = (
    "{'descr': '|i1', 'fortran_order': False, 'shape': (64,), 1: 2}\n",
    "{'descr': '|i1', []: False, 'shape': (64,)}\n",
    "{'descr': '|i1', 'fortran_order': False, 'shape': (True, True)}\n",
    "{'descr': [('a', '|i1', (2, 2))], 'fortran_order': True, 'shape': (1, 8, 8, 1)}\n",
)

Corpus = Sequence[bytes]
Mutation = Callable[[bytearray, random.Random, Corpus], None]


def flip(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    data[chance.randrange(len(data))] = chance.choice((0, 1, 2, 3, 4, 9, 127, 128, 255))


def word(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    at = 4 * chance.randrange(len(data) // 4 or 1)
    data[at : at + 4] = chance.choice(WORDS).to_bytes(4, "little")


def truncate(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    del data[chance.randrange(len(data)) :]


def delete(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.randint(1, 60)]


def splice(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    """Put a piece of any file of the corpus somewhere."""
    source = chance.choice(corpus)
    begin = chance.randrange(len(source))
    piece = source[begin : begin + chance.randint(1, 200)]
    at = chance.randrange(len(data))
    data[at : at + chance.choice((0, len(piece)))] = piece


def insert(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    at = chance.randrange(len(data))
    data[at:at] = chance.choice(TOKENS)


def exchange(data: bytearray, chance: random.Random, corpus: Corpus) -> None:
    """Put a token in the place of a word, or of a value behind a colon."""
    separator = chance.choice((b" ", b": ", b",", b"\n"))
    parts = bytes(data).split(separator)
    parts[chance.randrange(len(parts))] = chance.choice(TOKENS)
    data[:] = separator.join(parts)


BYTES: tuple[Mutation, ...] = (flip, overwrite, overwrite, word, word, truncate, splice)
TEXT: tuple[Mutation, ...] = (flip, truncate, delete, splice, insert, exchange, exchange)


@dataclass(frozen=True)
class Kind:
    """How the mutants of a kind of file are made.

    Attributes:
        corpus: what bytes are taken from.
        mutations: of bytes.
        whole: makes a well-formed file that says something else; None if there is no way.
    """

    corpus: Corpus
    mutations: Sequence[Mutation]
    whole: Callable[[random.Random], bytes] | None = None


def mutant(kind: Kind, number: int) -> bytes:
    chance = random.Random(number)
    if kind.whole and number % 2:
        return kind.whole(chance)
    data = bytearray(chance.choice(kind.corpus))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        chance.choice(kind.mutations)(data, chance, kind.corpus)
        data = data or bytearray(b" ")
    return bytes(data)


def yaml_kind() -> Kind:
    good = [*_read("socs", "*.yaml"), *_read("tests/data", "*.yaml")]
    chips = [yaml.safe_load(text) for text in _read("socs", "*.yaml")]

    def whole(chance: random.Random) -> bytes:
        document = chance.choice(chips)
        for _ in range(chance.choice((1, 1, 2))):
            document = _changed(document, chance)
        return yaml.safe_dump(document, sort_keys=False, width=200).encode()

    return Kind([*good * 5, *filter(None, _read("tests/bad", "*.yaml"))], TEXT, whole)


def tflite_kind(builder: ModuleType, samples: tuple[Any, ...]) -> Kind:
    drawn = (random_model(seed) for seed in range(RANDOM_FILES))
    good = [DIGITS.read_bytes(), *map(builder.write, (*samples, *drawn))]
    bad = list(filter(None, _read("tests/bad", "*.tflite")))

    def whole(chance: random.Random) -> bytes:
        changed = any_sample(chance, samples)
        for _ in range(chance.choice((1, 1, 2, 4))):
            changed = _other_model(changed, builder, chance)
        written: bytes = builder.write(changed)
        return written

    return Kind([*good * 2, *bad], BYTES, whole)


def numpy_kind() -> Kind:
    batch = np.arange(4 * 64, dtype=np.uint8).astype(np.int8).reshape(4, 8, 8, 1)
    files = [io.BytesIO() for _ in range(3)]
    np.save(files[0], batch)
    np.savez(files[1], image=batch)
    np.savez_compressed(files[2], image=batch)
    return Kind([*(file.getvalue() for file in files), *map(_headed, HEADERS)], (*TEXT, *BYTES))


def _read(folder: str, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / folder).glob(pattern))]


def _headed(header: str) -> bytes:
    """Return a .npy file of 64 bytes with a header that NumPy would not write."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)


def _changed(node: Any, chance: random.Random) -> Any:
    """Return a document with one value changed, or a key added, dropped or renamed."""
    if not isinstance(node, dict) or not node:
        return chance.choice(VALUES)
    inner = [key for key, value in node.items() if isinstance(value, dict)]
    key = chance.choice(inner if inner and chance.random() < 0.8 else list(node))
    if key in inner and chance.random() < 0.9:
        return {**node, key: _changed(node[key], chance)}
    rest = {name: value for name, value in node.items() if name != key}
    match chance.randrange(8):
        case 0:
            return rest
        case 1:
            return {**node, chance.choice((EVIL, "x" * 3_000, "extends", "kind")): node[key]}
        case 2:
            return {**rest, chance.choice((EVIL, "y" * 3_000, f"{key}s")): node[key]}
        case _:
            return {**node, key: chance.choice(VALUES)}


def _other_model(model: Any, builder: ModuleType, chance: random.Random) -> Any:
    """Return a model with one tensor, operator or port changed."""
    number = chance.randrange(len(model.tensors))
    match chance.randrange(8):
        case 0 | 1 | 2:
            tensor = _other_tensor(model.tensors[number], chance)
            return replace(model, tensors=_with(model.tensors, number, tensor))
        case 3 | 4 if model.operators:
            at = chance.randrange(len(model.operators))
            op = _other_operator(model.operators[at], len(model.tensors), chance)
            return replace(model, operators=_with(model.operators, at, op))
        case 5:
            return replace(model, inputs=(*model.inputs, number))
        case 6:
            return replace(model, outputs=(*model.outputs, number))
        case _:
            extra = builder.Tensor(shape=(2, 3), name=EVIL, dtype=chance.choice(TYPES))
            inputs = (*model.inputs, len(model.tensors))
            return replace(model, tensors=(*model.tensors, extra), inputs=inputs)


def _other_tensor(tensor: Any, chance: random.Random) -> Any:
    match chance.randrange(6):
        case 0:
            return replace(tensor, dtype=chance.choice(TYPES))
        case 1:
            shape = (*tensor.shape[:-1], chance.choice(EXTENTS), *tensor.shape[-1:])
            return replace(tensor, shape=shape[chance.randrange(2) :])
        case 2:
            return replace(tensor, scales=(chance.choice(SCALES),) * len(tensor.scales))
        case 3:
            return replace(tensor, zero_points=(chance.choice((0, -128, 128, 2**40)),))
        case 4:
            return replace(tensor, variable=not tensor.variable)
        case _:
            return replace(tensor, name=chance.choice((EVIL, "n" * 100_000, "", "main", "*/")))


def _other_operator(op: Any, tensors: int, chance: random.Random) -> Any:
    match chance.randrange(5):
        case 0:
            return replace(op, code="CUSTOM", custom=chance.choice((EVIL, "c" * 100_000)), table="")
        case 1:
            return replace(op, inputs=op.inputs[: chance.randrange(len(op.inputs) + 1)])
        case 2:
            return replace(op, outputs=(chance.randrange(tensors),))
        case 3 if names := _numbers_of(op):
            name = chance.choice(names)
            truth = isinstance(op.options[name], bool) or name.startswith("Keep")
            value = chance.choice((0, 1) if truth else (0, 1, 2, 5, 100))
            return replace(op, options={**op.options, name: value})
        case _:
            at = chance.randrange(len(op.inputs) or 1)
            return replace(op, inputs=_with(op.inputs, at, chance.randrange(tensors)))


def _numbers_of(op: Any) -> list[str]:
    """Return the options that are no text, such as the name of a variable."""
    return [name for name, value in op.options.items() if not isinstance(value, str)]


def _with(items: Iterable[Any], at: int, item: Any) -> tuple[Any, ...]:
    changed = list(items)
    changed[at : at + 1] = [item]
    return tuple(changed)
