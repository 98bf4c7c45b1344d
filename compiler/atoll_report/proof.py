# SPDX-License-Identifier: Apache-2.0
"""What was proven of a chip and its networks, and first of all what was not."""

from collections import Counter
from collections.abc import Iterator, Mapping

from atoll.records import dataclass
from atoll.soc_checks import ELABORATES, FITS, SIMULATED
from atoll_report import images
from atoll_report.node import Node, count_text
from atoll_report.timeline import how_known

_CLOCKLESS = "no clock runs where '{}' plays the cores"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A thing that is not proven, or that rests on an assumption.

    Attributes:
        about: whom it concerns.
        words: a sentence.
        remedy: what would prove it, "" if nothing is known to.
    """

    about: str
    words: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader sees first; `kind` is ``bad``, ``good`` or ``open``."""

    kind: str
    words: str


def verdict(documents: Node) -> Verdict:
    """Say in a line what the documents come to."""
    findings = sum(_findings(run) for run in documents["run"])
    validation = documents["validate"]
    if findings:
        return Verdict("bad", f"{count_text(findings, 'finding')}: see Proof")
    if validation and not validation["passed"]:
        return Verdict("bad", "planted faults were not detected: see Proof")
    if documents["prove"] and not documents["prove"]["passed"]:
        return Verdict("bad", "who reaches what is not as described, or not proven: see Proof")
    if wrong := sum(len(each["disagreements"]) for each in documents["image"]):
        return Verdict("bad", f"{count_text(wrong, 'disagreement')} of the image: see Image")
    if not documents["run"]:
        return Verdict("open", "not run: nothing about its results is proven")
    open_points = len(list(_of_runs(documents)))
    words = "bit-exact, every judged access allowed"
    return Verdict("good", f"{words}; open: {count_text(open_points, 'point')}")


def content(documents: Node) -> Mapping[str, object]:
    """Return what fills the page."""
    return {
        "unproven": [
            *(*_of_runs(documents), *_of_faults(documents), *_of_check(documents)),
            *_of_proofs(documents),
            *_of_images(documents),
        ],
        "assumed": list(_assumptions(documents)),
        "mutants": [_mutants(each) for each in documents["validate"].get("networks")],
        "clockless": _CLOCKLESS,
        "how_known": how_known,
    }


def _findings(run: Node) -> int:
    wrong = len(run["mismatches"]) + len(run["placement"]["violations"])
    far = bool(run["oracle"]) and not run["oracle"]["passed"]
    return wrong + far + (not wrong and not run["bit_exact"])


def _of_runs(documents: Node) -> Iterator[Doubt]:
    """Yield what no run showed."""
    ran = {each["model"].raw for each in documents["run"]}
    for plan in documents["plan"]:
        if plan["model"].raw not in ran:
            words = "It was not run: neither its results nor its accesses were looked at."
            yield Doubt(plan["model"].raw, words, "atoll run SOC MODEL --report FILE")
    for run in documents["run"]:
        yield from (Doubt(run["model"].raw, *each) for each in _of_run(run))


def _of_run(run: Node) -> Iterator[tuple[str, str]]:
    samples = run["samples"].raw
    some = "one sample" if samples == 1 else f"{samples} samples"
    yield (
        f"Its results equal the reference for {some}; that does not prove other inputs.",
        "more samples: --input FILE, or labelled ones: --dataset FILE",
    )
    if not run["oracle"]:
        yield (
            "The reference comes from Atoll alone.",
            "compare with another implementation: --oracle",
        )
    if not run["placement"]["accesses"]:
        yield (
            "No access was judged: these cores report none.",
            "--cpu rtl, or --cpu iss",
        )
    if run["cpu"].raw != "rtl":
        words = f"The cores were not their RTL, but '{run['cpu']}'"
        clock = f"; cycles are {how_known(run)}, they are not the core's time"
        yield f"{words}{clock if run['cycles']['total'] else ''}.", "--cpu rtl"
    if run["relinked"].known:
        where = run["relinked"]["machine"]
        words = f"The code was linked for other addresses, those of QEMU's machine '{where}'"
        yield f"{words}, and ran there.", "--cpu rtl, or --cpu iss"
    if "model" in run["accelerator"].raw:
        yield (
            f"Accelerators were not all RTL: {run['accelerator']}.",
            "--accelerator rtl, where there is RTL",
        )
    for core, stack in run["stack"].items():
        if not stack["bound_bytes"].known:
            yield f"The stack of '{core}' has no bound: no image was linked.", "--cpu rtl"
        if stack["unmeasured"]:
            yield f"The stack of '{core}' was not measured: {stack['unmeasured']}.", ""
    yield from ((f"Not modelled: {each}.", "") for each in run["not_modelled"])
    if not run["dataset"].known:
        yield "Its accuracy was not measured.", "--dataset FILE"


def _of_faults(documents: Node) -> Iterator[Doubt]:
    found = documents["validate"]
    if not found.known:
        words = "No faults were planted, so nothing shows that the checks would detect one."
        yield Doubt("checks", words, "atoll validate SOC MODEL --mutants 100 --faults 200")
        return
    if not any(len(each["mutants"]) for each in found["networks"]):
        yield Doubt("checks", "No faults were planted in builds.", "atoll validate --mutants N")
    if not found["faults"]:
        yield Doubt("hardware", "No hardware faults were planted.", "atoll validate --faults N")
    for network in found["networks"]:
        for mutant in network["mutants"]:
            if not mutant["caught"] and not mutant["equivalent"]:
                yield Doubt(network["model"].raw, f"Not detected: {mutant['fault']}.")


def _of_proofs(documents: Node) -> Iterator[Doubt]:
    if not documents["prove"].known:
        words = "Who reaches what was seen in simulation at most: no formal proof is here."
        yield Doubt("chip", words, "atoll prove SOC --json > FILE")
        return
    for device in documents["prove"]["devices"]:
        if not device["proven"]:
            how = "refuted" if device["proven"].known else "not decided in time"
            yield Doubt(
                device["device"].raw, f"That it reaches what it may, and no more, was {how}."
            )


def _of_check(documents: Node) -> Iterator[Doubt]:
    chip = documents["check"]
    shown = _from_other_documents(documents, chip["soc"].raw) if chip.known else {}
    for each in chip.get("not_checked"):
        if words := shown.get(each.raw, str(each)):
            yield Doubt(chip["soc"].raw, f"Not checked: {words}.")
    played = {
        each["cpu"].raw for each in documents["run"] if each["soc"].raw == chip.get("soc").raw
    }
    for player in chip.get("players"):
        if player["not_known"] and player["cpu"].raw not in played:
            yield Doubt(chip["soc"].raw, f"--cpu {player['cpu']}: {player['not_known']}.")
    for plan in documents["plan"]:
        if not plan["optimal"]:
            words = "No planner proved that no plan is better."
            yield Doubt(plan["model"].raw, words, "atoll plan --budget TIME")


def _of_images(documents: Node) -> Iterator[Doubt]:
    """Yield what images do not tell, and stacks that nothing bounds."""
    for image in documents["image"]:
        name = images.title_of(image)
        for each in image.get("not_known"):
            yield Doubt(name, f"Not known to agree with the chip: {each}.")
        for each in (root for root in image["stack"] if not root["bytes"].known):
            causes = "; ".join(str(cause["why"]) for cause in each["not_bounded"])
            yield Doubt(name, f"The stack of '{each['function']}' is not bounded: {causes}.")


def _from_other_documents(documents: Node, chip: str) -> Mapping[str, str]:
    """Return what a check left out and other documents show: its words, and what is still open."""
    plans = [each for each in documents["plan"] if each["soc"].raw == chip]
    runs = [each for each in documents["run"] if each["soc"].raw == chip]
    shown = {}
    if plans:
        shown[FITS] = "what emitters make of a network (atoll run)"
    if runs:
        shown[FITS] = ""
    if any(each["cpu"].raw != "native" for each in runs):
        shown[SIMULATED] = ""
    if any(each["cpu"].raw == "rtl" and "model" not in each["accelerator"].raw for each in runs):
        shown[ELABORATES] = ""
    return shown


def _assumptions(documents: Node) -> Iterator[Doubt]:
    """Yield what rests on something else than a measurement or a proof."""
    for estimate in documents["estimate"]:
        bases = Counter(each["basis"].raw for each in estimate["cycles"]["by_layer"])
        for basis, count in bases.items():
            if basis != "measured":
                words = f"The estimated cycles of {count_text(count, 'operator')} rest on: {basis}."
                yield Doubt(estimate["model"].raw, words)
        unknown = sum(1 for each in estimate["cycles"]["by_layer"] if not each["band"].known)
        if unknown:
            what = count_text(unknown, "operator")
            words = f"How far the estimated cycles of {what} may be off is not known."
            yield Doubt(estimate["model"].raw, words)
    notes = {
        (each["model"].raw, note.raw): None
        for key in ("plan", "estimate", "explanation", "run")
        for each in documents[key]
        for note in each["notes"]
    }
    yield from (Doubt(model, note) for model, note in notes)
    for image in documents["image"]:
        name = images.title_of(image)
        yield from (Doubt(name, f"Bound of the stack: {each}.") for each in image["assumes"])
    chip = documents["check"]
    yield from (Doubt(chip["soc"].raw, str(each)) for each in chip.get("notes"))


def _mutants(network: Node) -> Mapping[str, object]:
    """Return how the wrong builds of a network ended, by kind."""
    kinds: dict[str, list[Node]] = {}
    for mutant in network["mutants"]:
        kinds.setdefault(mutant["kind"].raw, []).append(mutant)
    return {
        "network": network,
        "rows": [
            {
                "kind": kind,
                "planted": len(all_),
                "caught": sum(1 for each in all_ if each["caught"]),
                "equivalent": sum(1 for each in all_ if not each["caught"] and each["equivalent"]),
            }
            for kind, all_ in kinds.items()
        ],
    }
