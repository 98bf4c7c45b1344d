# SPDX-License-Identifier: Apache-2.0
"""The C driver of an accelerator that is driven by its registers, from the steps described."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.bsp.c_names import c_name
from atoll.bsp.render import opening_sentence, render
from atoll.program.expressions import Name
from atoll.program.record import Layout, in_c, layout_of
from atoll.program.steps import ADDRESS, Step, Verb, last_wait
from atoll.records import dataclass
from atoll.resolve.soc import AcceleratorSpec, ResolvedSoc

SHARED = "register_program"
"""The driver that ships with Atoll and that those of all programs rest on."""

HOOKS = ("init", "activate", "open", "close", "deactivate", "destroy")
"""Functions of a driver that take its context alone, in their order."""

RISING = {Verb.PUSH: "store", Verb.POP: "load"}
"""What moves words to rising addresses is called in C."""

_ONCE = ("open", "close", "abort", "clear")


@dataclass(frozen=True, slots=True)
class _Part:
    """A function that plays some steps."""

    name: str
    about: str
    lines: tuple[str, ...]


def program_drivers(soc: ResolvedSoc) -> Mapping[str, str]:
    """Return the files of the drivers of the chip's accelerators with a program, by name."""
    specs = {engine.spec.name: engine.spec for engine in soc.engines if engine.spec.program}
    return {
        f"{spec.driver}{end}": text
        for _, spec in sorted(specs.items())
        for end, text in _files(spec, soc).items()
    }


def _files(spec: AcceleratorSpec, soc: ResolvedSoc) -> Mapping[str, str]:
    values = {"made_from": opening_sentence(soc), "name": spec.name, "driver": spec.driver}
    assert spec.program
    failures = [
        {
            "offset": _offset(spec, each.register),
            "mask": f"0x{each.mask & 0xFFFFFFFF:08X}u",
            "means": each.means.replace("\\", "\\\\").replace('"', '\\"'),
        }
        for each in spec.program.failures
    ]
    return {
        ".h": render("drive.h", hooks=HOOKS, **values),
        ".c": render(
            "drive.c",
            parts=tuple(_parts(spec)),
            kinds=tuple(map(c_name, spec.program.runs)),
            failures=failures,
            **values,
        ),
    }


def _parts(spec: AcceleratorSpec) -> Iterator[_Part]:
    program = spec.program
    assert program
    for name in _ONCE:
        steps: Sequence[Step] = getattr(program, name)
        lines = _lines(steps, spec, Layout(()))
        yield _Part(f"{name}_steps", f"The steps of '{name}'.", tuple(lines))
    for kind, steps in program.runs.items():
        cut, layout = last_wait(steps), layout_of(steps)
        word = kind.upper()
        yield _Part(
            f"begin_{c_name(kind)}",
            f"The steps of {word} up to the last wait.",
            tuple(_lines(steps[:cut], spec, layout)),
        )
        yield _Part(
            f"end_{c_name(kind)}",
            f"The steps of {word} from there on.",
            tuple(_lines(steps[cut:], spec, layout)),
        )


def _offset(spec: AcceleratorSpec, register: str) -> str:
    return f"ATOLL_{spec.name.upper()}_REGISTER_{register}"


def _lines(
    steps: Sequence[Step], spec: AcceleratorSpec, layout: Layout, indent: str = ""
) -> Iterator[str]:
    for step in steps:
        offset = _offset(spec, step.name)
        values = [in_c(expression, layout) for expression in step.expressions]
        match step.verb:
            case Verb.WRITE:
                yield f"{indent}atoll_step_write(engine, {offset}, {values[0]});"
            case Verb.WAIT:
                bits = f"0x{step.mask & 0xFFFFFFFF:08X}u, 0x{step.equals & 0xFFFFFFFF:08X}u"
                yield f"{indent}status = atoll_step_wait(engine, {offset}, {bits});"
                yield f"{indent}if (status != ATOLL_OK) return status;"
            case Verb.PUSH | Verb.POP:
                begin = f"r[{layout.place(Name(step.buffer + ADDRESS))}]"
                at, size = f"{begin} + {values[0]}", values[1]
                verb = RISING[step.verb] if step.rises else step.verb
                yield f"{indent}atoll_step_{verb}(engine, {offset}, {at}, {size});"
            case Verb.REPEAT:
                count = f"n_{step.name}"
                head = f"for (uint32_t {count} = 0u; {count} < {values[0]}; {count}++)"
                yield f"{indent}{head} {{"
                yield from _lines(step.steps, spec, layout, indent + "  ")
                yield f"{indent}}}"
