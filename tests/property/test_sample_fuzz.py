# SPDX-License-Identifier: Apache-2.0
"""Damaged sample files are refused with a message, or hold samples of the right shape and type."""

import io
import random
from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.samples import load_samples
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph, Tensor

SHAPE = (1, 8, 8, 1)
GRAPH = Graph("one", (Tensor(name="x", shape=SHAPE, dtype="int8"),), (), ("x",), ("x",))
MUTANTS = 1000
HEADER = 130
TOKENS = (
    b"(", b"'", b"-", b"[", b"{", b"\n", b"\\", b"9" * 30, b"None", b"O", b"<U8", b"V9", b"f8",
    b"\x00", b"#", b"\t", b"1e9", b"...", b"PK\x03\x04", b"\xff\xff",
)  # fmt: skip


def originals() -> list[bytes]:
    """Return a batch of four samples as .npy, as .npz, and as a compressed .npz."""
    batch = np.arange(4 * 64, dtype=np.uint8).astype(np.int8).reshape(4, *SHAPE[1:])
    files = [io.BytesIO() for _ in range(3)]
    np.save(files[0], batch)
    np.savez(files[1], x=batch)
    np.savez_compressed(files[2], x=batch)
    return [file.getvalue() for file in files]


def mutated(original: bytes, chance: random.Random) -> bytes:
    data = bytearray(original)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(min(HEADER, len(data)) if chance.random() < 0.7 else len(data))
        token = chance.choice(TOKENS)
        match chance.randrange(4):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + len(token)] = token
            case 2:
                data[at:at] = token
            case 3:
                del data[at : at + chance.randint(1, 20)]
    return bytes(data)


def usable(path: Path) -> bool:
    """Tell whether the file holds samples; if not, it is refused with code and remedy."""
    try:
        samples = load_samples(path, GRAPH)
    except UsageError as error:
        faults = error.faults
    else:
        assert {(sample["x"].shape, sample["x"].dtype.name) for sample in samples} == {
            (SHAPE, "int8")
        }
        return True
    assert [fault.code for fault in faults] == ["E093"]
    assert faults[0].remedy
    return False


@pytest.mark.parametrize("kind", range(3))
def test_mutants(kind: int, tmp_path: Path) -> None:
    chance = random.Random(f"samples {kind}")
    original = originals()[kind]
    path = tmp_path / "samples"
    path.write_bytes(original)
    assert usable(path)
    accepted = 0
    for _ in range(MUTANTS // 3):
        path.write_bytes(mutated(original, chance))
        accepted += usable(path)
    assert 0 < accepted < MUTANTS // 6
