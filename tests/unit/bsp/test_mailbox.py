# SPDX-License-Identifier: Apache-2.0
"""M9: the driver of a mailbox on this machine: its hooks, what it refuses, what it returns."""

import ctypes
from collections.abc import Callable

import pytest

from atoll.bsp.headers import device_header
from atoll.bsp.render import FOLDER
from atoll.resolve.mailbox import ID, REGISTERS
from atoll.resolve.soc import ResolvedSoc

OK, WRONG_DEVICE, BUSY, TIMEOUT, ARGUMENT, ORDER = 0, -2, -3, -4, -6, -8
STATUS_BUSY, STATUS_DONE = 1, 2

STUBS = """
#include "mailbox.h"
#include "atoll_runtime.h"
#include <string.h>
static uint32_t registers[5];
static char said[256];
static uint32_t waited[2];
static int32_t (*event)(void);
static struct atoll_mailbox box = {"dsp", 0, 7, ATOLL_MAILBOX_CREATED};
struct atoll_mailbox *the_box(void);
uint32_t *the_registers(void);
uint32_t *the_wait(void);
char *the_text(void);
void on_wait(int32_t (*listener)(void));
struct atoll_mailbox *the_box(void) {
  box.registers = (uintptr_t)registers;
  return &box;
}
uint32_t *the_registers(void) { return registers; }
uint32_t *the_wait(void) { return waited; }
char *the_text(void) { return said; }
void on_wait(int32_t (*listener)(void)) { event = listener; }
void atoll_print(const char *text) { strcat(said, text); }
void atoll_print_hex(uint32_t value) { (void)value; strcat(said, "HEX"); }
void atoll_print_decimal(int32_t value) { (void)value; strcat(said, "NUMBER"); }
int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles) {
  waited[0] = line;
  waited[1] = cycles;
  return event();
}
"""
LISTENER = ctypes.CFUNCTYPE(ctypes.c_int32)


class Driver:
    """The driver on registers that are plain memory; `outcome` plays the core."""

    def __init__(self, library: ctypes.CDLL) -> None:
        library.the_box.restype = ctypes.c_void_p
        library.the_text.restype = ctypes.c_char_p
        for words in (library.the_registers, library.the_wait):
            words.restype = ctypes.POINTER(ctypes.c_uint32)
        self._library = library
        self._box = ctypes.c_void_p(library.the_box())
        self.registers = library.the_registers()
        self.outcome: tuple[int, int, int] = (1, STATUS_DONE, 0)
        self._listener = LISTENER(self._answer)
        library.on_wait(self._listener)
        self["ID"] = ID

    def _answer(self) -> int:
        pending, self["STATUS"], self["RESULT"] = self.outcome
        return pending

    def __getitem__(self, name: str) -> int:
        return int(self.registers[REGISTERS[name] // 4])

    def __setitem__(self, name: str, value: int) -> None:
        self.registers[REGISTERS[name] // 4] = value & 0xFFFF_FFFF

    def call(self, hook: str, *arguments: int) -> int:
        return int(getattr(self._library, f"atoll_mailbox_{hook}")(self._box, *arguments))

    def opened(self) -> "Driver":
        assert [self.call(hook) for hook in ("init", "activate", "open")] == [OK] * 3
        return self

    @property
    def text(self) -> str:
        return str(self._library.the_text().decode())

    @property
    def waited(self) -> tuple[int, int]:
        found = self._library.the_wait()
        return int(found[0]), int(found[1])


@pytest.fixture
def driver(
    duo: Callable[..., ResolvedSoc],
    host_library: Callable[..., ctypes.CDLL],
    tmp_path_factory: pytest.TempPathFactory,
) -> Driver:
    folder = tmp_path_factory.mktemp("mailbox")
    (folder / "atoll_devices.h").write_text(device_header(duo()))
    (folder / "mailbox.h").write_text((FOLDER / "drivers" / "mailbox.h").read_text())
    (folder / "stubs.c").write_text(STUBS)
    sources = (FOLDER / "drivers" / "mailbox.c", FOLDER / "runtime" / "status.c")
    return Driver(host_library(folder / "stubs.c", *sources, include=folder))


STATES = (
    ("init", ("init",)),
    ("activate", ("activate", "destroy")),
    ("open", ("open", "deactivate")),
    ("close", ("close",)),
    ("deactivate", ("open", "deactivate")),
    ("destroy", ("activate", "destroy")),
    ("init", ("init",)),
)


def test_m9_every_hook_needs_the_one_before_it(driver: Driver) -> None:
    """`STATES` walks through the life of a mailbox: the next hook, and what else may come."""
    for following, allowed in STATES:
        for hook in {name for name, _ in STATES} - set(allowed):
            assert driver.call(hook) == ORDER, f"{hook} instead of {following}"
        assert driver.call(following) == OK


def test_m9_only_a_mailbox_is_initialised(driver: Driver) -> None:
    driver["ID"] = 0x4645_4552
    assert driver.call("init") == WRONG_DEVICE
    assert driver.text == "dsp: no mailbox, found HEX\n"
    driver["ID"] = ID
    assert driver.call("init") == OK


def test_a_busy_core_is_not_activated_and_not_started(driver: Driver) -> None:
    assert driver.call("init") == OK
    driver["STATUS"] = STATUS_BUSY
    assert driver.call("activate") == BUSY
    driver["STATUS"] = 0
    assert [driver.call("activate"), driver.call("open")] == [OK, OK]
    driver["STATUS"] = STATUS_BUSY | STATUS_DONE
    assert driver.call("start", 3) == BUSY
    assert driver["COMMAND"] == 0


def test_a_command_is_written_and_its_answer_returned(driver: Driver) -> None:
    driver.opened()
    assert driver.call("start", 0x1_0007) == OK
    assert driver["COMMAND"] == 0x1_0007
    assert driver.call("wait", 1234) == OK
    assert driver.waited == (7, 1234)
    assert driver.text == ""


@pytest.mark.parametrize("hook", ["open", "close"])
def test_what_an_earlier_command_left_is_cleared(driver: Driver, hook: str) -> None:
    for name in ("init", "activate", "open"):
        driver["CLEAR"] = 0
        assert driver.call(name) == OK
    if hook == "close":
        driver["CLEAR"] = 0
        assert driver.call("close") == OK
    assert driver["CLEAR"] == 1


def test_m9_the_error_of_a_core_is_said_and_returned(driver: Driver) -> None:
    driver.outcome = (1, STATUS_DONE, ARGUMENT)
    assert driver.opened().call("wait", 9) == ARGUMENT
    assert driver.text == "dsp: error NUMBER (an argument is out of range)\n"


@pytest.mark.parametrize("outcome", [(0, STATUS_BUSY, 0), (1, STATUS_BUSY, 0)])
def test_no_answer_is_a_timeout(driver: Driver, outcome: tuple[int, int, int]) -> None:
    """The line alone does not count: the core must have said that it is done."""
    driver.outcome = outcome
    assert driver.opened().call("wait", 9) == TIMEOUT
    assert driver.text == "dsp: no answer\n"


def test_a_lost_interrupt_is_noticed_in_the_status(driver: Driver) -> None:
    driver.outcome = (0, STATUS_DONE, OK)
    assert driver.opened().call("wait", 9) == OK
    assert driver.text == ""


def test_a_long_wait_looks_at_the_status_now_and_then(driver: Driver) -> None:
    driver.outcome = (0, STATUS_BUSY, 0)
    assert driver.opened().call("wait", 3 * 65536 + 5) == TIMEOUT
    assert driver.waited == (7, 5)


def test_arguments_and_order_of_commands_are_checked(driver: Driver) -> None:
    assert driver.call("start", 1) == ORDER
    assert driver.call("wait", 1) == ORDER
    driver.opened()
    assert driver.call("start", -1) == ARGUMENT
    assert driver.call("wait", 0) == ARGUMENT
