# SPDX-License-Identifier: Apache-2.0
"""K4: limits resolve in layers, and the result names the layer that won."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

CORE = "devices.cpu.limits"
SIZE = "max_stack_alloca_size"
FLAG = "use_backend_alloc_workspace"


def test_k4_built_in(chip: Any) -> None:
    limit = chip().host_cpu.max_stack_alloca_size
    assert (limit.value, limit.layer) == (1024, "built-in")


def test_the_stack_itself_bounds_a_run(chip: Any) -> None:
    soc = chip()
    limit = soc.host_cpu.max_stack_size
    assert limit.value == 8192
    assert limit.layer == soc.layers["devices.cpu.stack.size"]


def line_of(layer: str) -> str:
    """Return the text that a layer such as ``chip.yaml:3:7`` points at."""
    if layer.count(":") < 2:
        return layer
    path, line, column = layer.rsplit(":", 2)
    return Path(path).read_text().splitlines()[int(line) - 1][int(column) - 1 :]


@pytest.mark.parametrize(
    ("changes", "overrides", "value", "layer"),
    [
        ({f"limits.{SIZE}": 64}, (), 64, "64"),
        ({f"limits.{SIZE}": 64, f"{CORE}.{SIZE}": "2 KiB"}, (), 2048, "2 KiB"),
        ({f"{CORE}.{SIZE}": 96}, (f"limits.{SIZE}=32",), 32, "--set"),
        ({}, (f"limits.{SIZE}=32", f"{CORE}.{SIZE}=48"), 48, "--set"),
        ({f"limits.{FLAG}": True}, (), 0, "true"),
        ({f"limits.{FLAG}": True, f"{CORE}.{FLAG}": False}, (), 1024, "built-in"),
        ({f"limits.{FLAG}": True, f"{CORE}.{SIZE}": 80}, (), 80, "80"),
        ({f"{CORE}.{SIZE}": 80}, (f"{CORE}.{FLAG}=true",), 0, "--set"),
        ({f"{CORE}.{SIZE}": 0}, (), 0, "0"),
    ],
)
def test_k4_the_strongest_layer_wins(
    chip: Any, changes: dict[str, object], overrides: tuple[str, ...], value: int, layer: str
) -> None:
    soc = chip(changes, overrides)
    limit = soc.host_cpu.max_stack_alloca_size
    assert (limit.value, line_of(limit.layer)) == (value, layer)
    assert soc.layers[f"{CORE}.{SIZE}"] == limit.layer


@pytest.mark.parametrize("total", [513, 8192])
def test_k4_totals_that_fit(chip: Any, total: int) -> None:
    limit = chip({f"{CORE}.max_stack_size": total}).host_cpu.max_stack_size
    assert limit.value == total


@pytest.mark.parametrize("total", [512, 8193])
@pytest.mark.parametrize("key", [CORE, "limits"])
def test_totals_that_do_not(refused: Any, total: int, key: str) -> None:
    (fault,) = refused({f"{key}.max_stack_size": total})
    assert fault.startswith("E069 'max_stack_size' of 'cpu'")


def test_a_total_from_the_command_line_is_checked_too(refused: Any) -> None:
    overrides = ("devices.cpu.stack.size=4KiB", "limits.max_stack_size=8KiB")
    (fault,) = refused({}, overrides)
    assert fault.startswith("E069")


def test_one_layer_cannot_say_both(refused: Any) -> None:
    (fault,) = refused({CORE: {FLAG: True, SIZE: 64}})
    assert fault.startswith("E069 'use_backend_alloc_workspace: true'")


@pytest.mark.parametrize("interrupts", [8192, 9000])
def test_interrupts_leave_something(refused: Any, interrupts: int) -> None:
    (fault,) = refused({"devices.cpu.stack.interrupts": interrupts})
    assert fault.startswith("E068")


@pytest.mark.parametrize("part", ["stack", "data"])
def test_what_is_written_lies_in_ram(refused: Any, part: str) -> None:
    span = {"memory": "flash", "size": "1 KiB"}
    (fault,) = refused({f"devices.cpu.{part}": span})
    assert fault.startswith(f"E034 the {part} of 'cpu' must be written")


def test_stacks_are_aligned(refused: Any) -> None:
    (fault,) = refused({"devices.cpu.stack.size": 1000})
    assert fault.startswith("E035 the stack of 'cpu' has 1000 bytes")


THREADS = "devices.cpu.stack.threads"


def test_k1_every_thread_has_a_stack_of_its_own(chip: Any) -> None:
    """The regions lie apart in the memory of the main stack, by name, whatever their order."""
    soc = chip({THREADS: {"ui": "1 KiB", "io": 2048}})
    cpu = soc.host_cpu
    assert [(stack.name, stack.size) for stack in cpu.stacks] == [
        ("cpu.stack", 8192),
        ("cpu.io.stack", 2048),
        ("cpu.ui.stack", 1024),
    ]
    assert {stack.memory for stack in cpu.stacks} == {"sram"}
    spans = sorted((region.origin, region.end) for region in soc.regions())
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    windows = {getattr(window, "name", ""): access for window, access in soc.windows(cpu)}
    assert windows["cpu.io.stack"] == windows["cpu.stack"] == "rw"
    npu = [getattr(window, "name", "") for window, _ in soc.windows(soc.device("npu"))]
    assert not any(name.endswith(".stack") for name in npu)


def test_k1_stacks_of_threads_count_in_the_budget_of_their_memory(refused: Any) -> None:
    (fault,) = refused({THREADS: {"io": "300 KiB"}})
    assert fault.startswith("E032 'cpu.io.stack' ")
    assert "past the end of memory 'sram'" in fault


def test_k1_interrupts_are_kept_on_every_stack(refused: Any) -> None:
    (fault,) = refused({THREADS: {"io": 512}})
    assert fault == (
        "E068 the stack of 'cpu.io' has 512 B, and interrupts keep 512 B of it: nothing is left"
    )


def test_k4_the_layer_of_a_threads_stack_is_known(chip: Any) -> None:
    soc = chip({THREADS: {"io": 2048}}, (f"{THREADS}.io=4 KiB",))
    assert soc.host_cpu.threads[0].size == 4096
    assert soc.layers[f"{THREADS}.io"] == "--set"


RUNS = {THREADS: {"io": 2048, "ui": 1024}, "devices.cpu.stack.runs": "io"}
OWN = f"{CORE}.threads.io"


def test_k1_models_run_on_the_stack_of_the_thread_that_is_named(chip: Any) -> None:
    cpu = chip(RUNS).host_cpu
    assert cpu.run_stack == cpu.threads[0]
    assert cpu.run_stack.name == "cpu.io.stack"
    assert cpu.max_stack_size.value == 2048
    plain = chip({THREADS: {"io": 2048}}).host_cpu
    assert plain.run_stack == plain.stack


@pytest.mark.parametrize(
    ("changes", "overrides", "value", "layer"),
    [
        ({f"{OWN}.{SIZE}": 96}, (), 96, "96"),
        ({f"{OWN}.{SIZE}": 96, f"{CORE}.{SIZE}": 80, f"limits.{SIZE}": 64}, (), 96, "96"),
        ({f"{CORE}.threads.ui.{SIZE}": 96, f"{CORE}.{SIZE}": 80}, (), 80, "80"),
        ({f"{OWN}.{SIZE}": 96}, (f"{CORE}.{SIZE}=32",), 32, "--set"),
        ({f"{CORE}.{SIZE}": 96}, (f"{OWN}.{SIZE}=32", f"{CORE}.{SIZE}=48"), 32, "--set"),
        ({f"{OWN}.{FLAG}": True, f"{CORE}.{SIZE}": 80}, (), 0, "true"),
    ],
)
def test_k4_limits_of_a_thread_are_a_layer_between_core_and_command_line(
    chip: Any, changes: dict[str, object], overrides: tuple[str, ...], value: int, layer: str
) -> None:
    limit = chip(RUNS | changes, overrides).host_cpu.max_stack_alloca_size
    assert (limit.value, line_of(limit.layer)) == (value, layer)


def test_k4_a_threads_total_fits_the_stack_of_the_thread(chip: Any, refused: Any) -> None:
    limit = chip(RUNS | {f"{OWN}.max_stack_size": 1536}).host_cpu.max_stack_size
    assert (limit.value, line_of(limit.layer)) == (1536, "1536")
    (fault,) = refused(RUNS | {f"{OWN}.max_stack_size": 4096})
    assert fault == (
        "E069 'max_stack_size' of 'cpu' is 4 KiB; the stack has 2 KiB, 512 B of it for interrupts"
    )


@pytest.mark.parametrize("key", ["devices.cpu.stack.runs", f"{CORE}.threads"])
def test_k1_a_thread_that_is_named_has_a_stack(refused: Any, key: str) -> None:
    value: object = "oi" if key.endswith("runs") else {"oi": {SIZE: 64}}
    (fault,) = refused({THREADS: {"io": 2048}, key: value})
    assert fault.startswith("E021 'devices.cpu.")
    assert fault.endswith("names thread 'oi' of 'cpu', which has no stack")


@pytest.mark.parametrize("size", [2**32 + 1, 2**63, "2147483648 GiB"])
def test_k7_a_stack_beyond_the_address_space_is_an_error(refused: Any, size: object) -> None:
    (fault,) = refused({"devices.cpu.stack.size": size})
    assert fault.startswith("E012")
