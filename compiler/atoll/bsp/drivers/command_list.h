/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that run lists of commands from memory: accelerators and DMA engines.
 *
 * An engine has the registers of `struct atoll_command_list_map`, wherever it has them, with the
 * meaning that docs/reef.md and docs/ripple.md give them. */
#ifndef ATOLL_COMMAND_LIST_H
#define ATOLL_COMMAND_LIST_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_command_list_state {
  ATOLL_COMMAND_LIST_CREATED,
  ATOLL_COMMAND_LIST_INITIALISED,
  ATOLL_COMMAND_LIST_ACTIVE,
  ATOLL_COMMAND_LIST_OPEN
};

/* Where an engine has its registers. */
struct atoll_command_list_map {
  uint16_t control;
  uint16_t status;
  uint16_t error;
  uint16_t fault_address;
  uint16_t list_address;
  uint16_t list_count;
  uint16_t completed;
  uint16_t irq_enable;
  uint16_t irq_status;
};

/* What a register that describes an instance holds. */
struct atoll_command_list_identity {
  uint32_t offset;
  uint32_t value;
};

/* One instance. */
struct atoll_command_list {
  const char *name;
  uintptr_t registers;
  uint32_t irq;
  const struct atoll_command_list_identity *identity;
  uint32_t identity_count;
  struct atoll_command_list_map map;
  enum atoll_command_list_state state;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_..., of the accelerator that
 * it describes as ATOLL_<kind>_REGISTER_... */
#define ATOLL_COMMAND_LIST_CONTEXT(device, kind) \
  ATOLL_COMMAND_LIST_WITH(device, kind, LIST_ADDRESS, LIST_COUNT)

/* The same for a driver that rests on this one, with the registers where it has those of the list. */
#define ATOLL_COMMAND_LIST_WITH(device, kind, address, count)                                 \
  {                                                                                           \
    .name = ATOLL_DEVICE_##device##_NAME, .registers = ATOLL_DEVICE_##device##_REGISTERS,     \
    .irq = ATOLL_DEVICE_##device##_IRQ,                                                       \
    .identity =                                                                               \
        (const struct atoll_command_list_identity[])ATOLL_DEVICE_##device##_IDENTITY,         \
    .identity_count = ATOLL_DEVICE_##device##_IDENTITY_COUNT,                                 \
    .map = {.control = ATOLL_##kind##_REGISTER_CONTROL,                                       \
            .status = ATOLL_##kind##_REGISTER_STATUS,                                         \
            .error = ATOLL_##kind##_REGISTER_ERROR,                                           \
            .fault_address = ATOLL_##kind##_REGISTER_FAULT_ADDRESS,                           \
            .list_address = ATOLL_##kind##_REGISTER_##address,                                \
            .list_count = ATOLL_##kind##_REGISTER_##count,                                    \
            .completed = ATOLL_##kind##_REGISTER_COMPLETED,                                   \
            .irq_enable = ATOLL_##kind##_REGISTER_IRQ_ENABLE,                                 \
            .irq_status = ATOLL_##kind##_REGISTER_IRQ_STATUS},                                \
    .state = ATOLL_COMMAND_LIST_CREATED                                                       \
  }

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. Each needs the one before
 * it, else it returns ATOLL_ERROR_ORDER. */
int32_t atoll_command_list_init(struct atoll_command_list *engine);
int32_t atoll_command_list_activate(struct atoll_command_list *engine);
int32_t atoll_command_list_open(struct atoll_command_list *engine);
int32_t atoll_command_list_close(struct atoll_command_list *engine);
int32_t atoll_command_list_deactivate(struct atoll_command_list *engine);
int32_t atoll_command_list_destroy(struct atoll_command_list *engine);

/* Start `count` commands at the 64-byte aligned `commands` on an open, idle instance. */
int32_t atoll_command_list_start(const struct atoll_command_list *engine, const void *commands,
                                 int32_t count);

/* Wait for the end of what was started. Gives up when no command completes within `timeout` cycles
 * of the core. */
int32_t atoll_command_list_wait(const struct atoll_command_list *engine, uint32_t timeout);

/* Start and wait. */
int32_t atoll_command_list_run(const struct atoll_command_list *engine, const void *commands,
                               int32_t count, uint32_t timeout);

/* For drivers that rest on this one: whether there may be `count` commands at `commands`; abort what
 * does not end after `completed` commands, and say so; say which error the engine has. The last two
 * return the status. */
int32_t atoll_command_list_is_legal(const void *commands, int32_t count);
int32_t atoll_command_list_give_up(const struct atoll_command_list *engine, uint32_t completed);
int32_t atoll_command_list_fail(const struct atoll_command_list *engine);

#endif
