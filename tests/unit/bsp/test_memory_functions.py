# SPDX-License-Identifier: Apache-2.0
"""memcpy, memmove, memset and memcmp against Python's bytes, compiled for this machine."""

import ctypes
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atoll.bsp.render import FOLDER

SPAN = 160
OFFSETS = st.integers(0, 40)
SIZES = st.integers(0, 100)


@pytest.fixture(scope="module")
def library(host_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    found = host_library(FOLDER / "runtime" / "memory.c")
    for name in ("memcpy", "memmove"):
        getattr(found, name).argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        getattr(found, name).restype = ctypes.c_void_p
    found.memset.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
    found.memset.restype = ctypes.c_void_p
    found.memcmp.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    return found


def _buffer() -> tuple[ctypes.Array[ctypes.c_char], bytearray]:
    pattern = bytes(7 * index % 251 for index in range(SPAN))
    return ctypes.create_string_buffer(pattern, SPAN), bytearray(pattern)


@given(to=OFFSETS, source=OFFSETS, size=SIZES)
def test_memmove(library: ctypes.CDLL, to: int, source: int, size: int) -> None:
    real, model = _buffer()
    base = ctypes.addressof(real)
    model[to : to + size] = bytes(model[source : source + size])
    assert library.memmove(base + to, base + source, size) == base + to
    assert real.raw == model


@given(to=OFFSETS, source=OFFSETS, size=SIZES)
def test_memcpy(library: ctypes.CDLL, to: int, source: int, size: int) -> None:
    real, model = _buffer()
    other, _ = _buffer()
    model[to : to + size] = other.raw[source : source + size]
    target = ctypes.addressof(real) + to
    assert library.memcpy(target, ctypes.addressof(other) + source, size) == target
    assert real.raw == model


@given(to=OFFSETS, value=st.integers(-300, 300), size=SIZES)
def test_memset(library: ctypes.CDLL, to: int, value: int, size: int) -> None:
    real, model = _buffer()
    model[to : to + size] = bytes([value & 0xFF]) * size
    target = ctypes.addressof(real) + to
    assert library.memset(target, value, size) == target
    assert real.raw == model


@given(left=st.binary(max_size=12), right=st.binary(max_size=12))
def test_memcmp(library: ctypes.CDLL, left: bytes, right: bytes) -> None:
    size = min(len(left), len(right))
    sign = (left[:size] > right[:size]) - (left[:size] < right[:size])
    assert library.memcmp(left, right, size) == sign
