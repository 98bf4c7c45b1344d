# SPDX-License-Identifier: Apache-2.0
"""Operators of reef whose output lies over their input: in strips, and bit for bit.

The order in which reef touches memory is that of docs/reef.md: command after command, block after
block of output channels, pixel after pixel, the window read before the pixel is written.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll_sim.engines.reef.geometry import Geometry
from atoll_sim.engines.reef.strips import Part, Strips

LANES = 4


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Make an operator whose windows all begin in or before the image."""
    depthwise, dense = draw(st.booleans()), draw(st.booleans())
    kernel, stride, pad, size, places = [], [], [], [], []
    for _ in range(2):
        kernel.append(1 if dense else draw(st.integers(1, 4)))
        stride.append(1 if dense else draw(st.integers(1, 3)))
        pad.append(draw(st.integers(0, kernel[-1] - 1)))
        size.append(draw(st.integers(1, 9)))
        most = (size[-1] - 1 + pad[-1]) // stride[-1] + 1
        places.append(most if dense else draw(st.integers(1, most)))
    channels = draw(st.integers(1, 9))
    multiplier = draw(st.integers(1, 3)) if depthwise else 1
    outputs = channels * multiplier if depthwise else draw(st.integers(1, 13))
    return Geometry(
        samples=draw(st.integers(1, 2)),
        input=(size[0], size[1], channels),
        output=(places[0], places[1], outputs),
        kernel=(kernel[0], kernel[1]),
        stride=(stride[0], stride[1]),
        pad=(pad[0], pad[1]),
        depth_multiplier=multiplier,
        depthwise=depthwise,
    )


def accesses(shape: Geometry, part: Part, row_pitch: int) -> Iterator[tuple[set[int], set[int]]]:
    """Yield for each block and pixel of a command the input and the output bytes it touches."""
    own = part.shape
    outputs = own.output[2]
    for block in range(0, outputs, LANES):
        lanes = range(block, min(block + LANES, outputs))
        for y, x in np.ndindex(own.output[:2]):
            taps = [
                (y * own.stride[0] - own.pad[0] + ky, x * own.stride[1] - own.pad[1] + kx)
                for ky, kx in np.ndindex(own.kernel)
            ]
            depths = {lane // own.depth_multiplier for lane in lanes} if own.depthwise else None
            read = {
                part.input + row * row_pitch + column * own.input[2] + depth
                for row, column in taps
                if 0 <= row < own.input[0] and 0 <= column < own.input[1]
                for depth in depths or range(own.input[2])
            }
            pixel = part.output + (y * own.output[1] + x) * outputs
            yield read, {pixel + lane for lane in lanes}


def whole_accesses(shape: Geometry) -> dict[int, set[int]]:
    """Return the input bytes that each output byte needs."""
    apart = 1 << 30
    needed: dict[int, set[int]] = {}
    for part in Strips(shape, LANES, 1).parts(apart):
        for read, written in accesses(shape, part, shape.input[1] * shape.input[2]):
            for byte in written:
                needed[byte] = read
    return needed


def play(shape: Geometry, distance: int, splits: int) -> tuple[bool, int]:
    """Go through all accesses; say if no byte was read after it was written over, and count."""
    strips = Strips(shape, LANES, splits)
    needed, written, safe, count = whole_accesses(shape), set[int](), True, 0
    for part in strips.parts(distance):
        count += 1
        for read, target in accesses(shape, part, shape.input[1] * shape.input[2]):
            safe &= written.isdisjoint(byte + distance for byte in read)
            assert all(needed.pop(byte) == read for byte in target)
            written |= target
    assert not needed, "every output byte is written once"
    return safe, count


@settings(max_examples=cases(300), deadline=None)
@given(geometries(), st.integers(1, 30), st.integers(0, 40))
def test_m2_strips_never_write_over_what_is_still_read(
    shape: Geometry, splits: int, further: int
) -> None:
    strips = Strips(shape, LANES, splits)
    assert strips.count <= max(splits, shape.samples)
    if not strips.useful:
        return
    for distance in (strips.distance, strips.distance + further):
        safe, count = play(shape, distance, splits)
        assert safe
        assert count <= strips.count


@settings(max_examples=cases(200), deadline=None)
@given(geometries())
def test_m2_one_command_for_every_pixel_is_as_tight_as_a_core(shape: Geometry) -> None:
    """With any number of commands the distance is that of the current window."""
    pixels = shape.samples * shape.output[0] * shape.output[1]
    strips = Strips(shape, LANES, pixels)
    if not strips.useful:
        return
    ends = (np.arange(pixels) + 1) * shape.output[2]
    needed = whole_accesses(shape)
    low = [min(needed[number * shape.output[2]], default=None) for number in range(pixels)]
    least = max(
        end - min(byte for byte in low[number:] if byte is not None)
        for number, end in enumerate(ends.tolist())
        if any(byte is not None for byte in low[number:])
    )
    if not shape.depthwise:
        assert strips.distance == max(0, least)


@settings(max_examples=cases(100), deadline=None)
@given(geometries())
def test_m2_more_commands_never_need_more_distance(shape: Geometry) -> None:
    found = [Strips(shape, LANES, splits).distance for splits in (1, 2, 4, 8, 64)]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize(("splits", "distance"), [(1, 8000), (2, 4032), (125, 64), (128, 64)])
def test_m2_a_pointwise_layer_in_place_needs_a_command_for_every_step(
    splits: int, distance: int
) -> None:
    """125 pixels of 64 channels, as in the keyword network: no command may pass the next one."""
    shape = Geometry(
        samples=1,
        input=(25, 5, 64),
        output=(25, 5, 64),
        kernel=(1, 1),
        stride=(1, 1),
        pad=(0, 0),
        depth_multiplier=1,
        depthwise=False,
    )
    assert Strips(shape, 8, splits).distance == distance
