# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.check_image`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from atoll.api.images import ImageCheck, ImageStack, StackQuestions
from atoll.description.faults import nearest
from atoll.description.identifiers import identifier
from atoll.diagnostics.errors import UsageError
from atoll.isa.instruction_set import Family
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_image.check import disagreements
from atoll_image.convention import convention_faults
from atoll_image.elf import ElfImage, read_image
from atoll_image.image_stacks import Questions, StackUse, limits, stack_of, thread_of
from atoll_image.provided import not_known
from atoll_image.usage import usage


def check(
    soc: ResolvedSoc | None,
    image: Path,
    core: str | None,
    questions: StackQuestions,
    *,
    allow_unbounded: bool,
) -> ImageCheck:
    """Hold an image against a chip, or bound its stack alone.

    Raises:
        UsageError: E141, E142, E184 to E186.
    """
    asked = Questions(**questions)
    if soc is None:
        return _alone(image, asked, allow_unbounded=allow_unbounded)
    return _check_core(soc, _core(soc, core), image, asked, allow_unbounded=allow_unbounded)


def _alone(image: Path, questions: Questions, *, allow_unbounded: bool) -> ImageCheck:
    use = stack_of(image, read_image(image), questions)
    return ImageCheck(
        image=image,
        soc=None,
        core=None,
        faults=(*use.small(planned=True), *(() if allow_unbounded else use.unbounded_faults())),
        not_known=(),
        stack=_image_stack(use),
        _usage=None,
        _sections=(),
        _parameters_known=False,
    )


def _check_core(
    soc: ResolvedSoc, name: str, image: Path, questions: Questions, *, allow_unbounded: bool
) -> ImageCheck:
    core = soc.device(name)
    assert isinstance(core, Cpu)
    found = read_image(image)
    faults = tuple(disagreements(soc, name, found))
    use = _stack(soc, core, image, found, questions)
    if use is not None:
        unbounded = () if allow_unbounded else tuple(use.unbounded_faults())
        stacks = (replace(each, at=core.at) for each in (*use.small(), *unbounded))
        faults = (*faults, *limits(soc, name, use), *stacks)
    unknown = tuple(not_known(as_seen_by(soc, name), found)) if name == soc.host else ()
    return ImageCheck(
        image=image,
        soc=soc.name,
        core=name,
        faults=faults,
        not_known=unknown,
        stack=None if use is None else _image_stack(use),
        _usage=usage(soc, name, found, {} if use is None else _stack_bytes(soc, core, use)),
        _sections=tuple(each.as_data() for each in found.sections),
        _parameters_known=not any(each.startswith("parameters") for each in unknown),
    )


def _stack(
    soc: ResolvedSoc, core: Cpu, path: Path, image: ElfImage, questions: Questions
) -> StackUse | None:
    """Return what the image takes of its stack, None if the core cannot run it."""
    if any(convention_faults(image, core)):
        return None
    thumb = core.instructions.family is Family.THUMB
    vectors = core_as_it_sees(soc, core).boot.origin if thumb else None
    return stack_of(path, image, questions, vectors)


def _stack_bytes(soc: ResolvedSoc, core: Cpu, use: StackUse) -> Mapping[str, int | None]:
    """Return what the image may use of the core's stacks; interrupts are kept on each of them."""
    main = use.entry_bytes
    if use.interrupt_bytes is None:
        main = None
    found = {core.stack.name: None if main is None else main + core.interrupt_reserve}
    for top, depth in use.works:
        thread = thread_of(core_as_it_sees(soc, core), top)
        if thread and depth.causes:
            found[core.stack_of(thread).name] = None
        elif thread:
            stack = core.stack_of(thread).name
            used = depth.bound.bytes + core.interrupt_reserve
            found[stack] = max(used, found.get(stack) or 0)
    return found


def _image_stack(use: StackUse) -> ImageStack:
    return ImageStack(
        total_bytes=use.bytes,
        entry_bytes=use.entry_bytes,
        interrupt_bytes=use.interrupt_bytes,
        interrupts_unknown=use.roots.unknown,
        assumes=use.assumes(),
        _table=use.table(),
        _others=tuple(each.as_data() for each in use.others()),
    )


def _core(soc: ResolvedSoc, asked: str | None) -> str:
    names = tuple(core.name for core in soc.cpus)
    if asked is not None and identifier(asked) not in names:
        message = f"'{soc.name}' has no core '{asked}'"
        raise UsageError("E142", message, remedy=nearest(asked, names))
    return identifier(asked) if asked else soc.host
