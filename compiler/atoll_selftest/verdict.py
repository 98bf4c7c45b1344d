# SPDX-License-Identifier: Apache-2.0
"""What failed tests of a self-test mean: the fault in the chip that explains them."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.records import dataclass
from atoll_selftest.log import Log, Result

_FEW_BITS = 4
"""Data bits that differ in all banks are lines of the data bus, if they are so few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault, for people.

    Attributes:
        what: the sentence.
        devices, places: names that it is about.
    """

    what: str
    devices: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def findings(log: Log) -> tuple[Finding, ...]:
    """Return what is wrong with the chip of a log; nothing if all tests passed."""
    failed = [result for result in log.results.values() if not result.passed]
    return (*_ends(log), *_memories(failed), *_windows(failed), *_views(log), *_answers(failed))


def _ends(log: Log) -> Iterator[Finding]:
    """Yield why the log ends early; damage on its way is no fault of the chip."""
    if log.stopped:
        yield Finding(what=f"the devices could not be brought up: {log.stopped}")
    elif log.silent:
        what = f"'{log.silent}' did not answer the host; nothing was tried after that"
        yield Finding(what=what, devices=(log.silent,))
    elif set(log.missing) == set(log.lost):
        return
    elif not log.ended:
        last = max(log.results, default=0)
        yield Finding(what=f"the log ends after test {last} of {log.count}: {_after(log, last)}")
    else:
        yield Finding(
            what=f"the log lacks {len(log.missing)} lines, the first of test {log.missing[0]}"
        )


def _after(log: Log, last: int) -> str:
    done = log.results.get(last)
    if done is None:
        return "the first march or access did not come back"
    place = f" at '{done.place}'" if done.place else ""
    return f"what follows the {done.kind} of '{done.device}'{place} did not come back"


def _memories(failed: Sequence[Result]) -> Iterator[Finding]:
    """Yield what is wrong with memories, once for each."""
    told: set[str] = set()
    for result in failed:
        if result.kind == "march" and result.found == "wrong":
            memory = result.fields.get("memory", result.place)
            if memory not in told:
                told.add(memory)
                what = f"memory '{memory}': {_of_memory(result)}"
                yield Finding(what=what, devices=(result.device,), places=(result.place,))


def _of_memory(result: Result) -> str:
    """Say what a march that found wrong words means."""
    lines, bits = _bits(result.value("lines")), _bits(result.value("bits"))
    first = result.fields.get("first", "?")
    read, wrote = result.fields.get("read", "?"), result.fields.get("wrote", "?")
    example = f"{first} has {read} where '{result.device}' wrote {wrote}"
    if lines:
        apart = " or ".join(f"{1 << line:#x}" for line in lines)
        found = _list_numbers("address line", lines)
        return f"{found} stuck or open: words {apart} bytes apart are one; {example}"
    banks = [int(word) for word in result.fields.get("banks", "").split(",") if word.isdecimal()]
    wrong = [number for number, count in enumerate(banks) if count]
    if wrong and len(wrong) < len(banks):
        found = _list_numbers("bank", wrong)
        return f"{found} dead, of {len(banks)}: all wrong words lie there; {example}"
    if 0 < len(bits) <= _FEW_BITS:
        return f"{_list_numbers('data line', bits)} stuck or open; {example}"
    return f"{result.value('wrong') or 0:,} reads were wrong; {example}"


def _bits(value: int | None) -> list[int]:
    """Return the numbers of the bits that a value has."""
    return [bit for bit in range(32) if (value or 0) >> bit & 1]


def _list_numbers(noun: str, numbers: Sequence[int]) -> str:
    """Return a noun with its numbers and its verb."""
    listed = ", ".join(map(str, numbers))
    return f"{noun} {listed} is" if len(numbers) == 1 else f"{noun}s {listed} are"


def _windows(failed: Sequence[Result]) -> Iterator[Finding]:
    """Yield what devices reach and should not, or do not and should."""
    for device in dict.fromkeys(result.device for result in failed):
        lost = _verbs(failed, device, expect="works", found=("refused",))
        opened = _verbs(failed, device, expect="refused", found=("works", "wrong", "silent"))
        untried = _verbs(failed, device, expect="refused", found=("blocked",))
        for place, other in _pairs(lost, opened, untried):
            verbs = lost.pop(place)
            opened.pop(other)
            may = " and ".join(verbs)
            yield Finding(
                what=f"the windows of '{device}' at '{place}' and '{other}' are swapped: it cannot"
                f" {may} the one, which it may, and can {may} the other, which it may not",
                devices=(device,),
                places=(place, other),
            )
        for place, verbs in lost.items():
            what = f"'{device}' may {' and '.join(verbs)} '{place}', and is refused"
            yield Finding(what=what, devices=(device,), places=(place,))
        for place, verbs in opened.items():
            what = f"'{device}' may not {' or '.join(verbs)} '{place}', and nothing keeps it back"
            yield Finding(what=what, devices=(device,), places=(place,))


def _pairs(
    lost: Mapping[str, Sequence[str]],
    opened: Mapping[str, Sequence[str]],
    untried: Mapping[str, Sequence[str]],
) -> list[tuple[str, str]]:
    """Return the places that changed roles, where there is no doubt which.

    Of an open place an access may be `untried`, as an engine may lack the other end.
    """
    pairs = []
    for place, verbs in lost.items():
        others = [
            other
            for other, theirs in opened.items()
            if set(theirs) <= set(verbs) <= {*theirs, *untried.get(other, ())}
        ]
        rivals = [rival for rival, theirs in lost.items() if theirs == verbs]
        if len(others) == 1 and len(rivals) == 1:
            pairs.append((place, others[0]))
    return pairs


def _verbs(
    failed: Sequence[Result], device: str, *, expect: str, found: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return what accesses of a device to each place ended so; a march stands for both."""
    verbs: dict[str, dict[str, None]] = {}
    for result in failed:
        if (
            (result.device, result.expect) == (device, expect)
            and result.found in found
            and result.kind in ("read", "write")
        ):
            verbs.setdefault(result.place, {})[result.kind] = None
    return {place: tuple(sorted(names)) for place, names in verbs.items()}


def _views(log: Log) -> Iterator[Finding]:
    """Yield cores that see at a place what is at another one."""
    tags = {
        result.value("tag"): result.place
        for result in log.results.values()
        if result.value("tag") is not None
    }
    for result in log.results.values():
        if result.kind == "read" and result.expect == "works" and result.found == "wrong":
            if (other := tags.get(result.value("got"))) and other != result.place:
                what = f"'{result.device}' sees at '{result.place}' what is in '{other}'"
                yield Finding(what=what, devices=(result.device,), places=(result.place, other))
            else:
                got, tag = result.fields.get("got", "?"), result.fields.get("tag", "?")
                what = (
                    f"'{result.device}' reads {got} at '{result.place}', where the host wrote {tag}"
                )
                if not result.fields.get("got"):
                    what = f"'{result.device}' does not get from '{result.place}' what is there"
                yield Finding(what=what, devices=(result.device,), places=(result.place,))


def _answers(failed: Sequence[Result]) -> Iterator[Finding]:
    """Yield wrong answers of engines and networks, and how many tests could not be made."""
    blocked = [r for r in failed if r.found == "blocked" and r.kind in ("read", "write", "known")]
    for device in dict.fromkeys(result.device for result in blocked):
        count = sum(result.device == device for result in blocked)
        tests = "test" if count == 1 else "tests"
        what = f"{count} {tests} of '{device}' could not be made: something that it needs failed"
        yield Finding(what=what, devices=(device,))
    for result in failed:
        if result in blocked:
            continue
        about = result.fields.get("operator") or result.fields.get("name") or result.place
        if result.kind == "known":
            verb = "computes wrongly" if result.found == "wrong" else f"cannot run ({result.found})"
            yield Finding(what=f"'{result.device}' {verb}: {about}", devices=(result.device,))
        elif result.kind == "network":
            ended = "is wrong" if result.found == "wrong" else "does not end"
            yield Finding(what=f"network '{about}' {ended}", devices=(result.device,))
        elif (
            result.kind == "write"
            and result.expect == "works"
            and result.found in ("wrong", "silent")
        ):
            what = f"what '{result.device}' writes to '{about}' does not arrive"
            yield Finding(what=what, devices=(result.device,), places=(result.place,))
