# SPDX-License-Identifier: Apache-2.0
"""Samples for a run: read from a file, or drawn from a seed; outputs back to a file."""

import io
import lzma
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import UsageError
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Graph, Tensor
from atoll.utils.files import write_bytes

RANDOM_SEED = 2026

_DAMAGE = (
    ValueError,
    EOFError,
    MemoryError,
    OverflowError,
    RuntimeError,
    TypeError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy raises for files that it did not write, or that were damaged since."""

Sample = Mapping[str, NDArray[np.generic]]
"""One array per graph input, by tensor name, in the tensor's shape and type."""


def random_sample(graph: Graph, seed: int = RANDOM_SEED) -> tuple[Sample, ...]:
    """Draw one sample from the whole range of each input's type."""
    generator = np.random.default_rng(seed)
    sample = {}
    for name in graph.inputs:
        tensor = graph.tensor(name)
        low, high = (0, 1) if tensor.dtype == "bool" else _span(tensor.dtype)
        sample[name] = generator.integers(
            low, high, tensor.shape, dtype=tensor.dtype, endpoint=True
        )
    return (sample,)


def _span(dtype: str) -> tuple[int, int]:
    info = np.iinfo(np.dtype(dtype))
    return info.min, info.max


def load_samples(path: Path, graph: Graph) -> tuple[Sample, ...]:
    """Read one sample or a batch.

    Args:
        path: a .npy array for a network of one input, or a .npz with one array per input name.
            Each array has the tensor's shape, or a batch dimension in place of a leading 1 or
            in front of the shape.
        graph: the network; only its inputs matter.

    Raises:
        UsageError: the file is damaged, or an array has another shape or type.
    """
    return samples_in(load_arrays(path), graph, path)


def samples_in(
    arrays: NDArray[np.generic] | Mapping[str, object], graph: Graph, path: Path
) -> tuple[Sample, ...]:
    """Return the samples in arrays; `path` names them in messages, the rest as `load_samples`."""
    if isinstance(arrays, np.ndarray):
        if len(graph.inputs) != 1:
            raise UsageError(
                "E093",
                f"{path} holds one array, the network has {len(graph.inputs)} inputs",
                remedy=f"save a .npz with the arrays {', '.join(graph.inputs)}",
            )
        arrays = {graph.inputs[0]: arrays}
    batches = batches_of(path, arrays, graph)
    counts = {len(batch) for batch in batches.values()}
    if len(counts) != 1:
        raise UsageError(
            "E093",
            f"the arrays of {path} disagree on the number of samples: {sorted(counts)}",
            remedy="give every input the same number of samples",
        )
    return tuple({name: batch[i] for name, batch in batches.items()} for i in range(counts.pop()))


def batches_of(
    path: Path, arrays: Mapping[str, object], graph: Graph
) -> Mapping[str, NDArray[np.generic]]:
    """Return an array [N, ...] for each input of a network.

    Args:
        path: of the file, for messages.
        arrays: what it holds, by name; uint8 for an input of int8 is less by 128, as edges are.
        graph: the network; only its inputs matter.

    Raises:
        UsageError: E093; an array is missing, or has another shape or type.
    """
    return {
        name: _batch(path, _pick(path, arrays, name), graph.tensor(name)) for name in graph.inputs
    }


def samples_of(
    models: Sequence[Compiled], files: Mapping[str, Path]
) -> tuple[tuple[Sample, ...], ...]:
    """Return the samples of each network: its file's, else as many random ones as others have.

    Args:
        models: the networks.
        files: by the name of a network.

    Raises:
        UsageError: E093; as `load_samples`, or there are not as many samples for each network.
    """
    alone = len(models) == 1
    loaded = {
        model.graph.name: _load(files[model.graph.name], model.graph, alone=alone)
        for model in models
        if model.graph.name in files
    }
    counts = list(map(len, loaded.values())) or [1]
    if len(set(counts)) > 1:
        raise UsageError(
            "E093",
            f"the networks run in turn, and there are {' and '.join(map(str, counts))} samples",
            remedy="give every network the same number of samples",
        )
    return tuple(
        loaded.get(model.graph.name) or random_samples(model.graph, counts[0]) for model in models
    )


def random_samples(graph: Graph, count: int) -> tuple[Sample, ...]:
    """Draw `count` samples, each from a seed of its own."""
    return tuple(
        sample for number in range(count) for sample in random_sample(graph, RANDOM_SEED + number)
    )


def _load(path: Path, graph: Graph, *, alone: bool) -> tuple[Sample, ...]:
    """Read the samples of a network; a fault says of which one, unless it is alone."""
    try:
        return load_samples(path, graph)
    except UsageError as error:
        if alone:
            raise
        raise error.about(f"network '{graph.name}'") from error


def save_outputs(path: Path, outputs: Sequence[Sample]) -> None:
    """Write the outputs of all samples: .npy for one output tensor, .npz for several."""
    stacked = {
        name: np.concatenate([np.atleast_1d(o[name]) for o in outputs]) for name in outputs[0]
    }
    file = io.BytesIO()
    if len(stacked) == 1:
        np.save(file, next(iter(stacked.values())))
    else:
        np.savez(file, **stacked)  # type: ignore[arg-type]
    write_bytes(path, file.getvalue())


def load_arrays(path: Path) -> NDArray[np.generic] | dict[str, object]:
    """Read a .npy, one array, or a .npz, arrays by name.

    Raises:
        UsageError: E093; the file cannot be read or is damaged.
    """
    try:
        with path.open("rb") as file, warnings.catch_warnings(action="ignore"):
            loaded = np.load(file, allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else dict(loaded)
    except OSError as fault:
        reason = fault.strerror or str(fault)
    except _DAMAGE:
        reason = "it is no file of NumPy arrays, or damaged"
    raise UsageError(
        "E093", f"cannot read samples from {path}: {reason}", remedy="save them with numpy.save"
    )


def _pick(path: Path, arrays: Mapping[str, object], name: str) -> NDArray[np.generic]:
    array = arrays.get(name)
    if isinstance(array, np.ndarray):
        return array
    raise UsageError(
        "E093",
        f"{path} has no array '{name}', an input of the network; "
        f"it has {', '.join(arrays) or 'none'}",
        remedy=f"save the samples of that input under the name '{name}'",
    )


def _batch(path: Path, array: NDArray[np.generic], tensor: Tensor) -> NDArray[np.generic]:
    shape, wanted = array.shape, tensor.shape
    if array.dtype == np.uint8 and tensor.dtype == "int8":
        array = (array.astype(np.int16) - 128).astype(np.int8)
    if array.dtype != np.dtype(tensor.dtype):
        problem = f"is {array.dtype}, not {tensor.dtype}"
    elif shape == wanted:
        return array[np.newaxis]
    elif shape[1:] == wanted and shape[0]:
        return array
    elif wanted[:1] == (1,) and shape[1:] == wanted[1:] and shape[0]:
        return array[:, np.newaxis]
    elif shape == wanted[1:] and wanted[:1] == (1,):
        return array[np.newaxis, np.newaxis]
    else:
        problem = f"has shape {list(shape)}"
    raise UsageError(
        "E093",
        f"the array for input '{tensor.name}' in {path} {problem}",
        remedy=f"the network takes {tensor.dtype}{list(wanted)}, or a batch [N, ...] of these",
    )
