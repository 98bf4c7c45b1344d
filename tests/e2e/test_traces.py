# SPDX-License-Identifier: Apache-2.0
"""Perfetto's trace processor finds in a trace what the JSON says."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.streaming import CHIP, network
from tests.e2e.test_planted_faults import moved
from tests.trace_processor import TraceProcessor, open_trace

import atoll
from atoll.api.simulation import run_of
from atoll.api.traces import write_run_trace
from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SAMPLER = EXAMPLES / "03_two_networks" / "sampler.tflite"
DOCUMENT = EXAMPLES.parent / "docs" / "trace.md"
CYCLE = 10
"""Nanoseconds, at 100 MHz."""

RUNS = ("lagoon", "twin", "tiled", "streamed", "several", "spread", "finding")
ESTIMATES = ("lagoon", "twin", "tiled", "streamed", "several", "spread")
QUICK = ("lagoon", "finding")


@dataclass(frozen=True)
class Case:
    """A trace, and the JSON of the same networks."""

    trace: TraceProcessor
    documents: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    explanations: list[dict[str, Any]]
    host: str

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The operators of all networks."""
        return [layer for each in self.documents for layer in each["cycles"]["by_layer"]]

    @property
    def edges(self) -> Counter[tuple[str, str]]:
        """Who hands a buffer to whom, by the explanation of the buffers."""
        ran = {layer["operator"] for layer in self.layers}
        pairs = {
            (each["model"], buffer["name"], writer["operator"], reader["operator"])
            for each in self.explanations
            for buffer in each["buffers"]
            for reader in buffer["uses"]
            for writer in buffer["uses"]
            if reader["access"] == "ro" and writer["access"] == "rw"
            if {reader["operator"], writer["operator"]} <= ran
        }
        return Counter((writer, reader) for _, _, writer, reader in pairs)


def compiled(name: str, folder: Path) -> atoll.Compilation:
    if name == "streamed":
        model = folder / "network.tflite"
        model.write_bytes(network((1, 8, 8, 32), ((64, 3, 1), (64, 3, 1), (32,), (10,))))
        chip = atoll.load_soc(CHIP).with_({"pools.shared.size": "48 KiB"})
        return atoll.compile(chip, model, stream="always")
    if name == "tiled":
        cut = {"first": "conv_2d_0", "last": "add_3", "stripes": 3}
        return atoll.compile("lagoon", DIGITS, build={"cuts": [cut]})
    if name == "spread":
        return atoll.compile("quad", DIGITS, accelerators=False)
    return atoll.compile(
        "lagoon" if name == "several" else name, [DIGITS, SAMPLER] if name == "several" else DIGITS
    )


def case_of(path: Path, made: atoll.Compilation, found: atoll.Run | atoll.Estimate) -> Case:
    return Case(
        open_trace(path),
        [each.to_json() for each in found],
        [each.to_json() for each in made],
        [each.explain().to_json() for each in made],
        made.soc._resolved.host,
    )


@cache
def run_case(name: str) -> Case:
    with temporary_folder() as folder:
        path = folder / "run.pftrace"
        if name == "finding":
            return planted(path)
        made = compiled(name, folder)
        spread = name == "spread"
        found = atoll.run(made, cpu="iss", accelerator="none" if spread else "model", trace=path)
        assert found.passed
        return case_of(path, made, found)


def planted(path: Path) -> Case:
    """Run a plan in which one buffer lies on another that is still live."""
    made = compile_file(load_soc("twin"), DIGITS)
    wrong = (moved(made, "conv_2d_2_out", "large_local", 768),)
    outcomes = run_models(
        wrong,
        (random_sample(made.graph),),
        cpu=CpuKind.ISS,
        accelerator=AcceleratorKind.MODEL,
    )
    found = run_of(wrong, outcomes)
    write_run_trace(path, wrong, found)
    documents = [each.to_json() for each in found]
    explained = explanation(wrong[0]).as_json()
    return Case(open_trace(path), documents, documents, [explained], "cpu")


@cache
def estimate_case(name: str) -> Case:
    with temporary_folder() as folder:
        made = compiled(name, folder)
        path = folder / "estimate.pftrace"
        return case_of(path, made, atoll.estimate(made, trace=path))


def by_track(case: Case, category: str, figure: str) -> dict[str, int]:
    return case.trace.values(
        f"select t.name, sum({figure}) from slice s join track t on t.id = s.track_id"
        f" where category in ({category}) group by t.name"
    )


Query = Callable[[Case], tuple[Any, Any]]


def sums(figure: str) -> Query:
    """Compare the sum of a figure over all operators."""

    def query(case: Case) -> tuple[Any, Any]:
        found = case.trace.value(
            f"select sum(extract_arg(arg_set_id, 'debug.{figure}')) from slice"
            " where category = 'operator'"
        )
        return found, sum(layer[figure] for layer in case.layers)

    return query


def counts(field: str) -> Query:
    """Compare how many operators have each value of a field."""

    def query(case: Case) -> tuple[Any, Any]:
        found = case.trace.values(
            f"select extract_arg(arg_set_id, 'debug.{field}') as value, count(*) from slice"
            " where category = 'operator' group by value"
        )
        return found, Counter(layer[field] for layer in case.layers)

    return query


def spans(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select extract_arg(arg_set_id, 'debug.operator') as operator, ts, dur,"
        " extract_arg(arg_set_id, 'debug.end') as until from slice where category = 'operator'"
    )
    begun = {(layer["operator"], layer["begin"]): layer for layer in case.layers}
    wanted = [
        (name, begin * CYCLE, layer["worked"] * CYCLE, layer["end"])
        for (name, begin), layer in begun.items()
    ]
    return sorted(found), sorted(wanted)


def busy(case: Case) -> tuple[Any, Any]:
    wanted: Counter[str] = Counter()
    for each in case.documents:
        wanted.update(each["cycles"]["by_device"])
    found = by_track(case, "'operator', 'helper'", "dur")
    return found, {device: cycles * CYCLE for device, cycles in wanted.items()}


def longest(case: Case) -> tuple[Any, Any]:
    found = case.trace.value(
        "select extract_arg(arg_set_id, 'debug.cycles') as cycles from slice"
        " where category = 'operator' order by cycles desc limit 1"
    )
    return found, max(layer["cycles"] for layer in case.layers)


def by_kind_of_device(case: Case) -> tuple[Any, Any]:
    found = case.trace.value(
        "select sum(extract_arg(arg_set_id, 'debug.cycles')) from slice where category = 'operator'"
    )
    kinds = ("cpu", "dsp", "npu", "dma")
    return found, sum(each["cycles"][kind] for each in case.documents for kind in kinds)


def firmware(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select ts, dur, extract_arg(arg_set_id, 'debug.total'),"
        " extract_arg(arg_set_id, 'debug.clock_hz') from slice where category = 'firmware'"
    )
    cycles = case.documents[0]["cycles"]
    return found, [(0, cycles["total_ns"], cycles["total"], cycles["clock_hz"])]


def networks(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select name, ts, dur, extract_arg(arg_set_id, 'debug.layers_equal'),"
        " extract_arg(arg_set_id, 'debug.bit_exact') from slice where category = 'network'"
    )
    wanted = []
    for each in case.documents:
        verdict = each["layers_equal"], int(each["bit_exact"])
        for sample in each["cycles"]["by_sample"]:
            begin, end = sample["begin"], sample["end"]
            wanted.append((each["model"], begin * CYCLE, (end - begin) * CYCLE, *verdict))
    layers = case.documents[0]["cycles"]["by_layer"]
    assert wanted[0][1] == min(each["begin"] for each in layers) * CYCLE
    return found, wanted


def peaks(case: Case) -> tuple[Any, Any]:
    found = case.trace.values(
        "select substr(t.name, 1, instr(t.name || ' (', ' (') - 1) as pool, max(value)"
        " from counter c join track t on t.id = c.track_id"
        " join track p on p.id = t.parent_id where p.name like 'pools%' group by pool"
    )
    wanted = {
        f"{name}: {each['model']}": use["peak_bytes"]
        for each in case.plans
        for name, use in each["pools"].items()
        if use["peak_bytes"]
    }
    return found, wanted


def stacks(case: Case) -> tuple[Any, Any]:
    found = case.trace.values(
        "select t.name, value from counter c join track t on t.id = c.track_id"
        " join track p on p.id = t.parent_id where p.name = 'stacks'"
    )
    figures = ("watermark_bytes", "bound_bytes", "limit_bytes")
    wanted = {
        f"{core}: {figure}": use[figure]
        for core, use in case.documents[0]["stack"].items()
        for figure in figures
        if use[figure] is not None
    }
    return found, wanted


def flow_count(case: Case) -> tuple[Any, Any]:
    return case.trace.value("select count(*) from flow"), case.edges.total()


def flow_ends(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select extract_arg(o.arg_set_id, 'debug.operator') as producer,"
        " extract_arg(i.arg_set_id, 'debug.operator') as consumer from flow"
        " join slice o on o.id = slice_out join slice i on i.id = slice_in"
    )
    return Counter(found), case.edges


def flows_go_on(case: Case) -> tuple[Any, Any]:
    found = case.trace.value(
        "select count(*) from flow join slice o on o.id = slice_out"
        " join slice i on i.id = slice_in where i.ts < o.ts"
    )
    return found, 0


def findings(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select ts, dur, extract_arg(arg_set_id, 'debug.address'),"
        " extract_arg(arg_set_id, 'debug.count'), extract_arg(arg_set_id, 'debug.rule')"
        " from slice where category = 'finding'"
    )
    wanted = [
        (each["cycle"] * CYCLE, 0, each["address"], each["count"], each["rule"])
        for document in case.documents
        for each in document["placement"]["violations"]
    ]
    return sorted(found), sorted(wanted)


def interrupts(case: Case) -> tuple[Any, Any]:
    """Compare when lines were high, of engines and of mailboxes."""
    found = case.trace.rows(
        "select extract_arg(arg_set_id, 'debug.network') as network,"
        " extract_arg(arg_set_id, 'debug.source') as source, ts, dur from slice"
        " where category = 'interrupt'"
    )
    wanted = [
        (each["model"], line["source"], pulse["rise"] * CYCLE, high * CYCLE)
        for each in case.documents
        for line in each["cycles"]["interrupts"]
        for pulse in line["pulses"]
        for high in (pulse["fall"] - pulse["rise"],)
    ]
    assert wanted
    return sorted(found), sorted(wanted)


def addresses(case: Case) -> tuple[Any, Any]:
    """Compare the addresses of buffers that have no views, by which operators would name them."""
    found = case.trace.rows(
        "select distinct n.string_value as network, b.string_value as buffer,"
        " a.int_value as address from slice s"
        " join args n on n.arg_set_id = s.arg_set_id and n.key = 'debug.network'"
        " join args b on b.arg_set_id = s.arg_set_id join args a on a.arg_set_id = s.arg_set_id"
        " where category = 'operator' and b.key glob 'debug.buffers*.buffer'"
        " and a.key = substr(b.key, 1, length(b.key) - 6) || 'address'"
    )
    used = {layer["operator"] for layer in case.layers}
    wanted = {
        (each["model"], buffer["name"]): buffer["address"]
        for each in case.explanations
        for buffer in each["buffers"]
        if buffer["address"] is not None and not buffer["views"]
        if any(use["operator"] in used for use in buffer["uses"])
    }
    places = {(model, name): address for model, name, address in found}
    return {key: at for key, at in places.items() if key in wanted}, wanted


def waits(case: Case) -> tuple[Any, Any]:
    """Compare when the host itself ran nothing and others did, counted cycle by cycle."""
    found = by_track(case, "'wait'", "dur").get(case.host, 0)
    going: set[int] = set()
    for layer in case.layers:
        going.update(range(layer["begin"], layer["end"]))
    for layer in case.layers:
        if case.host in (layer["device"], *layer["helpers"]):
            going.difference_update(range(layer["begin"], layer["end"]))
    return found, len(going) * CYCLE


def sound(case: Case) -> tuple[Any, Any]:
    return case.trace.rows(
        "select name, value from stats where value > 0 and severity != 'info'"
    ), []


def basis(case: Case) -> tuple[Any, Any]:
    found = case.trace.value(
        "select extract_arg(arg_set_id, 'debug.basis') from slice where category = 'firmware'"
    )
    return found[:7], "counted"


RUN_QUERIES: Mapping[str, Query] = {
    "total, clock": firmware,
    "basis": basis,
    "verdict of each network": networks,
    "operators": counts("operator"),
    "operators by kind": counts("kind"),
    "operators by device": counts("device"),
    "operators by basis": counts("basis"),
    "when each operator ran": spans,
    "busy cycles of each device": busy,
    "cycles": sums("cycles"),
    "cycles by kind of device": by_kind_of_device,
    "worked cycles": sums("worked"),
    "expected cycles": sums("estimate"),
    "device cycles": sums("device_cycles"),
    "nanoseconds": sums("time_ns"),
    "instructions": sums("instructions"),
    "longest operator": longest,
    "peaks of the pools": peaks,
    "stacks": stacks,
    "number of flows": flow_count,
    "ends of the flows": flow_ends,
    "flows go on in time": flows_go_on,
    "findings": findings,
    "interrupts": interrupts,
    "addresses": addresses,
    "waits": waits,
    "nothing that the trace processor drops": sound,
}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in RUNS]
)
def test_a_run_answers_as_its_json(name: str) -> None:
    case = run_case(name)
    answers = {query: ask(case) for query, ask in RUN_QUERIES.items()}
    assert {query: found for query, (found, _) in answers.items()} == {
        query: wanted for query, (_, wanted) in answers.items()
    }


def test_the_planted_finding_is_there() -> None:
    found = run_case("finding").trace.rows("select name from slice where category = 'finding'")
    assert found[0] == ("overlap clobber: npu_large, depthwise_conv_2d_1_out_copy1",)


def asked(document: str) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the queries of a document, each with the rows below it."""
    block = r"^```sql\n((?:.*\n)*?)```\n\n(?:\|.*\n){2}((?:\|.*\n)*)"
    return [
        (sql, [tuple(row.strip("| ").split(" | ")) for row in rows.splitlines()])
        for sql, rows in re.findall(block, document, re.M)
    ]


def test_queries_of_the_document_find_what_it_says() -> None:
    case = run_case("lagoon")
    queries = asked(DOCUMENT.read_text())
    assert len(queries) == 4
    for sql, rows in queries:
        assert [tuple(map(str, row)) for row in case.trace.rows(sql)] == rows


def parts(case: Case) -> tuple[Any, Any]:
    found = case.trace.values(
        "select name, sum(dur) from slice where category = 'firmware' group by name"
    )
    wanted = {
        f"{part} (estimate)": sum(each["cycles"][part] for each in case.documents) * CYCLE
        for part in ("before", "network", "after")
    }
    return found, wanted


def totals(case: Case) -> tuple[Any, Any]:
    found = case.trace.value("select sum(dur) from slice where category = 'firmware'")
    return found, sum(each["cycles"]["total_ns"] for each in case.documents)


def traffic(figure: str) -> Query:
    def query(case: Case) -> tuple[Any, Any]:
        wanted: Counter[str] = Counter()
        for each in case.documents:
            for memory in each["cycles"]["by_memory"]:
                wanted[f"{memory['memory']} (estimate)"] += memory[figure]
        found = by_track(case, "'memory'", f"extract_arg(s.arg_set_id, 'debug.{figure}')")
        return found, {name: count for name, count in wanted.items() if name in found or count}

    return query


def expected_spans(case: Case) -> tuple[Any, Any]:
    found = case.trace.rows(
        "select extract_arg(arg_set_id, 'debug.network') as network,"
        " extract_arg(arg_set_id, 'debug.operator') as operator, ts, dur from slice"
        " where category = 'operator'"
    )
    wanted = [
        (
            each["model"],
            layer["operator"],
            (each["cycles"]["before"] + layer["begin"]) * CYCLE,
            layer["cycles"] * CYCLE,
        )
        for each in case.documents
        for layer in each["cycles"]["by_layer"]
    ]
    return sorted(found), sorted(wanted)


def marked(case: Case) -> tuple[Any, Any]:
    unmarked = case.trace.rows(
        "select name from slice where name not like '%(estimate)' union"
        " select name from track where name not like '%(estimate)'"
    )
    return {name for (name,) in unmarked}, {
        f"ESTIMATE of {each['model']} on {each['soc']}" for each in case.documents
    }


ESTIMATE_QUERIES: Mapping[str, Query] = {
    "what it is": marked,
    "parts": parts,
    "totals": totals,
    "when each operator should run": expected_spans,
    "operators by kind": counts("kind"),
    "operators by device": counts("device"),
    "operators by basis": counts("basis"),
    "operators by what decides": counts("bound"),
    "cycles": sums("cycles"),
    "longest operator": longest,
    "peaks of the pools": peaks,
    "bytes read": traffic("read_bytes"),
    "bytes written": traffic("written_bytes"),
    "cycles of the ports": traffic("cycles"),
    "number of flows": flow_count,
    "ends of the flows": flow_ends,
    "flows go on in time": flows_go_on,
    "addresses": addresses,
    "nothing that the trace processor drops": sound,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in ESTIMATES],
)
def test_an_estimate_answers_as_its_json(name: str) -> None:
    case = estimate_case(name)
    answers = {query: ask(case) for query, ask in ESTIMATE_QUERIES.items()}
    assert {query: found for query, (found, _) in answers.items()} == {
        query: wanted for query, (_, wanted) in answers.items()
    }
