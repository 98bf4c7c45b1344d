/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of Arm's Ethos-U55, U65 and U85 as Atoll starts them: by Arm's own driver, which is not part of
 * this package, or, in a simulation, by Atoll's model of the NPU's border.
 *
 * With ATOLL_ETHOS_U_DRIVER defined, `ethosu_driver.h` of Arm's ethos-u-core-driver is included, and
 * its library is linked. Without it, an image links as well, and an NPU is refused when it starts. */
#ifndef ATOLL_ETHOS_U_H
#define ATOLL_ETHOS_U_H

#include <stddef.h>
#include <stdint.h>

#include "atoll_status.h"
#include "command_list.h"

#ifdef ATOLL_ETHOS_U_DRIVER
#include "ethosu_driver.h"
#endif

/* Base addresses that the NPU has. */
#define ATOLL_ETHOS_U_REGIONS 8

/* What one start needs, in the memory that the plan has for it: where Vela's commands are, then the
 * bytes that each base address is of, a bit for each that is written, and the CRC-32 of the commands
 * and of all words before it. */
struct atoll_ethos_u_block {
  uint32_t magic;
  uint32_t payload;
  uint32_t payload_size;
  uint32_t count;
  struct {
    uint32_t address;
    uint32_t size;
  } region[ATOLL_ETHOS_U_REGIONS];
  uint32_t written;
  uint32_t checksum;
};

/* One instance. */
struct atoll_ethos_u {
  struct atoll_command_list border;
#ifdef ATOLL_ETHOS_U_DRIVER
  struct atoll_ethos_u *next;
  struct ethosu_driver driver;
  uint64_t base[ATOLL_ETHOS_U_REGIONS];
  size_t size[ATOLL_ETHOS_U_REGIONS];
  uint32_t timeout;
  int32_t modelled;
#endif
};

#define ATOLL_ETHOS_U_CONTEXT(device, kind) {.border = ATOLL_COMMAND_LIST_CONTEXT(device, kind)}

/* Hooks, in this order: init, activate, open, close, deactivate, destroy. */
int32_t atoll_ethos_u_init(struct atoll_ethos_u *npu);
int32_t atoll_ethos_u_activate(struct atoll_ethos_u *npu);
int32_t atoll_ethos_u_open(struct atoll_ethos_u *npu);
int32_t atoll_ethos_u_close(struct atoll_ethos_u *npu);
int32_t atoll_ethos_u_deactivate(struct atoll_ethos_u *npu);
int32_t atoll_ethos_u_destroy(struct atoll_ethos_u *npu);

/* Start the block at `blocks`; `count` is 1. */
int32_t atoll_ethos_u_start(struct atoll_ethos_u *npu, const void *blocks, int32_t count);

/* Wait for the end of what was started, `timeout` cycles of the core at most. */
int32_t atoll_ethos_u_wait(struct atoll_ethos_u *npu, uint32_t timeout);

#endif
