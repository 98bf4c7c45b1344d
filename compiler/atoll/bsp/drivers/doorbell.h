/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that take commands from memory one by one: the address of each is written to a
 * doorbell, behind which there is a queue.
 *
 * An engine has the registers of `struct atoll_doorbell_map`, wherever it has them, with the meaning
 * that docs/accelerators.md gives them. */
#ifndef ATOLL_DOORBELL_H
#define ATOLL_DOORBELL_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_doorbell_state {
  ATOLL_DOORBELL_CREATED,
  ATOLL_DOORBELL_INITIALISED,
  ATOLL_DOORBELL_ACTIVE,
  ATOLL_DOORBELL_OPEN
};

/* Where an engine has its registers. */
struct atoll_doorbell_map {
  uint16_t control;
  uint16_t status;
  uint16_t error;
  uint16_t fault_address;
  uint16_t doorbell;
  uint16_t queue;
  uint16_t completed;
  uint16_t irq_enable;
  uint16_t irq_status;
};

/* What a register that describes an instance holds. */
struct atoll_doorbell_identity {
  uint32_t offset;
  uint32_t value;
};

/* One instance, and what it has been given. */
struct atoll_doorbell {
  const char *name;
  uintptr_t registers;
  uint32_t irq;
  const struct atoll_doorbell_identity *identity;
  uint32_t identity_count;
  struct atoll_doorbell_map map;
  enum atoll_doorbell_state state;
  uintptr_t commands;
  uint32_t count;
  uint32_t rung;
  uint32_t completed_before;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_..., of the accelerator that
 * it describes as ATOLL_<kind>_REGISTER_... */
#define ATOLL_DOORBELL_CONTEXT(device, kind)                                                  \
  {                                                                                           \
    .name = ATOLL_DEVICE_##device##_NAME, .registers = ATOLL_DEVICE_##device##_REGISTERS,     \
    .irq = ATOLL_DEVICE_##device##_IRQ,                                                       \
    .identity = (const struct atoll_doorbell_identity[])ATOLL_DEVICE_##device##_IDENTITY,     \
    .identity_count = ATOLL_DEVICE_##device##_IDENTITY_COUNT,                                 \
    .map = {.control = ATOLL_##kind##_REGISTER_CONTROL,                                       \
            .status = ATOLL_##kind##_REGISTER_STATUS,                                         \
            .error = ATOLL_##kind##_REGISTER_ERROR,                                           \
            .fault_address = ATOLL_##kind##_REGISTER_FAULT_ADDRESS,                           \
            .doorbell = ATOLL_##kind##_REGISTER_DOORBELL,                                     \
            .queue = ATOLL_##kind##_REGISTER_QUEUE,                                           \
            .completed = ATOLL_##kind##_REGISTER_COMPLETED,                                   \
            .irq_enable = ATOLL_##kind##_REGISTER_IRQ_ENABLE,                                 \
            .irq_status = ATOLL_##kind##_REGISTER_IRQ_STATUS},                                \
    .state = ATOLL_DOORBELL_CREATED, .commands = 0u, .count = 0u, .rung = 0u,                 \
    .completed_before = 0u                                                                    \
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
