# SPDX-License-Identifier: Apache-2.0
"""What the installed QEMU says of a machine: whether there is one, its core, and its memories."""

import json
import re
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import IO, Any

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.utils.children import UNREAD, start
from atoll.utils.kept import keep_made, name_of
from atoll_sim.qemu.machines import core_options
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
_DOUBLES, _VECTORS = ("cortex-m7", "cortex-m55"), ("cortex-m55",)
"""Cores with floats of 64 bits, and with vectors; machines leave other units out, and say so."""

_WITH_FLOATS = (0x00006537, 0x30052073)  # lui a0, 6; csrs mstatus, a0
_WITH_VECTORS = (0x20000513, 0x30052073)  # li a0, 0x200; csrs mstatus, a0
_TURNS_ON = {
    **dict.fromkeys("fd", _WITH_FLOATS),
    **dict.fromkeys(("v", "zve32x"), _WITH_VECTORS),
}
_TRIALS = {
    "i": 0x00080813,  # addi x16, x16, 0
    "zicsr": 0x34002573,  # csrr a0, mscratch
    "m": 0x02A50533,  # mul a0, a0, a0
    "a": 0x18B5252F,  # sc.w a0, a1, (a0)
    "f": 0x00A57553,  # fadd.s fa0, fa0, fa0
    "d": 0x02A57553,  # fadd.d fa0, fa0, fa0
    "c": 0x4501,  # c.li a0, 0
    "zba": 0x20A52533,  # sh1add a0, a0, a0
    "zbb": 0x40A57533,  # andn a0, a0, a0
    "zbs": 0x28A51533,  # bset a0, a0, a0
    "v": 0x0D857557,  # vsetvli a0, a0, e64, m1, ta, ma
    "zve32x": 0x0D057557,  # vsetvli a0, a0, e32, m1, ta, ma
}
"""An instruction of each extension, which a core either executes or takes for no instruction."""

_VIEWS = ("cpu-secure-memory-0", "cpu-memory-0")
_SEGMENT = re.compile(
    r"^ +([0-9a-f]{16})-([0-9a-f]{16}) \(prio [^)]*\): (.+?)(?: @([0-9a-f]{16}))?(?: \w+)?$"
)


def alone(program: str) -> Sequence[str]:
    """Return options with which a machine starts without firmware and with one core."""
    if program == "qemu-system-arm":
        return ()
    single = ("-smp", "1", "-audiodev", "none,id=quiet") if program in _MANY else ()
    return (*single, "-bios", "none")


def faults_of(soc: ResolvedSoc, program: str) -> Iterator[Fault]:
    """Yield E103 for each way in which the chip is not its machine; the program is installed."""
    name, host = soc.qemu_machine, soc.host_cpu
    needed = tuple(_needed_addresses(soc))
    begin = as_seen_by(soc, soc.host).host_cpu.code_regions[0].origin
    spans = tuple(_spans(soc))
    question = _Question(
        words=(begin, *(address for address, _, _ in needed)),
        spans=tuple((where.start, where.stop) for where, _, _ in spans),
        extensions=_extensions(host),
        bits=host.instructions.bits,
        core=tuple(core_options(host)),
    )
    found = _answers(program, name, question)
    if not found["core"]:
        names = found["names"]
        message = f"QEMU's machine '{name}' does not start"
        remedy = f"try '{' '.join((program, '-machine', name, *alone(program), '-S'))}'"
        if name not in names:
            message = f"'{program}' has no machine '{name}'"
            remedy = f"correct 'qemu.machine'; '{program} -machine help' lists them"
        yield Fault(code="E103", message=message, at=host.at, remedy=remedy)
        return
    core = found["core"].removesuffix("-arm-cpu").removesuffix("-riscv-cpu")
    if not _runs(core, host, wide=found["wide"]):
        message = f"QEMU's machine '{name}' has a {core}, which does not run '{host.isa}'"
        remedy = "correct 'qemu.machine', or the core"
        yield Fault(code="E103", message=f"{message} of '{host.name}'", at=host.at, remedy=remedy)
    elif lacks := [*found["lacks"], *_lacking(core, host.isa, found["units"])]:
        message = f"QEMU's machine '{name}' has a {core} without {', '.join(lacks)}"
        remedy = "name another machine, or take from 'isa' what its core lacks"
        message = f"{message}, which '{host.isa}' of '{host.name}' has"
        yield Fault(code="E103", message=message, at=host.at, remedy=remedy)
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
    if not found["listed"]:
        message = f"QEMU does not list the memories of machine '{name}'"
        message += f"; whether two of chip '{soc.name}' are one there is not known"
        remedy = "install QEMU 7.2, or use --cpu iss"
        yield Fault(code="E103", message=message, at=host.at, remedy=remedy)
    for one, other, address, same in found["same"]:
        message = f"QEMU's machine '{name}' has the same bytes at {address:#010x}, where "
        message += f"{spans[one][1]}, and at {same:#010x}, where {spans[other][1]}"
        remedy = "move one of them to where the machine has other RAM, or name another machine"
        yield Fault(code="E103", message=message, at=spans[other][2], remedy=remedy)


def _extensions(host: Cpu) -> tuple[str, ...]:
    """Return the extensions of RISC-V that the host's firmware uses."""
    if host.instructions.family is not Family.RISCV:
        return ()
    features = (each[1:] for each in host.instructions.llvm.features.split(","))
    named = [each for each in features if not each.startswith("zvl")]
    return (*({"i", "zicsr", *named} - {"e", *(("i",) * ("e" in named))}),)


def _lacking(core: str, isa: str, units: Mapping[str, bool]) -> Iterator[str]:
    """Yield what a core of Arm's lacks of the host's instruction set."""
    base, *wanted = isa.split("+")
    if core not in _RUNS:
        return
    if (base == "armv7e-m" or "dsp" in wanted) and not units["dsp"]:
        yield "dsp"
    for unit in wanted:
        floats = unit != "mve" and not units["vfp"]
        doubles = unit == "fp.dp" and core not in _DOUBLES
        vectors = unit.startswith("mve") and core not in _VECTORS
        if unit != "dsp" and (floats or doubles or vectors):
            yield unit


def _runs(core: str, host: Cpu, *, wide: bool) -> bool:
    """Tell whether a core of QEMU's, which may have a 64-bit state, runs the host's firmware."""
    if core in _RUNS:
        return host.isa.partition("+")[0] in _RUNS[core]
    family = host.instructions.family
    return family is not Family.THUMB and (family is not Family.AARCH64 or wide)


def _needed_addresses(soc: ResolvedSoc) -> Iterator[tuple[int, str, SourceLoc | None]]:
    """Yield addresses at which the machine has memory, and what the chip has there."""
    *memories, console = _spans(soc)
    for where, what, at in memories:
        for address in (where.start, where.stop - WORD):
            yield address, what, at
    yield console[0].start, *console[1:]


def _spans(soc: ResolvedSoc) -> Iterator[tuple[range, str, SourceLoc | None]]:
    """Yield bytes of which the machine has memory, and what the chip has there."""
    seen = as_seen_by(soc, soc.host)
    for memory in seen.memories:
        if memory.kind == "ram":
            what = f"the chip has memory '{memory.name}'"
            yield memory.low or range(memory.origin, memory.end), what, memory.at
    for region in (*seen.host_cpu.code_regions, *(pool.region for pool in seen.pools)):
        if (memory := seen.memory(region.memory)).kind == "rom":
            what = f"the firmware has bytes of '{region.name}'"
            yield range(region.origin, region.end), what, memory.at
    yield range(seen.console.origin, seen.console.end), "the chip has the console", None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What is asked about a machine.

    Attributes:
        words: addresses at which it may have memory, that of the firmware's first byte first.
        spans: begin and end of what are different bytes of the chip.
        extensions: of RISC-V, which its core may have.
        bits: of a register.
        core: options that choose the machine's core.
    """

    words: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    extensions: tuple[str, ...] = ()
    bits: int = 32
    core: tuple[str, ...] = ()


def _answers(program: str, name: str, question: _Question) -> dict[str, Any]:
    """Return what QEMU says of a machine; the same program is not asked the same again."""
    path = Path(shutil.which(program) or program).resolve()
    facts = f"{path} {path.stat().st_mtime_ns} {path.stat().st_size} {name} {question}"

    def ask_machine() -> bytes:
        found = _talk(program, name, question)
        if not found["core"]:
            found["names"] = _talk(program, "none", _Question())["names"]
        return json.dumps(found).encode()

    key = name_of(facts, Path(__file__).read_bytes())
    answers: dict[str, Any] = json.loads(keep_made(f"qemu/{key}", ask_machine))
    return answers


def _talk(program: str, name: str, question: _Question) -> dict[str, Any]:
    """Start a machine, stopped, and ask its monitor, and for words of memory as GDB does.

    A Cortex-M begins at the first of the words if its vector table is there.
    """
    (ours, theirs), (gdb, its) = socket.socketpair(), socket.socketpair()
    files = [theirs.fileno(), its.fileno()]
    command = [
        *(program, "-machine", name, *question.core, *alone(program)),
        *("-nodefaults", "-display", "none"),
        *("-serial", "none", "-S", "-chardev", f"socket,id=asked,fd={files[0]}"),
        *("-mon", "chardev=asked,mode=control"),
        *("-chardev", f"socket,id=bench,fd={files[1]}"),
        *(("-gdb", "chardev:bench") if name != "none" else ()),
    ]
    found: dict[str, Any] = {"core": "", "wide": False, "names": [], "there": [], "begins": True}
    found |= {"lacks": [], "units": {}, "listed": False, "same": []}
    words = question.words
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
                for unit in ("vfp", "dsp"):
                    there = {"path": path, "property": unit}
                    found["units"][unit] = unit in has and _ask(monitor, "qom-get", there)
                memories = {"command-line": "info mtree -f"}
                segments = _segments(_ask(monitor, "human-monitor-command", memories))
                found["listed"] = bool(segments)
                found["same"] = [*_same(remote, question.spans, segments)]
                for key in [each for each in ("init-svtor", "init-nsvtor") if each in has][:1]:
                    table = _ask(monitor, "qom-get", {"path": path, "property": key})
                    found["table"], found["begins"] = table, _is_same(remote, words[0], table)
                if found["there"][0]:
                    found["lacks"] = [*_missing_extensions(remote, question)]
                found["core"] = core
    return found


def _segments(listing: str) -> list[tuple[range, str, int]]:
    """Return what the core sees: addresses, the memory there, and its byte at the first of them."""
    views = listing.replace("\r", "").split("FlatView #")[1:]
    for name in _VIEWS:
        for view in (each for each in views if f'AS "{name}"' in each):
            parts = map(_SEGMENT.match, view.splitlines())
            return [
                (range(int(one[1], 16), int(one[2], 16) + 1), one[3], int(one[4] or "0", 16))
                for one in parts
                if one
            ]
    return []


def _same(
    remote: Remote, spans: Sequence[tuple[int, int]], segments: Sequence[tuple[range, str, int]]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (span, other span, address, address) where two addresses have one word of memory.

    The spans may be one, with a part of the memory that is there twice. Several memories may have
    one name, so the memory is asked.
    """
    parts = [
        (number, name, first + begin - where.start, begin, end - begin)
        for number, span in enumerate(spans)
        for where, name, first in segments
        for begin, end in [(max(span[0], where.start), min(span[1], where.stop))]
        if begin < end
    ]
    found: set[tuple[int, int]] = set()
    for (one, name, byte, at, size), (two, other, byte_two, at_two, size_two) in combinations(
        parts, 2
    ):
        begin, end = max(byte, byte_two), min(byte + size, byte_two + size_two)
        if name != other or end - begin < WORD or (one, two) in found:
            continue
        here, there = at + begin - byte, at_two + begin - byte_two
        if _is_same(remote, here, there):
            found.add((one, two))
            yield one, two, here, there


def _missing_extensions(remote: Remote, question: _Question) -> Iterator[str]:
    """Yield the extensions of RISC-V whose instructions the core does not execute."""
    at, size = question.words[0], question.bits // 8
    for name in sorted(question.extensions, key=[*_TRIALS].index):
        for word in _TURNS_ON.get(name, ()):
            remote.steps_over(at, word.to_bytes(4, "little"), size)
        word = _TRIALS[name]
        if not remote.steps_over(at, word.to_bytes(4 if word & 3 == 3 else 2, "little"), size):
            yield name


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
