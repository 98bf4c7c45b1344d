# SPDX-License-Identifier: Apache-2.0
"""Run Vela on a network, once for each network and chip."""

import re
import struct
import sys
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path

from atoll.diagnostics.errors import ModelError, ToolchainError
from atoll.records import dataclass
from atoll.utils.kept import keep_made, name_of
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_tool
from atoll.vela.memories import NAME, VelaTarget
from atoll.vela.payload import UPDATE

PACKAGE = "ethos-u-vela"
_FOLDER = "vela-2"
_STEM = "network"
_SIZES = "<3Q"
_SAID = 5
"""Lines of Vela's that a message has at most."""

WITHOUT = "leave the NPU out with --no-accelerators (of atoll run: --accelerator none)"


_OF_A_NETWORK = 1
"""The status with which Vela, and Python around it, gives a network up."""

_OF_AN_INSTALLATION = re.compile(
    r"\b(ImportError|ModuleNotFoundError|MemoryError|Incorrect argument to CLI option"
    r"|Invalid configuration of)\b"
)


class VelaRefusalError(ModelError):
    """What Vela makes of a network is of no use; what it makes of parts of it may be."""


@dataclass(frozen=True, slots=True)
class VelaOutput:
    """What Vela wrote: the network with its custom operators, its table of layers, what it said."""

    network: bytes
    layers: str
    said: str


def vela_version() -> str:
    """Return the version of Vela that is installed.

    Raises:
        ToolchainError: E136, none is.
    """
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        raise ToolchainError(
            "E136",
            f"the chip has an Ethos-U, and the package '{PACKAGE}' with Arm's Vela is not"
            " installed",
            remedy=f"install it with: pip install 'atoll[ethos-u]', or {WITHOUT}",
        ) from None


def optimise(data: bytes, target: VelaTarget, strategy: str) -> VelaOutput:
    """Return what Vela makes of a TFLite file, from the cache if it made it before.

    Args:
        data: the file.
        target: what to compile for.
        strategy: what Vela optimises, ``Performance`` or ``Size``.

    Raises:
        ToolchainError: E136, E100.
        VelaRefusalError: E143, Vela refuses the file.
        ModelError: E143, Vela does not run.
    """
    release, options = vela_version(), options_of(target, strategy)
    name = f"{_FOLDER}/{name_of(release, *options, target.config, data)}"
    whole = keep_made(name, lambda: _run(data, target, options))
    sizes = struct.unpack_from(_SIZES, whole)
    begins = accumulate(sizes, initial=struct.calcsize(_SIZES))
    file, layers, said = (whole[at : at + size] for at, size in zip(begins, sizes, strict=False))
    return VelaOutput(file, layers.decode(), said.decode(errors="replace"))


def options_of(target: VelaTarget, strategy: str) -> tuple[str, ...]:
    """Return the options that Vela is run with."""
    return (
        *("--accelerator-config", target.accelerator),
        *("--system-config", NAME, "--memory-mode", NAME),
        *("--optimise", strategy),
        *("--cop-format", "COP2", "--separate-io-regions"),
        *("--verbose-performance", "--verbose-allocation"),
    )


def _run(data: bytes, target: VelaTarget, options: tuple[str, ...]) -> bytes:
    with temporary_folder() as folder:
        config, network = folder / "vela.ini", folder / f"{_STEM}.tflite"
        config.write_text(target.config)
        network.write_bytes(data)
        command = (sys.executable, "-m", "ethosu.vela", *options)
        done = run_tool(
            (*command, "--config", str(config), "--output-dir", str(folder), str(network)),
            folder=folder,
        )
        made = folder / f"{_STEM}_vela.tflite"
        if done.returncode or not made.is_file():
            text = f"{done.stdout}\n{done.stderr}"
            who, said = f"Vela {vela_version()}", _last_words(text, folder)
            if done.returncode != _OF_A_NETWORK or _OF_AN_INSTALLATION.search(text):
                message = f"{who} does not run as Atoll calls it: {said}"
                raise ModelError("E143", message, remedy=f"{UPDATE}, or {WITHOUT}")
            message = f"{who} does not compile it for {target.accelerator}: {said}"
            raise VelaRefusalError("E143", message, remedy=WITHOUT)
        file = made.read_bytes()
        table = folder / f"{_STEM}_per-layer.csv"
        layers = table.read_bytes() if table.is_file() else b""
    parts = (file, layers, done.stdout.encode(errors="replace"))
    return struct.pack(_SIZES, *map(len, parts)) + b"".join(parts)


def _last_words(text: str, folder: Path) -> str:
    """Return the end of what Vela said in a line, without the usage before an error."""
    lines = [line for line in text.replace(f"{folder}/", "").splitlines() if line.strip()]
    first = next((n for n, line in enumerate(lines) if "rror" in line), 0)
    return "; ".join(line.strip() for line in lines[first:][-_SAID:]) or "it says nothing"
