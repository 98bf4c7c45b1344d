# SPDX-License-Identifier: Apache-2.0
"""How TFLite files hold an operator: its code, the table of its options, and what they mean.

The numbers are those of the public schema (`schema.fbs`, version 3); a test holds them against it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any

from atoll.ir.graph import Attribute
from atoll.ops.window import same_padding
from atoll.records import dataclass

SAME, VALID = 0, 1
BYTE, WORD = 1, 4
"""Bytes of a number in a table; enumerations and truth values are bytes."""

ACTIVATIONS = ("none", "relu", "relu_n1_to_1", "relu6", "tanh", "sign_bit")
"""Fused activations, by number."""

Shapes = Sequence[tuple[int, ...] | None]
Attributes = dict[str, Attribute]
Reader = Callable[[Any, Shapes], Attributes]


class OptionError(Exception):
    """An option has a value that no attribute can express; the text says which."""


def no_options(options: Any, shapes: Shapes) -> Attributes:
    """Return the attributes of a kind that has none."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class TfliteForm:
    """How a TFLite file holds a kind of operator.

    Attributes:
        code: name of the builtin operator, such as ``ABS``, or ``CUSTOM`` and the name of a custom
            one, such as ``CUSTOM Mirror``.
        table: the schema's name of the operator's option table, "" for none.
        may_lack_table: whether a file may leave that table out, as TFLM then takes every option for
            0, and that has a meaning.
        fields: bytes of the numbers in that table, by slot.
        read: makes attributes of the options and the inputs' shapes, None for an absent input.
            Options are the reader of the table in package ``tflite``, or a custom operator's bytes.
        constants: what inputs are called that are constants, by position.
        shapes_from: the first of the inputs that are shapes which the output states as well: they
            must be constants, unless `any_shape` says otherwise, and are left out.
        states: positions of inputs that are variables, which the operator changes. For each of
            them, in this order, it has one more output than in the file.
        order: positions of the inputs that the operator has, in its order, where that is not the
            file's; the others are such shapes.
        any_shape: whether such shapes may be computed, as the kernel does not read them.
    """

    code: str
    table: str = ""
    may_lack_table: bool = False
    fields: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    read: Reader = no_options
    constants: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    shapes_from: int | None = None
    order: tuple[int, ...] = ()
    states: tuple[int, ...] = ()
    any_shape: bool = False


def activation(options: Any) -> str:
    """Return the fused activation."""
    number = int(options.FusedActivationFunction())
    known = 0 <= number < len(ACTIVATIONS)
    return ACTIVATIONS[number] if known else f"activation {number}"


def only_activation(options: Any, shapes: Shapes) -> Attributes:
    """Return the attributes of a kind whose only option is the fused activation."""
    return {"activation": activation(options)}


def height_and_width(shapes: Shapes, position: int) -> tuple[int, int]:
    """Return the extents of an image; 1 x 1 if the input is none, which the checks report."""
    shape = (shapes[position] if position < len(shapes) else None) or ()
    return (shape[1], shape[2]) if len(shape) == 4 else (1, 1)


def steps(
    options: Any, image: tuple[int, int], kernel: tuple[int, int], dilations: tuple[int, int]
) -> Attributes:
    """Return strides and explicit pads; a stride below 1, which the checks report, pads as 1."""
    strides = (options.StrideH(), options.StrideW())
    pads = [(0, 0), (0, 0)]
    if options.Padding() == SAME:
        windows = zip(image, kernel, strides, dilations, strict=True)
        pads = [
            same_padding(size, extent, max(stride, 1), dilation)
            for size, extent, stride, dilation in windows
        ]
    elif options.Padding() != VALID:
        raise OptionError(f"has padding {options.Padding()}, which is neither SAME nor VALID")
    (top, bottom), (left, right) = pads
    return {
        **{"stride_h": strides[0], "stride_w": strides[1]},
        **{"pad_top": top, "pad_left": left, "pad_bottom": bottom, "pad_right": right},
    }
