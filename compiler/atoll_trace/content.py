# SPDX-License-Identifier: Apache-2.0
"""From what commands print with ``--json`` to what a trace shows; every figure is theirs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any

from atoll.driver.compiled import Compiled
from atoll.records import dataclass
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_trace.drawing import Clock, Drawing, Facts, Level, Slice, Track
from atoll_trace.network import buffers_of, edges_of, live_bytes, step_cycles

Document = Mapping[str, Any]

ESTIMATE = " (estimate)"
"""Ends each name of what nobody measured."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Layer:
    """An operator, in cycles from the start of the trace.

    Attributes:
        devices: how long each worked on it.
        traffic: by memory.
    """

    name: str
    begin: int
    end: int
    devices: Mapping[str, int]
    traffic: Mapping[str, Facts]
    facts: Facts


@dataclass(slots=True)
class _Picture:
    """The tracks of a trace, made as they are needed.

    Attributes:
        mark: ends each name.
        ports: what the tracks of ports show.
        moved: bytes that were drawn so far, by memory.
    """

    drawing: Drawing
    title: str
    about: str
    mark: str = ""
    ports: str = "operators with buffers in it, and the bytes that they moved where those are known"
    moved: Counter[str] = field(default_factory=Counter)
    _tracks: dict[tuple[str, ...], Track] = field(default_factory=dict)

    def track(self, *path: str, about: str = "", counts: bool = False) -> Track:
        """Return a track by the names of those above it."""
        if path not in self._tracks:
            above = self.track(*path[:-1]) if path else None
            name = path[-1] + self.mark if path else self.title
            about = about if path else self.about
            self._tracks[path] = self.drawing.track(name, above, about, counts=counts)
        return self._tracks[path]

    def slice(
        self, track: Track, category: str, name: str, span: tuple[int, int], facts: Facts
    ) -> None:
        """Draw a slice that no flow touches."""
        self.drawing.slices.append(
            Slice(
                track=track,
                category=category,
                name=name + self.mark,
                begin=span[0],
                end=span[1],
                facts=facts,
            )
        )


def draw_run(networks: Sequence[tuple[Compiled, Document]], basis: str) -> Drawing:
    """Draw what networks of one firmware did; what operators moved is known of the first sample.

    Args:
        networks: each with what ``atoll run --json`` prints of it.
        basis: what the cycles rest on.
    """
    (compiled, document), soc = networks[0], networks[0][0].soc
    drawing = Drawing(Clock.of(soc))
    picture = _Picture(
        drawing,
        f"{soc.name}: run",
        f"{basis}; {drawing.clock}",
    )
    cycles = document["cycles"]
    asked = {name: document[name] for name in ("soc", "cpu", "accelerator", "samples")}
    facts = {**asked, "total": cycles["total"], "basis": basis, **_clock(drawing, cycles)}
    reset = picture.track("firmware"), "firmware", "reset to exit", (0, cycles["total"])
    picture.slice(*reset, facts)
    findings: dict[str, Facts] = {}
    for compiled, document in networks:
        buffers = buffers_of(compiled)
        layers = [
            _run_layer(each, buffers.get(each["operator"], ()), compiled.soc)
            for each in document["cycles"]["by_layer"]
        ]
        _draw_network(picture, compiled, document, layers, document["pools"])
        for sample in document["cycles"]["by_sample"][1:]:
            told = {"network": document["model"], "sample": sample["sample"]}
            later = [_later(each) for each in sample["by_layer"]]
            _draw_sample(picture, compiled, later, document["pools"], told)
        _draw_interrupts(picture, document)
        _draw_mismatches(picture, document)
        for violation in document["placement"]["violations"]:
            findings.setdefault(str(violation), {"network": document["model"], **violation})
    for finding in findings.values():
        _draw_finding(picture, finding, cycles["total"])
    for core, use in document["stack"].items():
        for what in ("watermark_bytes", "bound_bytes", "limit_bytes"):
            if use[what] is not None:
                about = "one figure for the whole run; it is not known when it was reached"
                track = picture.track("stacks", f"{core}: {what}", about=about, counts=True)
                drawing.levels.append(Level(track, 0, use[what]))
    return drawing


def draw_estimate(networks: Sequence[tuple[Compiled, Document]]) -> Drawing:
    """Draw what networks should take, each as if it ran as the first.

    Args:
        networks: each with what ``atoll estimate --json`` prints of it.
    """
    drawing = Drawing(Clock.of(networks[0][0].soc))
    for compiled, document in networks:
        cycles = document["cycles"]
        picture = _Picture(
            drawing,
            f"ESTIMATE of {document['model']} on {document['soc']}",
            f"nothing ran: cycles are estimated ({cycles['basis']}); {drawing.clock}",
            ESTIMATE,
            "operators, with the bytes that cross it and the cycles that it needs for them",
        )
        now = 0
        for part in ("before", "network", "after"):
            facts = {part: cycles[part], "basis": cycles["basis"], **_clock(drawing, cycles)}
            span = now, now + cycles[part]
            picture.slice(picture.track("firmware"), "firmware", part, span, facts)
            now += cycles[part]
        layers = [_estimate_layer(each, cycles["before"]) for each in cycles["by_layer"]]
        pools = {name: use.as_json() for name, use in compiled.plan.use.items()}
        _draw_network(picture, compiled, document, layers, pools)
    return drawing


def _clock(drawing: Drawing, cycles: Facts) -> Facts:
    return {"clock": str(drawing.clock)} | (
        {} if drawing.clock.hertz is None else {"clock_hz": cycles["clock_hz"]}
    )


def _run_layer(layer: Facts, buffers: Sequence[Facts], soc: ResolvedSoc) -> _Layer:
    """Read a layer of a run."""
    memories: dict[str, dict[str, Any]] = defaultdict(lambda: {"reads": [], "writes": []})
    for buffer in buffers:
        memory = memories[soc.pool(buffer["pool"]).region.memory]
        for access, word in (("r", "reads"), ("w", "writes")):
            if access in buffer["access"]:
                memory[word].append(buffer["buffer"])
    for each in layer["memories"] or ():
        memories[each["memory"]] |= each
    return _Layer(
        name=layer["operator"],
        begin=layer["begin"],
        end=layer["end"],
        devices={layer["device"]: layer["worked"], **layer["helpers"]},
        traffic=memories,
        facts={name: value for name, value in layer.items() if name != "memories"},
    )


def _later(layer: Facts) -> _Layer:
    """Read a layer of a sample after the first."""
    devices = {layer["device"]: layer["worked"], **layer["helpers"]}
    name, begin, end = layer["operator"], layer["begin"], layer["end"]
    return _Layer(name=name, begin=begin, end=end, devices=devices, traffic={}, facts=layer)


def _estimate_layer(layer: Facts, before: int) -> _Layer:
    """Read a layer of an estimate, which counts from the begin of the first operator."""
    memories = layer["memories"]
    return _Layer(
        name=layer["operator"],
        begin=before + layer["begin"],
        end=before + layer["end"],
        devices=dict.fromkeys((layer["device"], *layer["helpers"]), int(layer["cycles"])),
        traffic={each["memory"]: each for each in memories},
        facts={name: value for name, value in layer.items() if name != "memories"},
    )


def _draw_network(
    picture: _Picture,
    compiled: Compiled,
    document: Document,
    layers: Sequence[_Layer],
    pools: Mapping[str, Facts],
) -> None:
    network = {"network": document["model"]}
    told = ("samples", "bit_exact", "layers_compared", "layers_equal")
    verdict = {name: document[name] for name in told if name in document}
    for facts, span in _network_spans(document, layers):
        track = picture.track("networks")
        picture.slice(track, "network", document["model"], span, {**network, **facts, **verdict})
    _draw_sample(picture, compiled, layers, pools, network)


def _draw_sample(
    picture: _Picture,
    compiled: Compiled,
    layers: Sequence[_Layer],
    pools: Mapping[str, Facts],
    network: Facts,
) -> None:
    """Draw operators, when the host waits for them, and what is live meanwhile."""
    _draw_layers(picture, compiled, layers, network)
    fed = {each.name for each in compiled.soc.devices if isinstance(each, Engine) and each.spec.fed}
    for under_way, span in _waits(layers, compiled.soc.host):
        names = [each.name for each in under_way]
        does = "drives" if any(fed & each.devices.keys() for each in under_way) else "waits for"
        track = picture.track("devices", compiled.soc.host)
        facts = {**network, "operators": names}
        picture.slice(track, "wait", f"{does} {', '.join(names)}", span, facts)
    _draw_pools(picture, compiled, network["network"], layers, pools)


def _network_spans(
    document: Document, layers: Sequence[_Layer]
) -> Iterator[tuple[Facts, tuple[int, int]]]:
    """Yield when the operators of each sample ran; an estimate has none."""
    for each in document["cycles"].get("by_sample", ()):
        yield {"sample": each["sample"]}, (each["begin"], each["end"])
    if layers and "by_sample" not in document["cycles"]:
        yield {}, (min(each.begin for each in layers), max(each.end for each in layers))


def _draw_layers(
    picture: _Picture, compiled: Compiled, layers: Sequence[_Layer], network: Facts
) -> None:
    buffers, drawn = buffers_of(compiled), {layer.name for layer in layers}
    begins, ends = defaultdict(list), defaultdict(list)
    for edge in edges_of(compiled.module.entry):
        if {edge.producer, edge.consumer} <= drawn:
            number = picture.drawing.flow()
            begins[edge.producer].append(number)
            ends[edge.consumer].append(number)
    for layer in layers:
        held: Facts = {"buffers": buffers.get(layer.name, ())}
        for number, (device, worked) in enumerate(layer.devices.items()):
            picture.drawing.slices.append(
                Slice(
                    track=picture.track("devices", device),
                    category="operator" if not number else "helper",
                    name=layer.name + picture.mark,
                    begin=layer.begin,
                    end=layer.begin + worked,
                    facts={**network, **layer.facts, **({} if number else held)},
                    flows=() if number else tuple(begins[layer.name]),
                    ends=() if number else tuple(ends[layer.name]),
                )
            )
        for memory, moved in layer.traffic.items():
            track = picture.track("ports", memory, about=picture.ports)
            span = layer.begin, layer.begin + max(layer.devices.values())
            device = next(iter(layer.devices))
            facts = {**network, "operator": layer.name, "device": device, **moved}
            picture.slice(track, "memory", layer.name, span, facts)
    _draw_moved(picture, layers)


def _draw_moved(picture: _Picture, layers: Sequence[_Layer]) -> None:
    """Draw how many bytes crossed the port of each memory so far, at the end of each operator."""
    for layer in sorted(layers, key=lambda each: each.end):
        for memory, moved in layer.traffic.items():
            if "read_bytes" in moved:
                about = (
                    "read and written by operators so far; those of which nobody knows are left out"
                )
                track = picture.track("moved", memory, about=about, counts=True)
                picture.moved[memory] += moved["read_bytes"] + moved["written_bytes"]
                picture.drawing.levels.append(Level(track, layer.end, picture.moved[memory]))


def _waits(
    layers: Sequence[_Layer], host: str
) -> Iterator[tuple[tuple[_Layer, ...], tuple[int, int]]]:
    """Yield where the host runs no operator, and those that are under way on other devices.

    It starts them, or waits for them, or both.
    """
    changes: dict[int, list[_Layer]] = defaultdict(list)
    for layer in layers:
        for cycle in {layer.begin, layer.end}:
            changes[cycle].append(layer)
    under_way: list[_Layer] = []
    for cycle, following in pairwise(sorted(changes)):
        for layer in changes[cycle]:
            if layer.begin == cycle < layer.end:
                under_way.append(layer)
            elif layer.end == cycle and layer in under_way:
                under_way.remove(layer)
        if under_way and not any(host in layer.devices for layer in under_way):
            yield tuple(under_way), (cycle, following)


def _draw_pools(
    picture: _Picture,
    compiled: Compiled,
    network: str,
    layers: Sequence[_Layer],
    pools: Mapping[str, Facts],
) -> None:
    """Draw what is live in each pool that has something."""
    steps = compiled.module.entry.steps
    begins = {layer.name: layer.begin for layer in layers}
    cycles = list(step_cycles(steps, begins, {layer.name: layer.end for layer in layers}))
    for pool, levels in live_bytes(compiled.plan, len(steps)).items():
        if not any(levels):
            continue
        use = pools[pool]
        size = f"{use['size_bytes']} B" if use["size_bytes"] is not None else "no limit"
        about = (
            f"live bytes of {network}: peak {use['peak_bytes']} B; used "
            f"{use['used_bytes']} B, at least {use['bound_bytes']} B; size {size}"
        )
        track = picture.track("pools", f"{pool}: {network}", about=about, counts=True)
        for cycle, level in zip(cycles, levels, strict=False):
            picture.drawing.levels.append(Level(track, cycle, level))


def _draw_interrupts(picture: _Picture, document: Document) -> None:
    """Draw when interrupt lines of the first sample were high; one that stays so, to the end."""
    cycles = document["cycles"]
    for line in cycles["interrupts"] or ():
        about = (
            "high until the core answers; it waits with interrupts disabled, and no handler runs"
        )
        number = line["line"]
        which = "software interrupt" if number is None else f"line {number}"
        name = f"{line['source']}: {which} of {line['core']}"
        told = {key: line[key] for key in ("source", "core")}
        told |= {} if number is None else {"line": number}
        for pulse in line["pulses"]:
            end = cycles["total"] if pulse["fall"] is None else pulse["fall"]
            track = picture.track("interrupts", name, about=about)
            facts = {"network": document["model"], **told, **pulse}
            picture.slice(track, "interrupt", name, (pulse["rise"], end), facts)


def _draw_mismatches(picture: _Picture, document: Document) -> None:
    """Draw results that differ from the reference where the operator ends, else the sample."""
    cycles = document["cycles"]
    samples = {each["sample"]: each for each in cycles["by_sample"]}
    for each in document["mismatches"]:
        sample = samples.get(each["sample"], {"end": cycles["total"], "by_layer": ()})
        layers = {layer["operator"]: layer["end"] for layer in sample["by_layer"]}
        at = layers.get(each["operator"], sample["end"])
        name = f"{each['tensor']}: sample {each['sample']} differs"
        facts = {"network": document["model"], **each}
        picture.slice(picture.track("mismatches"), "mismatch", name, (at, at), facts)


def _draw_finding(picture: _Picture, finding: Facts, end: int) -> None:
    """Draw a finding at its cycle; where that is not known, at the end, and say so."""
    cycle, name = finding["cycle"], f"{finding['rule']}: {finding['device']}"
    name += f", {finding['buffer']}" if finding["buffer"] else ""
    path = ("findings",) if cycle is not None else ("findings at an unknown cycle",)
    at = end if cycle is None else cycle
    picture.slice(picture.track(*path), "finding", name, (at, at), finding)
