# SPDX-License-Identifier: Apache-2.0
"""Load quantised ONNX models: recognise, read, convert."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from atoll.diagnostics.errors import ModelError
from atoll.frontend.file_bytes import file_bytes
from atoll.frontend.front_end import FrontEnd
from atoll.frontend.onnx.recognise import is_onnx
from atoll.frontend.onnx.worker import settler
from atoll.frontend.tflite.reader import is_tflite
from atoll.ir.graph import Graph


class Onnx(FrontEnd):
    """The format of ONNX, with quantised operators (QOperator) or around them (QDQ).

    Float inputs and outputs lie on the int8 side of their QuantizeLinear and DequantizeLinear, and
    uint8 becomes int8 with zero points less 128.
    """

    suffix = ".onnx"

    def recognises(self, path: Path) -> bool:
        """Look at the content; where it is of no known format, at the suffix."""
        return is_onnx(path) or (super().recognises(path) and not is_tflite(path))

    def load(self, path: Path) -> Graph:
        """Read the file with the package `onnx`, and convert it.

        Raises:
            ModelError: E059, the package is not installed; E050 to E056.
        """
        data = file_bytes(path, self.suffix)
        if find_spec("onnx") is None:
            message = "is an ONNX file, and the package 'onnx' is not installed"
            remedy = "install it with: pip install 'atoll[onnx]'"
            raise ModelError("E059", message, remedy=remedy)
        from atoll.frontend.onnx.graph import graph_of
        from atoll.frontend.onnx.reader import read

        with settler() as settled:
            file = settled(data)
        with np.errstate(all="ignore"):  # of wrong numbers, which are refused where they matter
            return graph_of(read(file))


ONNX = Onnx()
