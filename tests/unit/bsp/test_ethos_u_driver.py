# SPDX-License-Identifier: Apache-2.0
"""How long Arm's driver waits: its semaphores, which are Atoll's, with a stand-in for the rest."""

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.bsp.headers import device_header
from atoll.bsp.render import FOLDER
from atoll.resolve.soc import ResolvedSoc

TURN = 65_536

DRIVER = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
enum { ETHOSU_JOB_IDLE, ETHOSU_JOB_RUNNING };
struct ethosu_driver { struct { int state; } job; };
int ethosu_init(struct ethosu_driver *, void *, const void *, size_t, uint32_t, uint32_t);
void ethosu_deinit(struct ethosu_driver *);
void ethosu_irq_handler(struct ethosu_driver *);
int ethosu_wait(struct ethosu_driver *, bool);
int ethosu_invoke_async(struct ethosu_driver *, const void *, int, uint64_t *, size_t *, int,
                        void *);
"""
STUBS = """
#define ATOLL_ETHOS_U_DRIVER
#include "ethos_u.c"
static uint32_t registers[64], ends, turns;
static void *taken;
static struct atoll_ethos_u npu = {.border = {.state = ATOLL_COMMAND_LIST_CREATED}};
void ethosu_deinit(struct ethosu_driver *driver) { (void)driver; }
void ethosu_irq_handler(struct ethosu_driver *driver) {
  driver->job.state = ETHOSU_JOB_IDLE;
  ethosu_semaphore_give(taken);
}
int ethosu_init(struct ethosu_driver *driver, void *base, const void *fast, size_t size,
                uint32_t secure, uint32_t privileged) {
  (void)base, (void)fast, (void)size, (void)secure, (void)privileged;
  driver->job.state = ETHOSU_JOB_RUNNING;
  return 0;
}
int ethosu_wait(struct ethosu_driver *driver, bool block) {
  (void)driver;
  return ethosu_semaphore_take(taken, block ? UINT64_MAX : 0u);
}
int ethosu_invoke_async(struct ethosu_driver *driver, const void *data, int size, uint64_t *base,
                        size_t *sizes, int count, void *user) {
  (void)driver, (void)data, (void)size, (void)base, (void)sizes, (void)count, (void)user;
  return 0;
}
void atoll_print(const char *text) { (void)text; }
void atoll_print_hex(uint32_t value) { (void)value; }
void atoll_print_decimal(int32_t value) { (void)value; }
int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles) {
  (void)line, (void)cycles;
  return ++turns == ends || turns > 99u;
}
/* Wait for a job that ends in a turn; return the turns that were waited, negative if in vain. */
int32_t wait_for(uint32_t end, uint32_t timeout);
int32_t wait_for(uint32_t end, uint32_t timeout) {
  static const struct atoll_command_list_identity identity[] = {{.offset = 0u, .value = 1u}};
  npu.border.registers = (uintptr_t)registers;
  npu.border.identity = identity;
  taken = ethosu_semaphore_create();
  ends = end;
  if (atoll_ethos_u_init(&npu) || atoll_ethos_u_activate(&npu) || atoll_ethos_u_open(&npu))
    return 1000;
  return atoll_ethos_u_wait(&npu, timeout) == ATOLL_OK ? (int32_t)turns : -(int32_t)turns;
}
"""


@pytest.mark.parametrize(
    ("end", "timeout", "noticed"),
    [(1, TURN, 1), (3, 3 * TURN, 3), (4, 3 * TURN, -3), (2, 1, -1), (2, TURN + 1, 2)],
)
def test_a_wait_ends_with_the_interrupt_or_in_time(
    end: int,
    timeout: int,
    noticed: int,
    host_library: Callable[..., ctypes.CDLL],
    make_soc: Callable[..., ResolvedSoc],
    tmp_path: Path,
) -> None:
    (tmp_path / "ethosu_driver.h").write_text(DRIVER)
    (tmp_path / "atoll_devices.h").write_text(device_header(make_soc()))
    drivers = FOLDER / "drivers"
    for name in ("ethos_u.c", "ethos_u.h", "command_list.c", "command_list.h"):
        (tmp_path / name).write_text((drivers / name).read_text())
    (tmp_path / "stubs.c").write_text(STUBS)
    library = host_library(*tmp_path.glob("[cs]*.c"), include=tmp_path)
    assert library.wait_for(ctypes.c_uint32(end), ctypes.c_uint32(timeout)) == noticed
