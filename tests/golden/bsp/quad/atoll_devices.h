/* Made from quad.yaml by `atoll build`; edits are lost.
 *
 * The devices of 'quad': the one enumeration, their registers and their interrupts.
 */
#ifndef ATOLL_DEVICES_H
#define ATOLL_DEVICES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ordinals. */
enum atoll_device {
  ATOLL_DEVICE_CPU0 = 0,
  ATOLL_DEVICE_CPU1 = 1,
  ATOLL_DEVICE_CPU2 = 2,
  ATOLL_DEVICE_CPU3 = 3
};

#define ATOLL_DEVICE_COUNT 4
#define ATOLL_HOST ATOLL_DEVICE_CPU0

/* Registers of the test bench. */
#define ATOLL_CONSOLE_ORIGIN UINT32_C(0xF0000000)

/* Registers that tell what firewalls kept back. */
#define ATOLL_GUARD_ORIGIN UINT32_C(0xF0000800)

/* cpu0: cpu. */
#define ATOLL_DEVICE_CPU0_NAME "cpu0"
#define ATOLL_DEVICE_CPU0_TYPE 1
#define ATOLL_DEVICE_CPU0_ID 0
#define ATOLL_DEVICE_CPU0_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_CPU0_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU0_ACCELERATOR ""
#define ATOLL_DEVICE_CPU0_LOADER "xip"

/* cpu1: cpu. */
#define ATOLL_DEVICE_CPU1_NAME "cpu1"
#define ATOLL_DEVICE_CPU1_TYPE 1
#define ATOLL_DEVICE_CPU1_ID 1
#define ATOLL_DEVICE_CPU1_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_CPU1_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU1_ACCELERATOR ""
#define ATOLL_DEVICE_CPU1_LOADER "xip"
#define ATOLL_DEVICE_CPU1_REGISTERS UINT32_C(0x40001000)
#define ATOLL_DEVICE_CPU1_IRQ UINT32_C(4)

/* cpu2: cpu. */
#define ATOLL_DEVICE_CPU2_NAME "cpu2"
#define ATOLL_DEVICE_CPU2_TYPE 1
#define ATOLL_DEVICE_CPU2_ID 2
#define ATOLL_DEVICE_CPU2_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_CPU2_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU2_ACCELERATOR ""
#define ATOLL_DEVICE_CPU2_LOADER "xip"
#define ATOLL_DEVICE_CPU2_REGISTERS UINT32_C(0x40002000)
#define ATOLL_DEVICE_CPU2_IRQ UINT32_C(5)

/* cpu3: cpu. */
#define ATOLL_DEVICE_CPU3_NAME "cpu3"
#define ATOLL_DEVICE_CPU3_TYPE 1
#define ATOLL_DEVICE_CPU3_ID 3
#define ATOLL_DEVICE_CPU3_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_CPU3_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU3_ACCELERATOR ""
#define ATOLL_DEVICE_CPU3_LOADER "xip"
#define ATOLL_DEVICE_CPU3_REGISTERS UINT32_C(0x40003000)
#define ATOLL_DEVICE_CPU3_IRQ UINT32_C(6)

/* Register offsets of mailbox. */
#define ATOLL_MAILBOX_REGISTER_ID UINT32_C(0x000)
#define ATOLL_MAILBOX_REGISTER_COMMAND UINT32_C(0x004)
#define ATOLL_MAILBOX_REGISTER_STATUS UINT32_C(0x008)
#define ATOLL_MAILBOX_REGISTER_RESULT UINT32_C(0x00C)
#define ATOLL_MAILBOX_REGISTER_CLEAR UINT32_C(0x010)

/* Interrupt line at a core that stays high while the host waits for it. */
#define ATOLL_MAILBOX_LINE UINT32_C(3)

/* One row of the table: DLPack device type and id, and where its registers are (0: none). */
struct atoll_device_row {
  const char *name;
  int32_t type;
  int32_t id;
  uint32_t clock;
  uintptr_t registers;
};

/* Rows by ordinal. */
extern const struct atoll_device_row atoll_device_table[ATOLL_DEVICE_COUNT];

/* Bring every accelerator and core up. On an error those that are up already go down again. */
int32_t atoll_devices_start(void);

/* Take every accelerator and core down, in reverse order; returns the first error. */
int32_t atoll_devices_stop(void);

/* Start `count` commands on the accelerator or DMA engine with ordinal `device`; one list at a time. */
int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count);

/* Wait for the end of what was started on `device`. */
int32_t atoll_npu_wait(int32_t device);

/* Start and wait. */
int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count);

/* Have the core with ordinal `device` run a command: a step's number, above it the position of its
 * model in the firmware. */
int32_t atoll_core_start(int32_t device, int32_t command);

/* Wait for the end of what was started on the core `device`; returns what it answers. */
int32_t atoll_core_wait(int32_t device);

/* Start and wait. */
int32_t atoll_core_run(int32_t device, int32_t command);

#ifdef __cplusplus
}
#endif

#endif
