# SPDX-License-Identifier: Apache-2.0
"""Train small networks and export them: ``python -m benchmarks.trained OUT [NETWORK ...]``.

It needs what `benchmarks.trained.PACKAGES` names, best in an environment of its own, and takes
some minutes on two processor cores. Each network has a process of its own, since TensorFlow and
PyTorch do not share one, and a log. Beside every file are its test samples: real numbers `x` and
their classes `labels`.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.trained import NETWORKS, OF_KERAS_2, PACKAGES

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
"""oneDNN may reorder sums between runs."""


def main() -> int:
    """Train, and write all files of each network; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for the files")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--here", action="store_true", help="in this process")
    arguments = parser.parse_args()
    if missing := [each for each in PACKAGES if find_spec(each) is None]:
        raise SystemExit(f"training needs these packages too: {' '.join(missing)}")
    names, folder = arguments.networks or [*NETWORKS], arguments.out
    if unknown := {*names} - {*NETWORKS}:
        raise SystemExit(f"no such network: {' '.join(sorted(unknown))}")
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.here:
        for name in names:
            import_module(f"benchmarks.trained.{NETWORKS[name]}").write(name, folder)
        return 0
    return sum(not _succeeds(name, folder) for name in names)


def _succeeds(name: str, folder: Path) -> bool:
    begin, log = time.perf_counter(), folder / f"{name}.log"
    command = (sys.executable, "-m", "benchmarks.trained", str(folder), name, "--here")
    environment = os.environ | QUIET | {"TF_USE_LEGACY_KERAS": str(int(name in OF_KERAS_2))}
    with log.open("wb") as told:
        status = subprocess.run(
            command, stdout=told, stderr=subprocess.STDOUT, env=environment, check=False
        ).returncode
    took = f"{name}: {time.perf_counter() - begin:.0f} s"
    print(took if status == 0 else f"{took}, failed, see {log}", flush=True)
    return status == 0


if __name__ == "__main__":
    sys.exit(main())
