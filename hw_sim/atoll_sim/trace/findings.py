# SPDX-License-Identifier: Apache-2.0
"""Say in the user's terms what the shadow memory found."""

from collections.abc import Iterator, Mapping

from atoll.contract.contract import Contract
from atoll.description.accelerator_files import OWN
from atoll.records import dataclass
from atoll.report.result import Violation
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.ports import watched_channels
from atoll_sim.protocol.records import KINDS, AccessKind
from atoll_sim.shadow.packer import Covered
from atoll_sim.shadow.records import FINDING
from atoll_sim.shadow.rules import FOREIGN, PLAN, RTL, RULES, RuleText
from atoll_sim.shadow.table import ShadowTable
from atoll_sim.trace.simulation import Finding, SimResult

BETWEEN = "none"
"""What reports call the operator of an access between two operators."""

REFUSED = "; the firewall kept it back"


def name_findings(records: bytes, table: ShadowTable, soc: ResolvedSoc) -> tuple[Finding, ...]:
    """Put the shadow memory's records into the terms of the chip.

    Args:
        records: of `Shadow.findings`.
        table: what the shadow memory had loaded.
        soc: the chip.
    """
    namer = _Namer(table, soc)
    return tuple(map(namer.finding, FINDING.unpack(records)))


def violations(result: SimResult) -> tuple[Violation, ...]:
    """Return every fault that a run was found to have, in the order of its first access."""
    return tuple(finding.violation for finding in result.findings)


def unreachable_ports(soc: ResolvedSoc, contract: Contract) -> Iterator[Violation]:
    """Yield the inputs that the host cannot fill, and the outputs that it cannot take.

    The test bench does both for the caller, through no bus, so no access would tell.
    """
    rule = next(rule for rule in RULES if rule.name == "device without reach")
    ports = [(AccessKind.WRITE, span) for span in contract.inputs]
    ports += [(AccessKind.READ, span) for span in contract.outputs]
    for kind, span in ports:
        reach = soc.pool(span.pool).reach[soc.host]
        if reach is Access.WRITE or (reach is Access.READ and kind is AccessKind.READ):
            continue
        words = {"device": soc.host, "kind": str(kind), "buffer": span.buffer, "pool": span.pool}
        key = rule.key.format(**words)
        yield Violation(
            rule=rule.name,
            number=rule.number,
            device=soc.host,
            operator=BETWEEN,
            buffer=span.buffer,
            offset=0,
            pool=span.pool,
            address=span.address,
            size=span.size,
            detail=rule.detail.format(**words),
            key=key,
            at=soc.layers.get(key, ""),
            remedy=rule.remedy.format(**words),
            cycle=None,
            count=1,
        )


def count_accesses(result: SimResult) -> int:
    """Return how many bus accesses were held against the plan."""
    return sum(touch.accesses for phase in result.phases for touch in phase.touched)


@dataclass(frozen=True, slots=True)
class _Namer:
    """Looks numbers up."""

    table: ShadowTable
    soc: ResolvedSoc

    def finding(self, record: Mapping[str, int]) -> Finding:
        """Name one record."""
        table = self.table
        rule = RULES[record["rule"]]
        if rule.key == RTL:
            return self.at_ports(rule, record)
        address, run = record["address"], record["run"]
        operator = record["op"]
        model, name = table.operators[operator - 1] if operator else (None, BETWEEN)
        covered = self._cover(record["buffer"], address)
        words = {
            "device": table.masters[record["master"]],
            "kind": KINDS[record["kind"]],
            "buffer": covered.name or covered.place,
            "other": self._cover(record["other"], address).name,
            "pool": covered.place,
        }
        words["instead"] = f"; it meant to write '{words['other']}'" if words["other"] else ""
        writer = record["writer"]
        words["writer"] = f", which {table.masters[writer - 1]} wrote" if writer else ""
        key, at, remedy = find_cause(self.soc, rule, words)
        return Finding(
            model=model if operator else ((run - 1) % table.models if run else None),
            violation=Violation(
                rule=rule.name,
                number=rule.number,
                device=words["device"],
                operator=name,
                buffer=covered.name,
                offset=address - covered.address,
                pool=covered.place,
                address=address,
                size=record["size"],
                detail=rule.detail.format(**words) + (REFUSED if record["refused"] else ""),
                key=key,
                at=at,
                remedy=remedy,
                cycle=record["cycle"] or None,
                count=record["count"],
            ),
        )

    def at_ports(self, rule: RuleText, record: Mapping[str, int]) -> Finding:
        """Name a record of what a device did at its ports."""
        device = self.table.masters[record["master"]]
        operator, run = record["op"], record["run"]
        model, name = self.table.operators[operator - 1] if operator else (None, BETWEEN)
        words = port_words(self.soc, device, record)
        place = port_place(self.soc, device)
        return Finding(
            model=model if operator else ((run - 1) % self.table.models if run else None),
            violation=Violation(
                rule=rule.name,
                number=rule.number,
                device=device,
                operator=name,
                buffer="",
                offset=0,
                pool="",
                address=record["address"],
                size=0,
                detail=rule.detail.format(**words),
                key=rule.key if place else "",
                at=place,
                remedy=rule.remedy.format(**words),
                cycle=record["cycle"] or None,
                count=record["count"],
            ),
        )

    def _cover(self, number: int, address: int) -> Covered:
        """Return a buffer by its number plus 1, else what else lies at `address`."""
        if number:
            return self.table.buffers[number - 1]
        regions = (r for r in self.soc.regions() if r.origin <= address < r.end)
        memories = (m for m in self.soc.memories if m.origin <= address < m.end)
        place = next(regions, None) or next(memories, None)
        return Covered(name="", place=place.name if place else "", address=address)


def port_words(soc: ResolvedSoc, device: str, record: Mapping[str, int]) -> Mapping[str, object]:
    """Return the words of the rules of a device's ports."""
    count, first = record["size"], record["kind"] == KINDS.index(AccessKind.READ)
    engine = next((each for each in soc.engines if each.name == device), None)
    if engine is None:
        return {
            "device": device,
            "kind": "answer" if first else "take",
            "instruction": _instruction(soc, device, count),
        }
    offset = record["address"] - engine.registers.origin
    names = {place: name for name, place in engine.spec.registers.items()}
    master = next(each for each in plan_chip(soc).masters if each.name == device)
    channels = [each.asks for each in watched_channels(master)]
    many = "is" if count == 1 else "are"
    return {
        "device": device,
        "count": count,
        "kind": "read" if first else "write",
        "register": names.get(offset, f"register {offset:#05x}"),
        "owed": f"{count} of its requests {many} not answered"
        if first
        else "a request of it is not accepted",
        "channel": channels[count].removeprefix(f"{master.signal}_")
        if count < len(channels)
        else "",
    }


def _instruction(soc: ResolvedSoc, device: str, called: int) -> str:
    """Name the instruction of a function unit that has a number at its port."""
    cpu = soc.device(device)
    unit = cpu.unit if isinstance(cpu, Cpu) else None
    fields = (called >> 10, called >> 3 & 0x7F, called & 7)
    text = "custom-{}, funct7 {}, funct3 {}".format(*fields)
    for each in unit.instructions if unit else ():
        if (each.opcode >> 5, each.funct7, each.funct3) == fields:
            return f"'{each.name}' ({text})"
    return f"an instruction that its description does not have ({text})"


def port_place(soc: ResolvedSoc, device: str) -> str:
    """Return where the RTL of a device is named, "" if Atoll ships it."""
    found = soc.device(device)
    if isinstance(found, Cpu):
        return str(found.unit.places.get(RTL) or "") if found.unit else ""
    engine = next(each for each in soc.engines if each.name == device)
    return "" if engine.spec.name in OWN else str(engine.spec.places.get(RTL) or "")


def find_cause(soc: ResolvedSoc, rule: RuleText, words: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the key that decides, where it was written, and what helps.

    What an accelerator of the user's own does is no fault of Atoll's plan: its description is the
    place, and its RTL or model what is to be corrected.
    """
    engine = next((each for each in soc.engines if each.name == words["device"]), None)
    if engine is None or engine.spec.name in OWN or PLAN not in rule.remedy:
        is_cores = rule.symbol == "NO_REACH" and "." in words["pool"]
        remedy = FOREIGN if is_cores else rule.remedy
        return (*find_key(soc, rule, words), remedy.format(**words))
    spec = engine.spec
    what = "rtl.module" if spec.rtl_module else "model"
    at = spec.places.get(what) or next(iter(spec.places.values()), None)
    part = "RTL" if spec.rtl_module else "model"
    own = f"correct the {part} or the commands of accelerator '{spec.name}': it {words['kind']}s "
    own += "bytes that no operand of its operator has"
    return what, str(at or ""), rule.remedy.replace(PLAN, own).format(**words)


def find_key(soc: ResolvedSoc, rule: RuleText, words: Mapping[str, str]) -> tuple[str, str]:
    """Return the key of the description that decides, and where it was written.

    Args:
        soc: the chip.
        rule: that is broken.
        words: of its texts.
    """
    for key in (rule.key.format(**words), *_wider(words)):
        at = soc.layers.get(key, "")
        if at.partition(":")[0] not in ("", "built-in", "derived"):
            return key, at
    return "", ""


def _wider(words: Mapping[str, str]) -> Iterator[str]:
    """Yield keys that say where a pool or a core's region is."""
    yield f"pools.{words['pool']}.memory"
    device, _, region = words["pool"].partition(".")
    yield f"devices.{device}.{region}.memory"
    yield f"devices.{words['device']}.kind"
