# SPDX-License-Identifier: Apache-2.0
"""A mailbox in memory on this machine: the driver here, the core's loop in a thread of its own."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.bsp.application import core_main
from atoll.bsp.headers import device_header
from atoll.bsp.render import FOLDER
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc

OK, BUSY, TIMEOUT, DEVICE, ARGUMENT, ORDER = 0, -3, -4, -5, -6, -8

HARNESS = """
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include "atoll_runtime.h"
#include "atoll_devices.h"
#undef ATOLL_DEVICE_DSP_MAILBOX
#define ATOLL_DEVICE_DSP_MAILBOX memory
#define ATOLL_SHARED_MAILBOX_PATIENCE patience
static uint32_t patience = 1u << 31;
static uint32_t memory[32];
static int32_t work(int32_t command);
#include "main_dsp.c"
#include "shared_mailbox.c"

enum { MOST = 1 << 20 };
static struct atoll_shared_mailbox box;
static uint8_t began[MOST];
static int32_t answer;
static pthread_t thread;
static int runs;
static uint32_t seed, chaos;
static char said[1 << 16];

void harness_power_up(uint32_t content);
void harness_boot_core(void);
void harness_halt_core(void);
void harness_reboot(void);
int32_t harness_call(int hook, int32_t value);
int harness_times_run(int32_t command);
void harness_let(int32_t result, uint32_t restarts_in_1000_waits);
void harness_be_patient(uint32_t cycles);
char *harness_text(void);

static uint32_t draw(void) { return (seed = seed * 1664525u + 1013904223u) >> 8; }
static void *core(void *unused) {
  (void)unused;
  (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, (int *)0);
  atoll_core_main();
  return 0;
}
static int32_t work(int32_t command) {
  began[command & (MOST - 1)]++;
  for (int turn = 0; turn < 3; turn++) (void)sched_yield();
  return answer;
}
void harness_boot_core(void) { runs = pthread_create(&thread, 0, core, 0) == 0; }
void harness_halt_core(void) {
  if (!runs) return;
  (void)pthread_cancel(thread);
  (void)pthread_join(thread, 0);
  runs = 0;
}
void harness_power_up(uint32_t content) {
  harness_halt_core();
  seed = content;
  for (unsigned at = 0; at < sizeof memory / sizeof memory[0]; at++) {
    memory[at] = content ? draw() << 8 ^ draw() : 0u;
  }
  harness_reboot();
}
void harness_reboot(void) {
  box.name = "dsp";
  box.address = (uintptr_t)memory;
  box.line = ATOLL_NO_LINE;
  box.state = ATOLL_SHARED_MAILBOX_CREATED;
  said[0] = 0;
}
int32_t harness_call(int hook, int32_t value) {
  switch (hook) {
    case 0: return atoll_shared_mailbox_init(&box);
    case 1: return atoll_shared_mailbox_activate(&box);
    case 2: return atoll_shared_mailbox_open(&box);
    case 3: return atoll_shared_mailbox_start(&box, value);
    case 4: return atoll_shared_mailbox_wait(&box, (uint32_t)value);
    case 5: return atoll_shared_mailbox_close(&box);
    case 6: return atoll_shared_mailbox_deactivate(&box);
    default: return atoll_shared_mailbox_destroy(&box);
  }
}
int harness_times_run(int32_t command) { return began[command]; }
void harness_let(int32_t result, uint32_t restarts) { answer = result; chaos = restarts; }
void harness_be_patient(uint32_t cycles) { patience = cycles; }
char *harness_text(void) { return said; }
void atoll_print(const char *more) { strcat(said, more); }
void atoll_print_hex(uint32_t value) { (void)value; }
void atoll_print_decimal(int32_t value) { (void)value; strcat(said, "NUMBER"); }
int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles) {
  if (line != ATOLL_NO_LINE || cycles > ATOLL_SHARED_MAILBOX_PERIOD) return 1;
  if (runs && !pthread_equal(pthread_self(), thread) && draw() % 1000 < chaos) {
    harness_halt_core();
    harness_boot_core();
  }
  (void)nanosleep(&(struct timespec){0, 1000}, 0);
  return 0;
}
"""
PATIENT = 2**31 - 1
HOOKS = ("init", "activate", "open", "start", "wait", "close", "deactivate", "destroy")


class Pair:
    """The driver, and the loop of the core."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.harness_text.restype = ctypes.c_char_p
        self.library = library

    def call(self, hook: str, value: int = 0) -> int:
        return int(self.library.harness_call(HOOKS.index(hook), value))

    def connect(self) -> None:
        assert [self.call(hook) for hook in ("init", "activate", "open")] == [OK] * 3

    @property
    def text(self) -> str:
        return str(self.library.harness_text().decode())


@pytest.fixture(scope="module")
def chip() -> ResolvedSoc:
    return load_soc("twin", ["devices.dsp.mailbox=sram", "devices.dsp.irq=null"])


@pytest.fixture
def pair(
    chip: ResolvedSoc,
    host_library: Callable[..., ctypes.CDLL],
    tmp_path: Path,
) -> Pair:
    core = chip.device("dsp")
    assert isinstance(core, Cpu)
    loop = core_main(chip, core, ())
    assert "return ATOLL_ERROR_ARGUMENT;" in loop
    loop = loop.replace("return ATOLL_ERROR_ARGUMENT;", "return work((int32_t)command);")
    (tmp_path / "atoll_devices.h").write_text(device_header(chip))
    (tmp_path / "main_dsp.c").write_text(loop)
    for name in ("shared_mailbox.h", "shared_mailbox.c"):
        (tmp_path / name).write_text((FOLDER / "drivers" / name).read_text())
    (tmp_path / "harness.c").write_text(HARNESS)
    sources = (tmp_path / "harness.c", FOLDER / "runtime" / "status.c")
    return Pair(host_library(*sources, include=tmp_path))


@pytest.mark.parametrize("content", [0, 1, 2, 3])
def test_m9_commands_run_once_whatever_memory_held(pair: Pair, content: int) -> None:
    pair.library.harness_power_up(content)
    pair.library.harness_boot_core()
    pair.connect()
    for number in range(1, 300):
        assert (pair.call("start", number), pair.call("wait", PATIENT)) == (OK, OK)
        assert pair.library.harness_times_run(number) == 1
    pair.library.harness_halt_core()
    assert pair.text == ""


def test_m9_a_core_that_has_not_begun_is_not_asked(pair: Pair) -> None:
    pair.library.harness_power_up(7)
    pair.library.harness_be_patient(10**4)
    assert (pair.call("init"), pair.call("activate")) == (OK, TIMEOUT)
    pair.library.harness_be_patient(PATIENT)
    assert pair.text == "dsp: has not begun\n"
    assert pair.call("open") == ORDER
    pair.library.harness_boot_core()
    assert (pair.call("activate"), pair.call("open")) == (OK, OK)
    pair.library.harness_halt_core()


def test_m9_what_the_core_answers_is_returned(pair: Pair) -> None:
    pair.library.harness_power_up(0)
    pair.library.harness_let(ARGUMENT, 0)
    pair.library.harness_boot_core()
    pair.connect()
    assert (pair.call("start", 3), pair.call("wait", PATIENT)) == (OK, ARGUMENT)
    assert pair.text == "dsp: error NUMBER (an argument is out of range)\n"
    pair.library.harness_halt_core()
    assert (pair.call("start", 4), pair.call("start", 5)) == (OK, BUSY)
    assert pair.call("wait", 1000) == TIMEOUT
    assert pair.text.endswith("dsp: no answer\n")
    assert (pair.call("start", -1), pair.call("wait", 0)) == (ARGUMENT, ARGUMENT)


def test_m9_no_old_command_runs_after_any_reset(pair: Pair) -> None:
    """The core restarts at any instruction, the host between any two calls, memory stays."""
    pair.library.harness_power_up(11)
    pair.library.harness_boot_core()
    pair.connect()
    failed = 0
    for number in range(1, 4000):
        pair.library.harness_let(OK, 300 * (number % 3 == 0))
        if number % 4 == 1:  # the host restarts while the core may be running what it was sent
            pair.call("start", number)
            pair.library.harness_reboot()
            pair.connect()
            before = pair.library.harness_times_run(number)
        else:
            assert pair.call("start", number) == OK
            status = pair.call("wait", PATIENT)
            assert status in (OK, DEVICE)
            failed += status == DEVICE
            before = pair.library.harness_times_run(number)
            assert before == 1 or status == DEVICE
        assert before <= 1
        assert pair.call("start", 0) == OK
        assert pair.call("wait", PATIENT) in (OK, DEVICE)
        assert pair.library.harness_times_run(number) == before, "it ran late"
    pair.library.harness_halt_core()
    assert failed, "no restart met a command"


STATES = (
    ("init", ("init",)),
    ("activate", ("activate", "destroy")),
    ("open", ("open", "deactivate")),
    ("close", ("close",)),
    ("deactivate", ("open", "deactivate")),
    ("destroy", ("activate", "destroy")),
    ("init", ("init",)),
)


def test_m9_every_hook_needs_the_one_before_it(pair: Pair) -> None:
    pair.library.harness_power_up(0)
    pair.library.harness_boot_core()
    for following, allowed in STATES:
        for hook in {name for name, _ in STATES} - set(allowed):
            assert pair.call(hook) == ORDER, f"{hook} instead of {following}"
        assert pair.call(following) == OK
    pair.library.harness_halt_core()
