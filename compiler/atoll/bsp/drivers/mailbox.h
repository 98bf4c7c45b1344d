/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the mailbox through which the host has another core run operators; docs/platform.md is
 * its contract. */
#ifndef ATOLL_MAILBOX_H
#define ATOLL_MAILBOX_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_mailbox_state {
  ATOLL_MAILBOX_CREATED,
  ATOLL_MAILBOX_INITIALISED,
  ATOLL_MAILBOX_ACTIVE,
  ATOLL_MAILBOX_OPEN
};

/* The mailbox of one core, as its host sees it. */
struct atoll_mailbox {
  const char *name;
  uintptr_t registers;
  uint32_t irq;
  enum atoll_mailbox_state state;
};

/* The mailbox that atoll_devices.h describes as ATOLL_DEVICE_<device>_... */
#define ATOLL_MAILBOX_CONTEXT(device)                                                               \
  {                                                                                                 \
    ATOLL_DEVICE_##device##_NAME, ATOLL_DEVICE_##device##_REGISTERS, ATOLL_DEVICE_##device##_IRQ,   \
        ATOLL_MAILBOX_CREATED                                                                       \
  }

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. Each needs the one before
 * it, else it returns ATOLL_ERROR_ORDER. */
int32_t atoll_mailbox_init(struct atoll_mailbox *mailbox);
int32_t atoll_mailbox_activate(struct atoll_mailbox *mailbox);
int32_t atoll_mailbox_open(struct atoll_mailbox *mailbox);
int32_t atoll_mailbox_close(struct atoll_mailbox *mailbox);
int32_t atoll_mailbox_deactivate(struct atoll_mailbox *mailbox);
int32_t atoll_mailbox_destroy(struct atoll_mailbox *mailbox);

/* Have the idle core behind an open mailbox run `command`. */
int32_t atoll_mailbox_start(const struct atoll_mailbox *mailbox, int32_t command);

/* Wait for the end of what was started, at most `timeout` cycles of the host, and return what the
 * core answers. A core that did not answer in time stays busy until it does. */
int32_t atoll_mailbox_wait(const struct atoll_mailbox *mailbox, uint32_t timeout);

#endif
