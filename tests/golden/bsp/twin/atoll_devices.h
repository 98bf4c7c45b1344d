/* Made from twin.yaml by `atoll build`; edits are lost.
 *
 * The devices of 'twin': the one enumeration, their registers and their interrupts.
 */
#ifndef ATOLL_DEVICES_H
#define ATOLL_DEVICES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ordinals. */
enum atoll_device {
  ATOLL_DEVICE_CPU = 0,
  ATOLL_DEVICE_DSP = 1,
  ATOLL_DEVICE_NPU_LARGE = 2,
  ATOLL_DEVICE_NPU_SMALL = 3,
  ATOLL_DEVICE_DMA = 4
};

#define ATOLL_DEVICE_COUNT 5
#define ATOLL_HOST ATOLL_DEVICE_CPU

/* Registers of the test bench. */
#define ATOLL_CONSOLE_ORIGIN UINT32_C(0xF0000000)

/* Registers that tell what firewalls kept back. */
#define ATOLL_GUARD_ORIGIN UINT32_C(0xF0000800)

/* cpu: cpu. */
#define ATOLL_DEVICE_CPU_NAME "cpu"
#define ATOLL_DEVICE_CPU_TYPE 1
#define ATOLL_DEVICE_CPU_ID 0
#define ATOLL_DEVICE_CPU_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_CPU_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU_ACCELERATOR ""
#define ATOLL_DEVICE_CPU_LOADER "xip"

/* dsp: dsp. */
#define ATOLL_DEVICE_DSP_NAME "dsp"
#define ATOLL_DEVICE_DSP_TYPE 1
#define ATOLL_DEVICE_DSP_ID 1
#define ATOLL_DEVICE_DSP_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_DSP_GENERATOR "llvm"
#define ATOLL_DEVICE_DSP_ACCELERATOR ""
#define ATOLL_DEVICE_DSP_LOADER "xip"
#define ATOLL_DEVICE_DSP_REGISTERS UINT32_C(0x40003000)
#define ATOLL_DEVICE_DSP_IRQ UINT32_C(6)

/* npu_large: npu. */
#define ATOLL_DEVICE_NPU_LARGE_NAME "npu_large"
#define ATOLL_DEVICE_NPU_LARGE_TYPE 12
#define ATOLL_DEVICE_NPU_LARGE_ID 0
#define ATOLL_DEVICE_NPU_LARGE_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_NPU_LARGE_GENERATOR "reef"
#define ATOLL_DEVICE_NPU_LARGE_ACCELERATOR "reef"
#define ATOLL_DEVICE_NPU_LARGE_LOADER "none"
#define ATOLL_DEVICE_NPU_LARGE_REGISTERS UINT32_C(0x40000000)
#define ATOLL_DEVICE_NPU_LARGE_IRQ UINT32_C(3)
#define ATOLL_DEVICE_NPU_LARGE_DATA_BYTES UINT32_C(16)
#define ATOLL_DEVICE_NPU_LARGE_INPUT_LANES UINT32_C(8)
#define ATOLL_DEVICE_NPU_LARGE_LINE_COLUMNS UINT32_C(64)
#define ATOLL_DEVICE_NPU_LARGE_OUTPUT_LANES UINT32_C(8)
#define ATOLL_DEVICE_NPU_LARGE_REQUANTISERS UINT32_C(16)
#define ATOLL_DEVICE_NPU_LARGE_VECTOR UINT32_C(1)
#define ATOLL_DEVICE_NPU_LARGE_WEIGHT_ROWS UINT32_C(256)
#define ATOLL_DEVICE_NPU_LARGE_IDENTITY {{ATOLL_REEF_REGISTER_ID, UINT32_C(0x46454552)}, {ATOLL_REEF_REGISTER_PARAMS, UINT32_C(0x02100808)}, {ATOLL_REEF_REGISTER_WEIGHT_ROWS, UINT32_C(0x10400100)}}
#define ATOLL_DEVICE_NPU_LARGE_IDENTITY_COUNT UINT32_C(3)

/* npu_small: npu. */
#define ATOLL_DEVICE_NPU_SMALL_NAME "npu_small"
#define ATOLL_DEVICE_NPU_SMALL_TYPE 12
#define ATOLL_DEVICE_NPU_SMALL_ID 1
#define ATOLL_DEVICE_NPU_SMALL_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_NPU_SMALL_GENERATOR "reef"
#define ATOLL_DEVICE_NPU_SMALL_ACCELERATOR "reef"
#define ATOLL_DEVICE_NPU_SMALL_LOADER "none"
#define ATOLL_DEVICE_NPU_SMALL_REGISTERS UINT32_C(0x40001000)
#define ATOLL_DEVICE_NPU_SMALL_IRQ UINT32_C(4)
#define ATOLL_DEVICE_NPU_SMALL_DATA_BYTES UINT32_C(8)
#define ATOLL_DEVICE_NPU_SMALL_INPUT_LANES UINT32_C(4)
#define ATOLL_DEVICE_NPU_SMALL_LINE_COLUMNS UINT32_C(64)
#define ATOLL_DEVICE_NPU_SMALL_OUTPUT_LANES UINT32_C(4)
#define ATOLL_DEVICE_NPU_SMALL_REQUANTISERS UINT32_C(16)
#define ATOLL_DEVICE_NPU_SMALL_VECTOR UINT32_C(1)
#define ATOLL_DEVICE_NPU_SMALL_WEIGHT_ROWS UINT32_C(64)
#define ATOLL_DEVICE_NPU_SMALL_IDENTITY {{ATOLL_REEF_REGISTER_ID, UINT32_C(0x46454552)}, {ATOLL_REEF_REGISTER_PARAMS, UINT32_C(0x02080404)}, {ATOLL_REEF_REGISTER_WEIGHT_ROWS, UINT32_C(0x10400040)}}
#define ATOLL_DEVICE_NPU_SMALL_IDENTITY_COUNT UINT32_C(3)

/* dma: dma. */
#define ATOLL_DEVICE_DMA_NAME "dma"
#define ATOLL_DEVICE_DMA_TYPE 12
#define ATOLL_DEVICE_DMA_ID 2
#define ATOLL_DEVICE_DMA_CLOCK UINT32_C(100000000)
#define ATOLL_DEVICE_DMA_GENERATOR ""
#define ATOLL_DEVICE_DMA_ACCELERATOR "ripple"
#define ATOLL_DEVICE_DMA_LOADER "none"
#define ATOLL_DEVICE_DMA_REGISTERS UINT32_C(0x40002000)
#define ATOLL_DEVICE_DMA_IRQ UINT32_C(5)
#define ATOLL_DEVICE_DMA_DATA_BYTES UINT32_C(8)
#define ATOLL_DEVICE_DMA_TURNS UINT32_C(1)
#define ATOLL_DEVICE_DMA_IDENTITY {{ATOLL_RIPPLE_REGISTER_ID, UINT32_C(0x4C504952)}, {ATOLL_RIPPLE_REGISTER_PARAMS, UINT32_C(0x02080000)}}
#define ATOLL_DEVICE_DMA_IDENTITY_COUNT UINT32_C(2)

/* Register offsets of mailbox. */
#define ATOLL_MAILBOX_REGISTER_ID UINT32_C(0x000)
#define ATOLL_MAILBOX_REGISTER_COMMAND UINT32_C(0x004)
#define ATOLL_MAILBOX_REGISTER_STATUS UINT32_C(0x008)
#define ATOLL_MAILBOX_REGISTER_RESULT UINT32_C(0x00C)
#define ATOLL_MAILBOX_REGISTER_CLEAR UINT32_C(0x010)

/* Register offsets of reef. */
#define ATOLL_REEF_REGISTER_ID UINT32_C(0x000)
#define ATOLL_REEF_REGISTER_PARAMS UINT32_C(0x004)
#define ATOLL_REEF_REGISTER_WEIGHT_ROWS UINT32_C(0x008)
#define ATOLL_REEF_REGISTER_CONTROL UINT32_C(0x00C)
#define ATOLL_REEF_REGISTER_STATUS UINT32_C(0x010)
#define ATOLL_REEF_REGISTER_ERROR UINT32_C(0x014)
#define ATOLL_REEF_REGISTER_FAULT_ADDRESS UINT32_C(0x018)
#define ATOLL_REEF_REGISTER_LIST_ADDRESS UINT32_C(0x01C)
#define ATOLL_REEF_REGISTER_LIST_COUNT UINT32_C(0x020)
#define ATOLL_REEF_REGISTER_COMPLETED UINT32_C(0x024)
#define ATOLL_REEF_REGISTER_IRQ_ENABLE UINT32_C(0x028)
#define ATOLL_REEF_REGISTER_IRQ_STATUS UINT32_C(0x02C)
#define ATOLL_REEF_REGISTER_CYCLES UINT32_C(0x030)
#define ATOLL_REEF_REGISTER_STALLS UINT32_C(0x034)
#define ATOLL_REEF_REGISTER_WAIT_READ UINT32_C(0x038)
#define ATOLL_REEF_REGISTER_WAIT_WRITE UINT32_C(0x03C)
#define ATOLL_REEF_REGISTER_WAIT_WEIGHTS UINT32_C(0x040)

/* Register offsets of ripple. */
#define ATOLL_RIPPLE_REGISTER_ID UINT32_C(0x000)
#define ATOLL_RIPPLE_REGISTER_PARAMS UINT32_C(0x004)
#define ATOLL_RIPPLE_REGISTER_CONTROL UINT32_C(0x00C)
#define ATOLL_RIPPLE_REGISTER_STATUS UINT32_C(0x010)
#define ATOLL_RIPPLE_REGISTER_ERROR UINT32_C(0x014)
#define ATOLL_RIPPLE_REGISTER_FAULT_ADDRESS UINT32_C(0x018)
#define ATOLL_RIPPLE_REGISTER_LIST_ADDRESS UINT32_C(0x01C)
#define ATOLL_RIPPLE_REGISTER_LIST_COUNT UINT32_C(0x020)
#define ATOLL_RIPPLE_REGISTER_COMPLETED UINT32_C(0x024)
#define ATOLL_RIPPLE_REGISTER_IRQ_ENABLE UINT32_C(0x028)
#define ATOLL_RIPPLE_REGISTER_IRQ_STATUS UINT32_C(0x02C)
#define ATOLL_RIPPLE_REGISTER_CYCLES UINT32_C(0x030)
#define ATOLL_RIPPLE_REGISTER_STALLS UINT32_C(0x034)

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
