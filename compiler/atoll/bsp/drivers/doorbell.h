/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that take commands from memory one by one: the address of each is written to a
 * doorbell, behind which there is a queue.
 *
 * An engine has the registers that docs/accelerators.md gives, wherever it has them. */
#ifndef ATOLL_DOORBELL_H
#define ATOLL_DOORBELL_H

#include <stdint.h>

#include "command_list.h"

/* One instance, whose doorbell is where engines of the other driver have the address of a list, and
 * whose queue is where they have its count; and what it has been given. */
struct atoll_doorbell {
  struct atoll_command_list base;
  uintptr_t commands;
  uint32_t count;
  uint32_t rung;
  uint32_t completed_before;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_..., of the accelerator that
 * it describes as ATOLL_<kind>_REGISTER_... */
#define ATOLL_DOORBELL_CONTEXT(device, kind)                                                  \
  {                                                                                           \
    .base = ATOLL_COMMAND_LIST_WITH(device, kind, DOORBELL, QUEUE), .commands = 0u,           \
    .count = 0u, .rung = 0u, .completed_before = 0u                                           \
  }

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. Each needs the one before
 * it, else it returns ATOLL_ERROR_ORDER. */
int32_t atoll_doorbell_init(struct atoll_doorbell *engine);
int32_t atoll_doorbell_activate(struct atoll_doorbell *engine);
int32_t atoll_doorbell_open(struct atoll_doorbell *engine);
int32_t atoll_doorbell_close(struct atoll_doorbell *engine);
int32_t atoll_doorbell_deactivate(struct atoll_doorbell *engine);
int32_t atoll_doorbell_destroy(struct atoll_doorbell *engine);

/* Ring for as many of the `count` commands at the 64-byte aligned `commands` as the queue of an open,
 * idle instance has places for. */
int32_t atoll_doorbell_start(struct atoll_doorbell *engine, const void *commands, int32_t count);

/* Ring for the rest as there are places, and wait for the end of all. Gives up when no command
 * completes within `timeout` cycles of the core. */
int32_t atoll_doorbell_wait(struct atoll_doorbell *engine, uint32_t timeout);

/* Start and wait. */
int32_t atoll_doorbell_run(struct atoll_doorbell *engine, const void *commands, int32_t count,
                           uint32_t timeout);

#endif
