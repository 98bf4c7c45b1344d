# SPDX-License-Identifier: Apache-2.0
"""What the installed QEMU says of a machine: whether there is one, its core, and its memories."""

import json
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.instruction_set import Family
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.utils.children import UNREAD, start
from atoll.utils.kept import keep_made, name_of
from atoll_sim.qemu.remote import Gone, Remote

SECONDS = 60.0
WORD = 4
_MANY = ("qemu-system-aarch64",)
"""Programs whose machines have several cores and sound."""
_M3 = frozenset({"armv6-m", "armv7-m"})
_M33 = _M3 | {"armv7e-m", "armv8-m.base", "armv8-m.main"}
_RUNS = {
    "cortex-m0": frozenset({"armv6-m"}),
    "cortex-m3": _M3,
    "cortex-m4": _M3 | {"armv7e-m"},
    "cortex-m7": _M3 | {"armv7e-m"},
    "cortex-m33": _M33,
    "cortex-m55": _M33 | {"armv8.1-m.main"},
}
"""Architectures whose firmware runs on a core of QEMU's."""


def alone(program: str) -> Sequence[str]:
    """Return options with which a machine starts without firmware and with one core."""
    if program == "qemu-system-arm":
        return ()
    single = ("-smp", "1", "-audiodev", "none,id=quiet") if program in _MANY else ()
    return (*single, "-bios", "none")


def faults_of(soc: ResolvedSoc, program: str) -> Iterator[Fault]:
    """Yield E103 for each way in which the chip is not its machine; the program is installed."""
    name, host = soc.qemu_machine, soc.host_cpu
    needed = tuple(_needed(soc))
    begin = as_seen_by(soc, soc.host).host_cpu.code_regions[0].origin
    found = _answers(program, name, [begin, *(address for address, _, _ in needed)])
    if not found["core"]:
        names = found["names"]
        message = f"QEMU's machine '{name}' does not start"
        remedy = f"try '{' '.join((program, '-machine', name, *alone(program), '-S'))}'"
        if name not in names:
            message = f"'{program}' has no machine '{name}'"
            remedy = f"correct 'qemu.machine'; '{program} -machine help' lists them"
        yield Fault(code="E103", message=message, at=host.at, remedy=remedy)
        return
    core = found["core"].removesuffix("-arm-cpu")
    if not _runs(core, host, wide=found["wide"]):
        message = f"QEMU's machine '{name}' has a {core}, which does not run '{host.isa}'"
        remedy = "correct 'qemu.machine', or the core"
        yield Fault(code="E103", message=f"{message} of '{host.name}'", at=host.at, remedy=remedy)
    elif found["there"][0] and not found["begins"]:
        message = f"QEMU's machine '{name}' has its vector table at {found['table']:#010x}"
        remedy = "move the code to where the machine begins, or name another machine"
        message = f"{message}, and '{host.name}' at {begin:#010x}"
        yield Fault(code="E103", message=message, at=host.at, remedy=remedy)
    absent: set[str] = set()
    for (address, what, at), there in zip(needed, found["there"][1:], strict=True):
        if not there and what not in absent:
            absent.add(what)
            message = f"QEMU's machine '{name}' has no memory at {address:#010x}, where {what}"
            remedy = "move it to where the machine has RAM, or name another machine"
            yield Fault(code="E103", message=message, at=at, remedy=remedy)


def _runs(core: str, host: Cpu, *, wide: bool) -> bool:
    """Tell whether a core of QEMU's, which may have a 64-bit state, runs the host's firmware."""
    if core in _RUNS:
        return host.isa.partition("+")[0] in _RUNS[core]
    family = host.instructions.family
    return family is not Family.THUMB and (family is not Family.AARCH64 or wide)


def _needed(soc: ResolvedSoc) -> Iterator[tuple[int, str, SourceLoc | None]]:
    """Yield addresses at which the machine has memory, and what the chip has there."""
    seen = as_seen_by(soc, soc.host)
    for memory in seen.memories:
        if memory.kind == "ram":
            for address in (memory.origin, memory.end - WORD):
                yield address, f"the chip has memory '{memory.name}'", memory.at
    for region in (*seen.host_cpu.code_regions, *(pool.region for pool in seen.pools)):
        if (memory := seen.memory(region.memory)).kind == "rom":
            for address in (region.origin, region.end - WORD):
                yield address, f"the firmware has bytes of '{region.name}'", memory.at
    yield seen.console.origin, "the chip has the console", None


def _answers(program: str, name: str, words: Sequence[int]) -> dict[str, Any]:
    """Return what QEMU says of a machine; the same program is not asked the same again."""
    path = Path(shutil.which(program) or program).resolve()
    facts = f"{path} {path.stat().st_mtime_ns} {path.stat().st_size} {name} {words}"

    def asked() -> bytes:
        found = _talk(program, name, words)
        if not found["core"]:
            found["names"] = _talk(program, "none", ())["names"]
        return json.dumps(found).encode()

    key = name_of(facts, Path(__file__).read_bytes())
    answers: dict[str, Any] = json.loads(keep_made(f"qemu/{key}", asked))
    return answers


def _talk(program: str, name: str, words: Sequence[int]) -> dict[str, Any]:
    """Start a machine, stopped, and ask its monitor, and for words of memory as GDB does.

    A Cortex-M begins at the first of the words if its vector table is there.
    """
    (ours, theirs), (gdb, its) = socket.socketpair(), socket.socketpair()
    files = [theirs.fileno(), its.fileno()]
    command = [
        *(program, "-machine", name, *alone(program), "-nodefaults", "-display", "none"),
        *("-serial", "none", "-S", "-chardev", f"socket,id=asked,fd={files[0]}"),
        *("-mon", "chardev=asked,mode=control"),
        *("-chardev", f"socket,id=bench,fd={files[1]}"),
        *(("-gdb", "chardev:bench") if name != "none" else ()),
    ]
    found: dict[str, Any] = {"core": "", "wide": False, "names": [], "there": [], "begins": True}
    with ours, gdb, start(command, seconds=SECONDS, files=files, stdout=UNREAD, stderr=UNREAD):
        theirs.close()
        its.close()
        with ours.makefile("rw") as monitor, suppress(OSError, ValueError, Gone):
            json.loads(monitor.readline())
            _ask(monitor, "qmp_capabilities")
            known = _ask(monitor, "query-machines")
            names = {each[key] for each in known for key in ("name", "alias") if key in each}
            found["names"] = sorted(names - {"none"})
            if name != "none":
                path = _ask(monitor, "query-cpus-fast")[0]["qom-path"]
                core = _ask(monitor, "qom-get", {"path": path, "property": "type"})
                has = [each["name"] for each in _ask(monitor, "qom-list", {"path": path})]
                found["wide"] = "aarch64" in has
                remote = Remote(gdb)
                found["there"] = [_has(remote, word) for word in words]
                for key in [each for each in ("init-svtor", "init-nsvtor") if each in has][:1]:
                    table = _ask(monitor, "qom-get", {"path": path, "property": key})
                    found["table"], found["begins"] = table, _is_same(remote, words[0], table)
                found["core"] = core
    return found


def _has(remote: Remote, address: int) -> bool:
    """Tell whether there is memory: it keeps what is written, so does ROM; nothing reads as 0."""
    if (before := remote.read(address, WORD)) is None:
        return False
    other = bytes(byte ^ 0xFF for byte in before)
    return remote.write(address, other) and remote.read(address, WORD) == other


def _is_same(remote: Remote, address: int, other: int) -> bool:
    """Tell whether a word that there is can be read at another address too."""
    for data in (b"\x5a\xc3\x96\x0f", b"\xa5\x3c\x69\xf0"):
        if not remote.write(address, data) or remote.read(other, WORD) != data:
            return False
    return True


def _ask(monitor: IO[str], command: str, arguments: Mapping[str, str] | None = None) -> Any:
    """Return the answer to a command; events come between."""
    question = {"execute": command, **({"arguments": arguments} if arguments else {})}
    monitor.write(json.dumps(question) + "\n")
    monitor.flush()
    while "return" not in (answer := json.loads(monitor.readline())):
        if "error" in answer:
            raise ValueError(answer["error"])
    return answer["return"]
