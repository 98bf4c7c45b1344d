/* SPDX-License-Identifier: Apache-2.0 */
/* What the firewalls kept back and the bus failed, and the watchdog: the guard registers of
 * docs/platform.md. */
#include "atoll_devices.h"
#include "atoll_runtime.h"

/* A host that does not report for this many of its cycles has failed. */
#ifndef ATOLL_WATCHDOG_CYCLES
#define ATOLL_WATCHDOG_CYCLES UINT32_MAX
#endif

enum { CAUSE_WRITE = 1, CAUSE_BUS = 2 };

static uint32_t get(uint32_t offset) {
  return atoll_read(ATOLL_GUARD_ORIGIN + offset);
}

static void set(uint32_t offset, uint32_t value) {
  atoll_write(ATOLL_GUARD_ORIGIN + offset, value);
}

void atoll_guard_start(void) {
  set(ATOLL_GUARD_STATUS, UINT32_MAX);
  set(ATOLL_GUARD_IRQ_ENABLE, UINT32_MAX);
}

/* Say what was refused to a device; returns its status. */
static int32_t report(uint32_t device) {
  const uint32_t first = ATOLL_GUARD_FIRST + 8u * device;
  const uint32_t cause = get(first + 4u);
  const int32_t status = (cause & CAUSE_BUS) != 0u ? ATOLL_ERROR_BUS : ATOLL_ERROR_VIOLATION;
  atoll_print(status == ATOLL_ERROR_BUS ? "bus: " : "firewall: ");
  atoll_print(atoll_device_table[device].name);
  atoll_print(status == ATOLL_ERROR_BUS ? " could not " : " may not ");
  atoll_print((cause & CAUSE_WRITE) != 0u ? "write " : "read ");
  atoll_print_hex(get(first));
  atoll_print("\n");
  return status;
}

int32_t atoll_guard_check(int32_t status) {
  const uint32_t violated = get(ATOLL_GUARD_STATUS);
  int32_t worst = ATOLL_ERROR_BUS;
  set(ATOLL_GUARD_KICK, 1u);
  if (violated == 0u) return status;
  for (uint32_t device = 0; device < ATOLL_DEVICE_COUNT; device++)
    if ((violated >> device & 1u) != 0u && report(device) == ATOLL_ERROR_VIOLATION)
      worst = ATOLL_ERROR_VIOLATION;
  set(ATOLL_GUARD_STATUS, violated);
  return worst;
}

void atoll_watchdog_start(void) {
  set(ATOLL_GUARD_PERIOD, ATOLL_WATCHDOG_CYCLES);
}

void atoll_watchdog_stop(void) {
  set(ATOLL_GUARD_PERIOD, 0u);
}

void atoll_watchdog_report(void) {
  if (get(ATOLL_GUARD_RESTARTED) == 0u) return;
  set(ATOLL_GUARD_RESTARTED, 1u);
  atoll_print("watchdog: the host did not report, the chip was restarted\n");
}
