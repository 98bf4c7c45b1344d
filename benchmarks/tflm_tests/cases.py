# SPDX-License-Identifier: Apache-2.0
"""Read the cases of the kernel tests of TensorFlow Lite for Microcontrollers.

The test files are compiled as they are, with recorder.h in the place of the kernel runner, so that
each operator that a test would invoke is printed with its tensors and options.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atoll.utils.scratch import temporary_folder

HERE = Path(__file__).parent
KERNELS = "tensorflow/lite/micro/kernels"
REPLACED = (
    f"{KERNELS}/kernel_runner.h",
    "tensorflow/lite/micro/testing/micro_test_v2.h",
    "tensorflow/lite/micro/flatbuffer_utils.h",
    "tensorflow/lite/micro/micro_mutable_op_resolver.h",
    "tensorflow/lite/schema/schema_generated.h",
    "flatbuffers/flatbuffers.h",
)
"""Headers in whose place recorder.h stands."""

LIBRARY = (
    "tensorflow/lite/core/c/common.cc",
    "tensorflow/lite/kernels/kernel_util.cc",
    "tensorflow/lite/kernels/internal/portable_tensor_utils.cc",
    "tensorflow/lite/kernels/internal/quantization_util.cc",
    "tensorflow/lite/micro/micro_utils.cc",
    f"{KERNELS}/conv_test_common.cc",
    f"{KERNELS}/testdata/conv_test_data.cc",
    f"{KERNELS}/testdata/lstm_test_data.cc",
)
SUMS = """namespace tensor_utils {
void MatrixScalarMultiplyAccumulate(const int8_t* matrix, int32_t factor, int32_t rows,
                                    int32_t columns, int32_t* sums) {
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      sums[row] += factor * matrix[row * columns + column];
    }
  }
}
}"""
"""A function of TFLM whose own source needs a library that a checkout lacks."""

HELPERS = "tensorflow/lite/micro/test_helpers"
HELPING = (
    "IntArrayFromInts",
    "FloatArrayFromFloats",
    "PackInt4ValuesDenselyInPlace",
    "CreateSymmetricPerChannelQuantizedTensor",
    "CreateSymmetricPerChannelQuantizedTensorWithoutScaleEstimation",
)
"""Functions of the test helpers that need no FlatBuffers."""

ACTIVATION = {"FusedActivationFunction": "activation"}
STRIDES = {"Padding": "padding - 1", "StrideW": "stride_width", "StrideH": "stride_height"}
DILATIONS = {
    "DilationWFactor": "dilation_width_factor",
    "DilationHFactor": "dilation_height_factor",
}
AREA = {"FilterWidth": "filter_width", "FilterHeight": "filter_height"}
CORNERS = {"AlignCorners": "align_corners", "HalfPixelCenters": "half_pixel_centers"}
KEEP = {"KeepDims": "keep_dims"}
BLOCK = {"BlockSize": "block_size"}
MASKS = {
    f"{part.title().replace('_', '')}Mask": f"{part}_mask"
    for part in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
}
TABLES: dict[str, tuple[str, str, dict[str, str]]] = {
    "ADD": ("AddOptions", "Add", ACTIVATION),
    "AVERAGE_POOL_2D": ("Pool2DOptions", "Pool", STRIDES | AREA | ACTIVATION),
    "BATCH_MATMUL": ("BatchMatMulOptions", "BatchMatMul", {"AdjX": "adj_x", "AdjY": "adj_y"}),
    "CONCATENATION": ("ConcatenationOptions", "Concatenation", {"Axis": "axis"} | ACTIVATION),
    "CONV_2D": ("Conv2DOptions", "Conv", STRIDES | DILATIONS | ACTIVATION),
    "CUMSUM": ("CumsumOptions", "Cumsum", {"Exclusive": "exclusive", "Reverse": "reverse"}),
    "DEPTHWISE_CONV_2D": (
        "DepthwiseConv2DOptions",
        "DepthwiseConv",
        STRIDES | DILATIONS | ACTIVATION | {"DepthMultiplier": "depth_multiplier"},
    ),
    "DEPTH_TO_SPACE": ("DepthToSpaceOptions", "DepthToSpace", BLOCK),
    "DIV": ("DivOptions", "Div", ACTIVATION),
    "FULLY_CONNECTED": (
        "FullyConnectedOptions",
        "FullyConnected",
        ACTIVATION | {"KeepNumDims": "keep_num_dims", "WeightsFormat": "weights_format"},
    ),
    "GATHER": ("GatherOptions", "Gather", {"Axis": "axis", "BatchDims": "batch_dims"}),
    "L2_NORMALIZATION": ("L2NormOptions", "L2Norm", ACTIVATION),
    "LEAKY_RELU": ("LeakyReluOptions", "LeakyRelu", {"Alpha": "alpha"}),
    "MAX_POOL_2D": ("Pool2DOptions", "Pool", STRIDES | AREA | ACTIVATION),
    "MEAN": ("ReducerOptions", "Reducer", KEEP),
    "MIRROR_PAD": ("MirrorPadOptions", "MirrorPadding", {"Mode": "mode - 1"}),
    "MUL": ("MulOptions", "Mul", ACTIVATION),
    "PACK": ("PackOptions", "Pack", {"ValuesCount": "values_count", "Axis": "axis"}),
    "REDUCE_ALL": ("ReducerOptions", "Reducer", KEEP),
    "REDUCE_MAX": ("ReducerOptions", "Reducer", KEEP),
    "REDUCE_MIN": ("ReducerOptions", "Reducer", KEEP),
    "RESIZE_BILINEAR": ("ResizeBilinearOptions", "ResizeBilinear", CORNERS),
    "RESIZE_NEAREST_NEIGHBOR": (
        "ResizeNearestNeighborOptions",
        "ResizeNearestNeighbor",
        CORNERS,
    ),
    "SOFTMAX": ("SoftmaxOptions", "Softmax", {"Beta": "beta"}),
    "SPACE_TO_DEPTH": ("SpaceToDepthOptions", "SpaceToDepth", BLOCK),
    "SPLIT": ("SplitOptions", "Split", {"NumSplits": "num_splits"}),
    "SPLIT_V": ("SplitVOptions", "SplitV", {"NumSplits": "num_splits"}),
    "SQUARED_DIFFERENCE": ("SquaredDifferenceOptions", "", {}),
    "SQUEEZE": ("SqueezeOptions", "Squeeze", {"SqueezeDims": "squeeze_dims, p.num_squeeze_dims"}),
    "STRIDED_SLICE": ("StridedSliceOptions", "StridedSlice", MASKS | {"Offset": "offset"}),
    "SUB": ("SubOptions", "Sub", ACTIVATION),
    "SUM": ("ReducerOptions", "Reducer", KEEP),
    "SVDF": ("SVDFOptions", "SVDF", ACTIVATION | {"Rank": "rank"}),
    "TRANSPOSE_CONV": ("TransposeConvOptions", "TransposeConv", STRIDES | ACTIVATION),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        "UnidirectionalSequenceLSTMOptions",
        "UnidirectionalSequenceLSTM",
        ACTIVATION | {"CellClip": "cell_clip", "ProjClip": "proj_clip", "TimeMajor": "time_major"},
    ),
    "UNPACK": ("UnpackOptions", "Unpack", {"Num": "num", "Axis": "axis"}),
}
"""Of operators with options: the schema's table, TFLM's structure, its member for each field."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a test invokes: an operator, and its tensors at each of its runs in turn."""

    test: str
    code: str
    told: dict[str, Any]
    runs: list[list[dict[str, Any]]]


def collect(checkout: Path) -> tuple[list[Case], dict[str, str]]:
    """Return the cases of all test files, and of those that cannot be read the reason."""
    cases: list[Case] = []
    unread: dict[str, str] = {}
    with temporary_folder() as folder:
        for path in REPLACED:
            header = folder / path
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text('#include "recorder.h"\n')
        (folder / "kernels.cc").write_text(registrations(checkout))
        (folder / "helpers.cc").write_text(helpers(checkout))
        compiler = Compiler(checkout, folder)
        sources = [checkout / path for path in LIBRARY]
        sources += [folder / "kernels.cc", folder / "helpers.cc"]
        library = [compiler.compile(source) for source in sources]
        for source in sorted((checkout / KERNELS).glob("*_test.cc")):
            try:
                cases += read(compiler.output([compiler.compile(source), *library]))
            except subprocess.CalledProcessError as error:
                lines = [line for line in error.stderr.splitlines() if "error" in line]
                unread[source.name] = (lines or [f"ends with status {error.returncode}"])[0]
    return cases, unread


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles sources of a checkout with the replaced headers in `folder`."""

    checkout: Path
    folder: Path

    def compile(self, source: Path) -> Path:
        """Return the object file."""
        made = self.folder / f"{source.parent.name}_{source.stem}.o"
        includes = [f"-I{path}" for path in (self.folder, HERE, self.checkout)]
        words = ["g++", "-std=c++17", "-w", "-fpermissive", *includes]
        words += ["-include", "tensorflow/lite/micro/micro_context.h"]
        run([*words, "-c", source, "-o", made])
        return made

    def output(self, objects: list[Path]) -> str:
        """Link, and return what the program prints; what no case calls may be missing."""
        program = self.folder / "cases"
        run(["g++", *objects, "-static", "-Wl,--unresolved-symbols=ignore-all", "-o", program])
        return run([program])


def run(words: list[str | Path]) -> str:
    """Run a command and return its output."""
    done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    return done.stdout


def registrations(checkout: Path) -> str:
    """Return a source in which each operator registers its name, and which prints options."""
    declared = (checkout / KERNELS / "micro_ops.h").read_text()
    lines = ['#include <cstring>\n#include "recorder.h"\nnamespace tflite {']
    lines += [
        f'TFLMRegistration Register_{name}() {{ return {{.custom_name = "{name}"}}; }}'
        for name in re.findall(r"^TFLMRegistration Register_(\w+)\(\);", declared, re.MULTILINE)
    ]
    lines.append("std::string cases::options(const char* code, const void* data) {")
    for code, (_, structure, fields) in TABLES.items():
        parts = ' + "," + '.join(f'field("{name}", p.{member})' for name, member in fields.items())
        if fields:
            lines.append(
                f'if (data != nullptr && std::strcmp(code, "{code}") == 0) {{ const auto& p = '
                f"*static_cast<const TfLite{structure}Params*>(data); return {parts}; }}"
            )
    return "\n".join([*lines, 'return "";', "}", SUMS, "}"])


def helpers(checkout: Path) -> str:
    """Return a source with the test helpers that tests of kernels need."""
    text = (checkout / f"{HELPERS}.cc").read_text()
    found = [
        re.search(rf"^[\w* ]+\b{name}\(.*?^}}", text, re.MULTILINE | re.DOTALL) for name in HELPING
    ]
    bodies = "\n".join(match.group() for match in found if match)
    return (
        f'#include <cstring>\n#include "{HELPERS}.h"\n'
        f"namespace tflite {{ namespace testing {{\n{bodies}\n}} }}\n"
    )


def read(output: str) -> Iterator[Case]:
    """Gather the runs of an operator with states in one case; others are one each."""
    lasting: dict[int, Case] = {}
    for line in output.splitlines():
        told = json.loads(line)
        for each in filter(None, told["tensors"]):
            each["type"] = each["type"].lower()
        case = Case(told["test"], told["code"], told, [told["tensors"]])
        if any(each and each["variable"] for each in told["tensors"]):
            if told["runner"] in lasting:
                lasting[told["runner"]].runs.append(told["tensors"])
                continue
            lasting[told["runner"]] = case
        yield case
