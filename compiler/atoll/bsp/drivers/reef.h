/* Driver of the reef accelerator; docs/reef.md is its contract. */
#ifndef ATOLL_REEF_H
#define ATOLL_REEF_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_reef_state {
  ATOLL_REEF_CREATED,
  ATOLL_REEF_INITIALISED,
  ATOLL_REEF_ACTIVE,
  ATOLL_REEF_OPEN
};

/* One instance. */
struct atoll_reef {
  const char *name;
  uintptr_t registers;
  uint32_t irq;
  uint32_t params;
  uint32_t weight_rows;
  enum atoll_reef_state state;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_... */
#define ATOLL_REEF_CONTEXT(device)                                                               \
  {                                                                                              \
    ATOLL_DEVICE_##device##_NAME, ATOLL_DEVICE_##device##_REGISTERS, ATOLL_DEVICE_##device##_IRQ, \
        ATOLL_DEVICE_##device##_INPUT_LANES | ATOLL_DEVICE_##device##_OUTPUT_LANES << 8 |         \
            ATOLL_DEVICE_##device##_DATA_BYTES << 16 | 1u << 24,                                  \
        ATOLL_DEVICE_##device##_WEIGHT_ROWS, ATOLL_REEF_CREATED                                   \
  }

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. Each needs the one before
 * it, else it returns ATOLL_ERROR_ORDER. */
int32_t atoll_reef_init(struct atoll_reef *reef);
int32_t atoll_reef_activate(struct atoll_reef *reef);
int32_t atoll_reef_open(struct atoll_reef *reef);
int32_t atoll_reef_close(struct atoll_reef *reef);
int32_t atoll_reef_deactivate(struct atoll_reef *reef);
int32_t atoll_reef_destroy(struct atoll_reef *reef);

/* Start `count` commands at the 64-byte aligned `commands` on an open, idle instance. */
int32_t atoll_reef_start(const struct atoll_reef *reef, const void *commands, int32_t count);

/* Wait for the end of what was started. Gives up when no command completes within `timeout` cycles
 * of the core. */
int32_t atoll_reef_wait(const struct atoll_reef *reef, uint32_t timeout);

/* Start and wait. */
int32_t atoll_reef_run(const struct atoll_reef *reef, const void *commands, int32_t count,
                       uint32_t timeout);

#endif
