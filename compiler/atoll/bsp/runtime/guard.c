/* What the firewalls kept back: the guard registers of docs/platform.md. */
#include "atoll_devices.h"
#include "atoll_runtime.h"

enum { GUARD_STATUS = 0x000, GUARD_IRQ_ENABLE = 0x004, GUARD_FIRST = 0x100 };

static uint32_t get(uint32_t offset) {
  return atoll_read(ATOLL_GUARD_ORIGIN + offset);
}

static void set(uint32_t offset, uint32_t value) {
  atoll_write(ATOLL_GUARD_ORIGIN + offset, value);
}

void atoll_guard_start(void) {
  set(GUARD_STATUS, UINT32_MAX);
  set(GUARD_IRQ_ENABLE, UINT32_MAX);
}

static void report(uint32_t device) {
  const uint32_t first = GUARD_FIRST + 8u * device;
  atoll_print("firewall: ");
  atoll_print(atoll_device_table[device].name);
  atoll_print(get(first + 4u) != 0u ? " may not write " : " may not read ");
  atoll_print_hex(get(first));
  atoll_print("\n");
}

int32_t atoll_guard_check(int32_t status) {
  const uint32_t violated = get(GUARD_STATUS);
  if (violated == 0u) return status;
  for (uint32_t device = 0; device < ATOLL_DEVICE_COUNT; device++)
    if ((violated >> device & 1u) != 0u) report(device);
  set(GUARD_STATUS, violated);
  return ATOLL_ERROR_VIOLATION;
}
