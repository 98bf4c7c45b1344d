/* Driver of the ripple DMA engine; docs/ripple.md is its contract. */
#ifndef ATOLL_RIPPLE_H
#define ATOLL_RIPPLE_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_ripple_state {
  ATOLL_RIPPLE_CREATED,
  ATOLL_RIPPLE_INITIALISED,
  ATOLL_RIPPLE_ACTIVE,
  ATOLL_RIPPLE_OPEN
};

/* One instance. */
struct atoll_ripple {
  const char *name;
  uintptr_t registers;
  uint32_t irq;
  uint32_t params;
  enum atoll_ripple_state state;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_... */
#define ATOLL_RIPPLE_CONTEXT(device)                                   \
  {                                                                    \
    ATOLL_DEVICE_##device##_NAME, ATOLL_DEVICE_##device##_REGISTERS,   \
        ATOLL_DEVICE_##device##_IRQ,                                   \
        ATOLL_DEVICE_##device##_DATA_BYTES << 16 | 1u << 24,           \
        ATOLL_RIPPLE_CREATED                                           \
  }

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. Each needs the one before
 * it, else it returns ATOLL_ERROR_ORDER. */
int32_t atoll_ripple_init(struct atoll_ripple *ripple);
int32_t atoll_ripple_activate(struct atoll_ripple *ripple);
int32_t atoll_ripple_open(struct atoll_ripple *ripple);
int32_t atoll_ripple_close(struct atoll_ripple *ripple);
int32_t atoll_ripple_deactivate(struct atoll_ripple *ripple);
int32_t atoll_ripple_destroy(struct atoll_ripple *ripple);

/* Start `count` commands at the 64-byte aligned `commands` on an open, idle instance. */
int32_t atoll_ripple_start(const struct atoll_ripple *ripple, const void *commands, int32_t count);

/* Wait for the end of what was started. Gives up when no command completes within `timeout` cycles
 * of the core. */
int32_t atoll_ripple_wait(const struct atoll_ripple *ripple, uint32_t timeout);

/* Start and wait. */
int32_t atoll_ripple_run(const struct atoll_ripple *ripple, const void *commands, int32_t count,
                       uint32_t timeout);

#endif
