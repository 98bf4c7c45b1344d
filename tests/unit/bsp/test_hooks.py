# SPDX-License-Identifier: Apache-2.0
"""M9: hooks run in order, failures propagate, what was opened is closed."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from atoll.bsp.headers import device_header, device_source
from atoll.resolve.soc import AcceleratorSpec, Npu, ResolvedSoc

HOOKS = ("init", "activate", "open", "start", "wait", "close", "deactivate", "destroy")

HEADER = """
#include <stdint.h>
#include "atoll_devices.h"
struct atoll_probe { const char *name; int32_t opened; };
#define ATOLL_PROBE_CONTEXT(device, kind) { ATOLL_DEVICE_##device##_NAME, 0 }
int32_t atoll_probe_start(struct atoll_probe *, const void *, int32_t);
int32_t atoll_probe_wait(struct atoll_probe *, uint32_t);
"""
SOURCE = """
#include "probe.h"
void probe_tell(void (*listener)(const char *, const char *, int32_t *));
static void (*tell)(const char *, const char *, int32_t *);
void probe_tell(void (*listener)(const char *, const char *, int32_t *)) { tell = listener; }
static struct atoll_probe *contexts[2];
int32_t probe_opened(int32_t number);
int32_t probe_opened(int32_t number) { return contexts[number]->opened; }
static int32_t report(const char *device, const char *hook) {
  int32_t status = 0;
  tell(device, hook, &status);
  return status;
}
int32_t atoll_probe_start(struct atoll_probe *probe, const void *commands, int32_t count) {
  (void)commands; (void)count;
  probe->opened++;
  contexts[probe->name[0] == 'r'] = probe;
  return report(probe->name, "start");
}
int32_t atoll_probe_wait(struct atoll_probe *probe, uint32_t timeout) {
  (void)timeout;
  return report(probe->name, "wait");
}
"""
PROTOTYPE = "int32_t atoll_probe_{0}(struct atoll_probe *);\n"
HOOK = (
    'int32_t atoll_probe_{0}(struct atoll_probe *probe) {{ return report(probe->name, "{0}"); }}\n'
)
LISTENER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int32))


class Probe:
    """Notes every hook; the ones in `failing` return their code."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.log: list[str] = []
        self.failing: dict[str, int] = {}
        self._listener = LISTENER(self._note)
        library.probe_tell(self._listener)

    def _note(self, device: bytes, hook: bytes, status: "ctypes._Pointer[ctypes.c_int32]") -> None:
        entry = f"{device.decode()}.{hook.decode()}"
        self.log.append(entry)
        status[0] = self.failing.get(entry, 0)


@pytest.fixture(scope="module")
def library(
    tmp_path_factory: pytest.TempPathFactory,
    host_library: Callable[..., ctypes.CDLL],
    make_soc: Callable[..., ResolvedSoc],
    make_npu: Callable[..., Npu],
    reef_spec: AcceleratorSpec,
) -> ctypes.CDLL:
    spec = replace(reef_spec, name="probe", driver="probe")
    soc = make_soc(npus=(make_npu("left", 1, spec), make_npu("right", 2, spec, irq=4)))
    folder = tmp_path_factory.mktemp("hooks")
    plain = [hook for hook in HOOKS if hook not in ("start", "wait")]
    (folder / "atoll_devices.h").write_text(device_header(soc))
    (folder / "atoll_devices.c").write_text(device_source(soc))
    (folder / "probe.h").write_text(HEADER + "".join(map(PROTOTYPE.format, plain)))
    (folder / "probe.c").write_text(SOURCE + "".join(map(HOOK.format, plain)))
    return host_library(folder / "atoll_devices.c", folder / "probe.c", include=folder)


@pytest.fixture
def probe(library: ctypes.CDLL) -> Probe:
    return Probe(library)


def test_m9_hooks_run_in_order(probe: Probe) -> None:
    assert probe.library.atoll_devices_start() == 0
    assert probe.library.atoll_npu_run(2, None, 1) == 0
    assert probe.library.atoll_devices_stop() == 0
    assert probe.log == [
        *("left.init", "left.activate", "right.init", "right.activate"),
        *("right.open", "right.start", "right.wait", "right.close"),
        *("right.deactivate", "right.destroy", "left.deactivate", "left.destroy"),
    ]


@pytest.mark.parametrize(
    ("failing", "undone"),
    [
        ("left.init", []),
        ("left.activate", ["left.destroy"]),
        ("right.init", ["left.deactivate", "left.destroy"]),
        ("right.activate", ["right.destroy", "left.deactivate", "left.destroy"]),
    ],
)
def test_m9_a_failed_start_takes_down_what_was_up(
    probe: Probe, failing: str, undone: list[str]
) -> None:
    probe.failing = {failing: -2}
    assert probe.library.atoll_devices_start() == -2
    assert probe.log[probe.log.index(failing) + 1 :] == undone


@pytest.mark.parametrize(("wait", "close"), list(product((0, -5), (0, -3))))
def test_m9_a_failed_run_is_closed_and_its_code_wins(probe: Probe, wait: int, close: int) -> None:
    probe.failing = {"left.wait": wait, "left.close": close}
    assert probe.library.atoll_npu_run(1, None, 1) == (wait or close)
    assert probe.log == ["left.open", "left.start", "left.wait", "left.close"]


def test_p6_what_did_not_start_is_closed_and_not_waited_for(probe: Probe) -> None:
    probe.failing = {"left.start": -5, "left.close": -3}
    assert probe.library.atoll_npu_start(1, None, 1) == -5
    assert probe.log == ["left.open", "left.start", "left.close"]


def test_p6_two_devices_run_at_once(probe: Probe) -> None:
    assert probe.library.atoll_npu_start(1, None, 1) == 0
    assert probe.library.atoll_npu_start(2, None, 1) == 0
    assert probe.library.atoll_npu_wait(1) == 0
    assert probe.library.atoll_npu_wait(2) == 0
    assert probe.log == [
        *("left.open", "left.start", "right.open", "right.start"),
        *("left.wait", "left.close", "right.wait", "right.close"),
    ]


def test_m9_what_did_not_open_is_neither_run_nor_closed(probe: Probe) -> None:
    probe.failing = {"left.open": -8}
    assert probe.library.atoll_npu_run(1, None, 1) == -8
    assert probe.log == ["left.open"]


def test_m9_stopping_goes_on_after_a_failure_and_returns_the_first(probe: Probe) -> None:
    probe.failing = {"right.deactivate": -3, "left.destroy": -5}
    assert probe.library.atoll_devices_stop() == -3
    assert len(probe.log) == 4


def test_the_host_is_no_accelerator(probe: Probe) -> None:
    assert probe.library.atoll_npu_run(0, None, 1) == -1
    assert probe.log == []


def test_m9_every_failure_at_every_hook_leaves_nothing_up(probe: Probe) -> None:
    """Fault injection by number: whatever fails, each hook that worked has its counterpart."""
    undo = {"init": "destroy", "activate": "deactivate", "open": "close"}
    hooks = [f"{device}.{hook}" for device in ("left", "right") for hook in HOOKS]
    for failing in (*hooks, ""):
        probe.log.clear()
        probe.failing = {failing: -7}
        started = probe.library.atoll_devices_start()
        ran = [] if started else [probe.library.atoll_npu_run(device, None, 1) for device in (1, 2)]
        stopped = 0 if started else probe.library.atoll_devices_stop()
        returned = [started, *ran, stopped]
        assert returned.count(-7) == (1 if failing else 0), f"{failing}: {returned}"
        done = [entry for entry in probe.log if entry != failing]
        for entry in done:
            device, hook = entry.split(".")
            if hook in undo:
                matching = f"{device}.{undo[hook]}"
                later = probe.log[probe.log.index(entry) :]
                assert matching in later, f"{failing} fails and {matching} is not called"


def test_m9_two_instances_have_contexts_of_their_own(probe: Probe) -> None:
    before: list[int] = []
    for device in (1, 2):
        assert probe.library.atoll_npu_run(device, None, 1) == 0
    before = [probe.library.probe_opened(number) for number in (0, 1)]
    for _ in range(3):
        assert probe.library.atoll_npu_run(2, None, 1) == 0
    after = [probe.library.probe_opened(number) for number in (0, 1)]
    assert after == [before[0], before[1] + 3]
