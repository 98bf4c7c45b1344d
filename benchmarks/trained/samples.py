# SPDX-License-Identifier: Apache-2.0
"""Labelled data that cost nothing: drawn shapes, tones, and spectra of made-up words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SHAPES = ("disc", "square", "triangle", "cross")
TONES = ("low", "high", "rising", "falling", "noise")
WORDS = ("rising", "falling", "valley", "hill", "steady")


@dataclass(frozen=True)
class Samples:
    """Labelled samples.

    Attributes:
        x: real numbers, float32 [N, ...].
        y: classes, int64 [N], or [N, H, W] with one for each pixel.
    """

    x: Array
    y: Array


def shapes(count: int, seed: int, *, size: int, channels: int = 1) -> Samples:
    """Draw one shape an image, float32 [N, size, size, channels] of 0 to 1, on a noisy ground."""
    rng = np.random.default_rng(seed)
    masks, y = _draw(rng, count, size)
    colours = rng.uniform(0.5, 1.0, (count, 1, 1, channels))
    ground = rng.uniform(0.0, 0.4, (count, 1, 1, channels))
    x = np.where(masks[..., np.newaxis], colours, ground)
    return Samples(_noisy(rng, x, 0.05).clip(0, 1), y)


def shapes_by_pixel(count: int, seed: int, *, size: int) -> Samples:
    """Draw as `shapes`, in grey; the class of a pixel is 0 where the ground is."""
    drawn = shapes(count, seed, size=size)
    masks, y = _draw(np.random.default_rng(seed), count, size)
    return Samples(drawn.x, np.where(masks, y[:, np.newaxis, np.newaxis] + 1, 0))


def tones(count: int, seed: int, *, length: int) -> Samples:
    """Make waves, float32 [N, length, 1] of about -1 to 1: tones, chirps and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(TONES), count)
    low, high = rng.uniform(0.02, 0.06, (count, 1)), rng.uniform(0.15, 0.25, (count, 1))
    place = np.linspace(0, 1, length)
    kinds = [low + 0 * place, high + 0 * place, low + (high - low) * place]
    kinds += [high + (low - high) * place, rng.uniform(0, 1, (count, length))]
    frequency = np.stack(kinds)[y, np.arange(count)]
    begin = rng.uniform(0, 1, (count, 1))
    waves = np.sin(2 * np.pi * (begin + np.cumsum(frequency, axis=1)))
    return Samples(_noisy(rng, waves[..., np.newaxis] * 0.8, 0.1), y)


def words(count: int, seed: int, *, frames: int, bands: int) -> Samples:
    """Make spectra, float32 [N, frames, bands]: where the loud band lies as time passes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(WORDS), count)
    place = np.linspace(0, 1, frames)
    paths = np.stack(
        [place, 1 - place, abs(2 * place - 1), 1 - abs(2 * place - 1), 0 * place + 0.5]
    )
    path = rng.uniform(0.6, 1.0, (count, 1)) * paths[y] + rng.uniform(-0.1, 0.1, (count, 1))
    band = np.linspace(0, 1, bands)
    loud = np.exp(-(((path[..., np.newaxis] - band) / 0.15) ** 2))
    return Samples(_noisy(rng, 3 * loud - 1, 0.3), y)


def _draw(rng: np.random.Generator, count: int, size: int) -> tuple[Array, Array]:
    """Return where shapes are, bool [N, size, size], and which."""
    y = rng.integers(0, len(SHAPES), count)
    half = rng.uniform(0.15, 0.3, (count, 1, 1)) * size
    row, column = (rng.uniform(0.35, 0.65, (count, 1, 1)) * size for _ in range(2))
    rows, columns = np.mgrid[:size, :size]
    down, right = rows - row, columns - column
    across, along = abs(right), abs(down)
    inside = np.maximum(across, along) < half
    kinds = [across**2 + along**2 < half**2, inside]
    kinds += [inside & (2 * across < down + half), inside & (np.minimum(across, along) < half / 3)]
    return np.stack(kinds)[y, np.arange(count)], y


def _noisy(rng: np.random.Generator, x: Array, deviation: float) -> Array:
    return (x + rng.normal(0, deviation, x.shape)).astype(np.float32)
