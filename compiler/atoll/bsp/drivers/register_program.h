/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that the host drives by their registers, with steps that their description
 * has: steps_<accelerator>.c, which Atoll writes. */
#ifndef ATOLL_REGISTER_PROGRAM_H
#define ATOLL_REGISTER_PROGRAM_H

#include <stdint.h>

#include "atoll_devices.h"
#include "atoll_status.h"

enum atoll_register_program_state {
  ATOLL_REGISTER_PROGRAM_CREATED,
  ATOLL_REGISTER_PROGRAM_INITIALISED,
  ATOLL_REGISTER_PROGRAM_ACTIVE,
  ATOLL_REGISTER_PROGRAM_OPEN
};

/* What it means that bits of a register are not 0. */
struct atoll_failure {
  uint32_t offset;
  uint32_t mask;
  const char *means;
};

/* What a register that describes an instance holds. */
struct atoll_register_program_identity {
  uint32_t offset;
  uint32_t value;
};

/* One instance. */
struct atoll_register_program {
  const char *name;
  uintptr_t registers;
  uint32_t irq; /* no line if 32 or more */
  const struct atoll_register_program_identity *identity;
  uint32_t identity_count;
  const uint32_t *record;
  uint32_t timeout;
  enum atoll_register_program_state state;
};

/* The instance that atoll_devices.h describes as ATOLL_DEVICE_<device>_... */
#define ATOLL_REGISTER_PROGRAM(device)                                                            \
  {                                                                                               \
    .name = ATOLL_DEVICE_##device##_NAME, .registers = ATOLL_DEVICE_##device##_REGISTERS,         \
    .irq = ATOLL_DEVICE_##device##_IRQ,                                                           \
    .identity =                                                                                   \
        (const struct atoll_register_program_identity[])ATOLL_DEVICE_##device##_IDENTITY,         \
    .identity_count = ATOLL_DEVICE_##device##_IDENTITY_COUNT, .record = 0,                        \
    .timeout = ATOLL_NPU_TIMEOUT, .state = ATOLL_REGISTER_PROGRAM_CREATED                         \
  }

/* Go from one state to the next, or return ATOLL_ERROR_ORDER. */
int32_t atoll_register_program_step(struct atoll_register_program *engine,
                                    enum atoll_register_program_state from,
                                    enum atoll_register_program_state to);

/* Compare the registers that describe the instance. */
int32_t atoll_register_program_init(struct atoll_register_program *engine);

/* Keep a record whose kind is below `kinds`, of an open instance. */
int32_t atoll_register_program_accept(struct atoll_register_program *engine,
                                      const void *commands, int32_t count, uint32_t kinds);

/* Look at registers that tell what went wrong. */
int32_t atoll_register_program_outcome(const struct atoll_register_program *engine,
                                       const struct atoll_failure *failures, uint32_t count);

/* What steps do; `offset` is that of a register. Write one. */
void atoll_step_write(const struct atoll_register_program *engine, uint32_t offset,
                      uint32_t value);

/* Wait until the bits under `mask` are `equals`, or longer than the timeout. */
int32_t atoll_step_wait(const struct atoll_register_program *engine, uint32_t offset,
                        uint32_t mask, uint32_t equals);

/* Write the `size` bytes from `address` on to a window; the last word is filled with zeros. */
void atoll_step_push(const struct atoll_register_program *engine, uint32_t offset,
                     uint32_t address, uint32_t size);

/* Read `size` bytes from a window to `address` on. */
void atoll_step_pop(const struct atoll_register_program *engine, uint32_t offset,
                    uint32_t address, uint32_t size);

/* Write the `size` bytes from `address` on to memory at `offset`; the last word is filled with
   zeros. */
void atoll_step_store(const struct atoll_register_program *engine, uint32_t offset,
                      uint32_t address, uint32_t size);

/* Read `size` bytes from memory at `offset` to `address` on. */
void atoll_step_load(const struct atoll_register_program *engine, uint32_t offset,
                     uint32_t address, uint32_t size);

#endif
