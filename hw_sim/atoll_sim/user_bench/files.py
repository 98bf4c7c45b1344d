# SPDX-License-Identifier: Apache-2.0
"""The files that Atoll and the bench inside the simulator share."""

from pathlib import PurePath
from urllib.parse import quote

DATA = "ATOLL_BENCH_DATA"
"""Environment variable with the file that describes chip and networks to a bench."""

DESCRIBED, TENSORS = "bench.json", "tensors.pickle"
REFERENCES = "references"


def reference_file(network: str, sample: int, tensor: str) -> PurePath:
    """Return where the reference of a tensor lies below the folder of a bench."""
    return PurePath(REFERENCES, network, str(sample), f"{quote(tensor, safe='')}.npy")
