# SPDX-License-Identifier: Apache-2.0
"""Stack bounds of functions of a linked image; an image that was read before is not read again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from atoll.stack.bound import StackBound
from atoll.utils.kept import keep_made, name_of

_SOURCES = sorted(Path(__file__).parent.glob("*.py"))


def bounds(
    elf: Path, functions: Sequence[str], perhaps: Sequence[str] = ()
) -> Mapping[str, StackBound]:
    """Return the most stack that each function of a linked image can use, with all it calls.

    Args:
        elf: the image.
        functions: what the image has.
        perhaps: handlers of interrupts, which it may lack; then the answer lacks them too.

    Raises:
        PlanError: E076, as `Program.bound`.
    """

    def measure() -> bytes:
        from atoll.stack.elf_stack import Program  # slow to import

        program = Program.read(elf)
        names = (*functions, *filter(program.has, perhaps))
        answers = {name: program.bound(name, handles=name in perhaps) for name in names}
        return json.dumps(
            {name: (each.bytes, each.path) for name, each in answers.items()}
        ).encode()

    asked = json.dumps((functions, perhaps))
    name = name_of(elf.read_bytes(), asked, *(path.read_bytes() for path in _SOURCES))
    return {
        name: StackBound(bytes=size, path=tuple((function, held) for function, held in path))
        for name, (size, path) in json.loads(keep_made(f"stacks/{name}", measure)).items()
    }
