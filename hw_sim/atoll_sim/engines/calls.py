# SPDX-License-Identifier: Apache-2.0
"""An accelerator's own code, called so that what it does wrong is said."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import EngineAction
from atoll.plugins.loading import Methods, Part, make_part
from atoll.resolve.engine_parts import whole
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine
from atoll_sim.engines.interface import Bus, Outcome

MODEL_METHODS: Methods = MappingProxyType({"run": ("bus", "list_address", "count")})
"""What the class that a description names as `model` must have."""


def model_of(engine: Engine) -> Part:
    """Make the model that the description of `engine` names.

    Raises:
        AtollError: E041, E110; there is none that can be used.
    """
    spec = engine.spec
    who = f"model '{spec.model}' of accelerator '{spec.name}'"
    return make_part(spec.model, who, MODEL_METHODS, (engine,), spec.places.get("model"))


def run_model(model: Part, bus: Bus, address: int, count: int) -> Outcome:
    """Let a model of `model_of` run a command list.

    Raises:
        AtollError: E111, E112; it fails, or returns no outcome.
    """
    about = f"the list at {address:#010x}"
    outcome = model.call("run", bus, address, count, about=about)
    if not isinstance(outcome, Outcome):
        raise model.wrong("run", f"{outcome!r:.80}, no Outcome", about)
    if min(map(whole, (outcome.error, outcome.fault_address, outcome.completed))) < 0:
        raise model.wrong("run", f"{outcome!r:.120}, whose fields must be 0 or more", about)
    return outcome


def teach(models: Mapping[str, Part], compiled: Compiled) -> None:
    """Tell each model of `model_of` that has `learn` what a network's lists are for.

    Args:
        models: by the device that each plays.
        compiled: the network.

    Raises:
        AtollError: E111; a model fails.
    """
    for step in compiled.module.entry.steps:
        if isinstance(step.action, EngineAction):
            model = models.get(step.action.device)
            if model and learns(model):
                bus = compiled.plan.address(step.action.commands)
                address = device_address(compiled.soc, step.action.device, bus)
                op = compiled.graph.operators[step.number]
                model.call("learn", address, op, compiled.graph, about=f"operator '{op.name}'")


def not_played(engine: Engine) -> SimulationError:
    """Return that firmware uses an accelerator which nobody plays."""
    return SimulationError(
        "E179",
        f"the image uses '{engine.name}', and '--accelerator none' says that it does not",
        at=engine.at,
        remedy="name the networks of the images with '--network MODEL', and leave"
        " '--accelerator none' out",
    )


def learns(model: Part) -> bool:
    """Say whether a model has to be told what its lists are for (`Learning`)."""
    return callable(getattr(model.value, "learn", None))


def seals(emitter: Part) -> bool:
    """Say whether an emitter makes checks of commands (`Sealing`)."""
    return callable(getattr(emitter.value, "sealed", None))


def seal(emitter: Part, command: bytes) -> bytes:
    """Return a command with its check made anew, the same if its commands carry none.

    Raises:
        AtollError: E111, E112; the emitter fails, or returns no command of that size.
    """
    if not seals(emitter):
        return command
    made = emitter.call("sealed", command)
    if not isinstance(made, bytes) or len(made) != len(command):
        raise emitter.wrong("sealed", f"{made!r:.80}, no {len(command)} bytes")
    return made
