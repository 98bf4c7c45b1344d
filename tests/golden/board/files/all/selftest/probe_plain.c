/* Made by `atoll bsp`; edits are refused, see README.md. */
/* Single accesses of a core that does not trap: the host learns of a refusal otherwise. */
#include "atoll_selftest.h"

int32_t atoll_probe_load(uintptr_t address, uint32_t *value) {
  *value = *(const volatile uint32_t *)address;
  return 0;
}

int32_t atoll_probe_store(uintptr_t address, uint32_t value) {
  *(volatile uint32_t *)address = value;
  return 0;
}
