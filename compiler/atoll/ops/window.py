# SPDX-License-Identifier: Apache-2.0
"""Sliding windows over NHWC images: extents, padding and the patches they cover."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Operator
from atoll.records import dataclass

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A kernel's taps and how it moves; all counts are elements, pads are 0 or more."""

    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    dilation_h: int = 1
    dilation_w: int = 1
    pad_top: int = 0
    pad_left: int = 0
    pad_bottom: int = 0
    pad_right: int = 0

    @classmethod
    def of(cls, op: Operator, kernel_h: int, kernel_w: int) -> "Window":
        """Read strides, dilations (1 where the kind has none) and pads from `op`."""
        return cls(
            kernel_h=kernel_h,
            kernel_w=kernel_w,
            stride_h=op.integer("stride_h"),
            stride_w=op.integer("stride_w"),
            dilation_h=op.integer("dilation_h") if "dilation_h" in op.attributes else 1,
            dilation_w=op.integer("dilation_w") if "dilation_w" in op.attributes else 1,
            pad_top=op.integer("pad_top"),
            pad_left=op.integer("pad_left"),
            pad_bottom=op.integer("pad_bottom"),
            pad_right=op.integer("pad_right"),
        )

    @property
    def extent(self) -> tuple[int, int]:
        """Rows and columns from the first tap to the last."""
        return (
            (self.kernel_h - 1) * self.dilation_h + 1,
            (self.kernel_w - 1) * self.dilation_w + 1,
        )

    def features(self) -> dict[str, int]:
        """Return what accelerators match on, by name."""
        return {
            "kernel_h": self.kernel_h,
            "kernel_w": self.kernel_w,
            "stride_h": self.stride_h,
            "stride_w": self.stride_w,
            "dilation_h": self.dilation_h,
            "dilation_w": self.dilation_w,
            "pad_top": self.pad_top,
            "pad_left": self.pad_left,
            "pad_bottom": self.pad_bottom,
            "pad_right": self.pad_right,
        }

    def positions(self, height: int, width: int) -> tuple[int, int]:
        """Count the window's places down and across an image; 0 or less if it does not fit."""
        rows, columns = self.extent
        return (
            (height + self.pad_top + self.pad_bottom - rows) // self.stride_h + 1,
            (width + self.pad_left + self.pad_right - columns) // self.stride_w + 1,
        )

    def patches(self, x: NDArray[Scalar], fill: int) -> NDArray[Scalar]:
        """Return what the window covers at each place, padding filled with `fill`.

        Args:
            x: images [N, H, W, C].
            fill: value of the padding.

        Returns:
            A read-only view [N, OH, OW, C, kernel_h, kernel_w].
        """
        pads = ((0, 0), (self.pad_top, self.pad_bottom), (self.pad_left, self.pad_right), (0, 0))
        padded = np.pad(x, pads, constant_values=fill)
        every = np.lib.stride_tricks.sliding_window_view(padded, self.extent, axis=(1, 2))
        strided = every[:, :: self.stride_h, :: self.stride_w]
        return strided[..., :: self.dilation_h, :: self.dilation_w]


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """Return the padding (before, after) that makes ceil(size / stride) places."""
    places = -(-size // stride)
    total = max((places - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2
