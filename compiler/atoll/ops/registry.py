# SPDX-License-Identifier: Apache-2.0
"""The kinds of operators by name: Atoll's own, and those of other packages."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from atoll.description.operators import OPERATOR_GROUP
from atoll.ir.graph import Operator
from atoll.ops.judged import Judged
from atoll.ops.kind import OperatorKind
from atoll.plugins.loading import load
from atoll.plugins.registry import Registry

COPY = "copy"
"""The kind that placement makes where a device does not reach a tensor."""

RELAYOUT = "relayout"
"""The kind that placement makes where an accelerator wants a tensor in another layout."""

ETHOS_U = "ethos_u"
"""The kind of what Vela has made of a network."""

ROWS, JOIN = "rows", "join_rows"
"""The kinds that tiling makes: some rows of a tensor, and rows put one below the other."""

OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "abs": "atoll.ops.elements.rescaling:ABS",
        "add": "atoll.ops.elements.addition:ADD",
        "add_n": "atoll.ops.elements.add_n:ADD_N",
        "arg_max": "atoll.ops.reductions.extremes:ARG_MAX",
        "arg_min": "atoll.ops.reductions.extremes:ARG_MIN",
        "assign_variable": "atoll.ops.recurrent.variables:ASSIGN_VARIABLE",
        "average_pool_2d": "atoll.ops.windows.pooling:AVERAGE_POOL_2D",
        "batch_matmul": "atoll.ops.windows.batch_matmul:BATCH_MATMUL",
        "batch_to_space_nd": "atoll.ops.moves.space_to_depth:BATCH_TO_SPACE_ND",
        "broadcast_args": "atoll.ops.moves.shapes:BROADCAST_ARGS",
        "broadcast_to": "atoll.ops.moves.picked:BROADCAST_TO",
        "cast": "atoll.ops.elements.choices:CAST",
        "concatenation": "atoll.ops.moves.concatenation:CONCATENATION",
        "conv_2d": "atoll.ops.windows.conv_2d:CONV_2D",
        COPY: "atoll.ops.moves.movement:COPY",
        "cumsum": "atoll.ops.reductions.cumsum:CUMSUM",
        "depth_to_space": "atoll.ops.moves.space_to_depth:DEPTH_TO_SPACE",
        "depthwise_conv_2d": "atoll.ops.windows.depthwise_conv_2d:DEPTHWISE_CONV_2D",
        "div": "atoll.ops.elements.division:DIV",
        "dynamic_update_slice": "atoll.ops.moves.updating:DYNAMIC_UPDATE_SLICE",
        "elu": "atoll.ops.elements.curves:ELU",
        "embedding_lookup": "atoll.ops.moves.gather:EMBEDDING_LOOKUP",
        "equal": "atoll.ops.elements.choices:EQUAL",
        ETHOS_U: "atoll.ops.ethos_u:ETHOS_U",
        "exp": "atoll.ops.elements.real_curves:EXP",
        "expand_dims": "atoll.ops.moves.movement:EXPAND_DIMS",
        "fully_connected": "atoll.ops.windows.fully_connected:FULLY_CONNECTED",
        "fill": "atoll.ops.moves.shapes:FILL",
        "gather": "atoll.ops.moves.gather:GATHER",
        "gather_nd": "atoll.ops.moves.gather:GATHER_ND",
        "gelu": "atoll.ops.elements.real_curves:GELU",
        "greater": "atoll.ops.elements.choices:GREATER",
        "greater_equal": "atoll.ops.elements.choices:GREATER_EQUAL",
        "hard_swish": "atoll.ops.elements.curves:HARD_SWISH",
        JOIN: "atoll.ops.moves.rows:JOIN",
        "l2_normalization": "atoll.ops.reductions.l2_normalization:L2_NORMALIZATION",
        "layer_normalization": ("atoll.ops.reductions.layer_normalization:LAYER_NORMALIZATION"),
        "leaky_relu": "atoll.ops.elements.rescaling:LEAKY_RELU",
        "less": "atoll.ops.elements.choices:LESS",
        "less_equal": "atoll.ops.elements.choices:LESS_EQUAL",
        "log": "atoll.ops.elements.real_curves:LOG",
        "log_softmax": "atoll.ops.reductions.log_softmax:LOG_SOFTMAX",
        "logical_and": "atoll.ops.elements.choices:LOGICAL_AND",
        "logical_not": "atoll.ops.elements.choices:LOGICAL_NOT",
        "logical_or": "atoll.ops.elements.choices:LOGICAL_OR",
        "logistic": "atoll.ops.elements.curves:LOGISTIC",
        "lookup": "atoll.ops.elements.lookup:LOOKUP",
        "max_pool_2d": "atoll.ops.windows.pooling:MAX_POOL_2D",
        "maximum": "atoll.ops.elements.choices:MAXIMUM",
        "mean": "atoll.ops.reductions.sums:MEAN",
        "minimum": "atoll.ops.elements.choices:MINIMUM",
        "mirror_pad": "atoll.ops.moves.pad:MIRROR_PAD",
        "mul": "atoll.ops.elements.products:MUL",
        "not_equal": "atoll.ops.elements.choices:NOT_EQUAL",
        "pack": "atoll.ops.moves.splitting:PACK",
        "pad": "atoll.ops.moves.pad:PAD",
        "padv2": "atoll.ops.moves.pad:PADV2",
        "prelu": "atoll.ops.elements.products:PRELU",
        "quantize": "atoll.ops.elements.rescaling:QUANTIZE",
        "reduce_all": "atoll.ops.reductions.extremes:REDUCE_ALL",
        "reduce_max": "atoll.ops.reductions.extremes:REDUCE_MAX",
        "reduce_min": "atoll.ops.reductions.extremes:REDUCE_MIN",
        RELAYOUT: "atoll.ops.moves.relayout:RELAYOUT",
        "relu": "atoll.ops.elements.rescaling:RELU",
        "relu6": "atoll.ops.elements.rescaling:RELU6",
        "reshape": "atoll.ops.moves.movement:RESHAPE",
        "resize_bilinear": "atoll.ops.windows.resize_bilinear:RESIZE_BILINEAR",
        "resize_nearest_neighbor": "atoll.ops.moves.picked:RESIZE_NEAREST_NEIGHBOR",
        "reverse_v2": "atoll.ops.moves.picked:REVERSE_V2",
        ROWS: "atoll.ops.moves.rows:ROWS",
        "rsqrt": "atoll.ops.elements.curves:RSQRT",
        "select_v2": "atoll.ops.elements.choices:SELECT_V2",
        "shape": "atoll.ops.moves.shapes:SHAPE",
        "slice": "atoll.ops.moves.slicing:SLICE",
        "softmax": "atoll.ops.reductions.wide_softmax:SOFTMAX",
        "split": "atoll.ops.moves.splitting:SPLIT",
        "split_v": "atoll.ops.moves.splitting:SPLIT_V",
        "space_to_batch_nd": "atoll.ops.moves.space_to_depth:SPACE_TO_BATCH_ND",
        "space_to_depth": "atoll.ops.moves.space_to_depth:SPACE_TO_DEPTH",
        "squared_difference": "atoll.ops.elements.products:SQUARED_DIFFERENCE",
        "squeeze": "atoll.ops.moves.movement:SQUEEZE",
        "strided_slice": "atoll.ops.moves.slicing:STRIDED_SLICE",
        "sub": "atoll.ops.elements.addition:SUB",
        "sum": "atoll.ops.reductions.sums:SUM",
        "svdf": "atoll.ops.recurrent.svdf:SVDF",
        "tanh": "atoll.ops.elements.curves:TANH",
        "tile": "atoll.ops.moves.picked:TILE",
        "transpose": "atoll.ops.moves.transpose:TRANSPOSE",
        "transpose_conv": "atoll.ops.windows.transpose_conv:TRANSPOSE_CONV",
        "unidirectional_sequence_lstm": "atoll.ops.recurrent.lstm:UNIDIRECTIONAL_SEQUENCE_LSTM",
        "unpack": "atoll.ops.moves.splitting:UNPACK",
        "zeros_like": "atoll.ops.moves.shapes:ZEROS_LIKE",
    }
)

_FUSED = "atoll.ops.fused:FUSED"

KINDS: Registry[OperatorKind] = Registry(
    group=OPERATOR_GROUP, noun="operator", own=OPERATORS, interface=OperatorKind
)


def kind_of(op: Operator) -> OperatorKind:
    """Look the kind of `op` up; other packages' answers are judged.

    An operator with a body, whose kind is none of these, is one of several by a pattern.

    Raises:
        AtollError: as `Registry.get`.
    """
    if op.body is not None and op.kind not in OPERATORS:
        return cast("OperatorKind", load(_FUSED))
    kind = KINDS.get(op.kind)
    return kind if op.kind in OPERATORS else cast("OperatorKind", Judged(kind))
