# SPDX-License-Identifier: Apache-2.0
"""What a step of the entry does: kernels on cores, commands on engines, waits."""

from typing import ClassVar

from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class CoreAction:
    """A kernel that a core runs, with a buffer name for each of its parameters.

    Attributes:
        word: what it prints as.
    """

    word: ClassVar[str]
    function: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.word} @{self.function}({', '.join(self.arguments)})"


class KernelCall(CoreAction):
    """Run a kernel on the step's core, and wait."""

    __slots__ = ()
    word = "call"


class CallStart(CoreAction):
    """Have another core than the host start on a kernel, and go on.

    Until the step that waits for it, the core reads and writes what the step says.
    """

    __slots__ = ()
    word = "begin"


@dataclass(frozen=True, slots=True)
class CoreCall:
    """A kernel on one core, with a buffer name for each of its parameters."""

    device: str
    function: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.device} @{self.function}({', '.join(self.arguments)})"


@dataclass(frozen=True, slots=True)
class CallSpread:
    """Run parts of one operator at once, each on a core of its own, and wait for all.

    No byte is written by two of them, and none is read that another part writes.
    """

    parts: tuple[CoreCall, ...]

    def __str__(self) -> str:
        return f"spread {', '.join(map(str, self.parts))}"


@dataclass(frozen=True, slots=True)
class EngineAction:
    """The `count` commands in the buffer `commands`, which an accelerator or DMA engine runs."""

    word: ClassVar[str]
    device: str
    commands: str
    count: int

    def __str__(self) -> str:
        return f"{self.word} {self.device}({self.commands}, {self.count})"


class AcceleratorRun(EngineAction):
    """Have a device run its commands, and wait."""

    __slots__ = ()
    word = "run"


class AcceleratorStart(EngineAction):
    """Have a device start on its commands, and go on.

    Until the step that waits for it, the device reads and writes what the step says.
    """

    __slots__ = ()
    word = "start"


@dataclass(frozen=True, slots=True)
class AcceleratorWait:
    """Wait for what was started on a device or core; the step repeats operator and buffers."""

    device: str

    def __str__(self) -> str:
        return f"wait {self.device}"


Action = KernelCall | CallStart | CallSpread | AcceleratorRun | AcceleratorStart | AcceleratorWait
