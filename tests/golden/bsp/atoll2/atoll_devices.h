/* Made from atoll2.yaml by `atoll build`; edits are lost.
 *
 * The devices of 'atoll2': the one enumeration, their registers and their interrupts.
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
  ATOLL_DEVICE_NPU_CONV = 1,
  ATOLL_DEVICE_NPU_DW = 2
};

#define ATOLL_DEVICE_COUNT 3
#define ATOLL_HOST ATOLL_DEVICE_CPU

/* Registers of the test bench. */
#define ATOLL_CONSOLE_ORIGIN UINT32_C(0xE0000000)

/* Registers that tell what firewalls kept back. */
#define ATOLL_GUARD_ORIGIN UINT32_C(0xE0000800)

/* cpu: cpu. */
#define ATOLL_DEVICE_CPU_NAME "cpu"
#define ATOLL_DEVICE_CPU_TYPE 1
#define ATOLL_DEVICE_CPU_ID 0
#define ATOLL_DEVICE_CPU_CLOCK UINT32_C(50000000)
#define ATOLL_DEVICE_CPU_GENERATOR "llvm"
#define ATOLL_DEVICE_CPU_ACCELERATOR ""
#define ATOLL_DEVICE_CPU_LOADER "xip"

/* npu_conv: npu. */
#define ATOLL_DEVICE_NPU_CONV_NAME "npu_conv"
#define ATOLL_DEVICE_NPU_CONV_TYPE 12
#define ATOLL_DEVICE_NPU_CONV_ID 0
#define ATOLL_DEVICE_NPU_CONV_CLOCK UINT32_C(50000000)
#define ATOLL_DEVICE_NPU_CONV_GENERATOR "reef"
#define ATOLL_DEVICE_NPU_CONV_ACCELERATOR "reef"
#define ATOLL_DEVICE_NPU_CONV_LOADER "none"
#define ATOLL_DEVICE_NPU_CONV_REGISTERS UINT32_C(0x80000000)
#define ATOLL_DEVICE_NPU_CONV_IRQ UINT32_C(5)
#define ATOLL_DEVICE_NPU_CONV_DATA_BYTES UINT32_C(16)
#define ATOLL_DEVICE_NPU_CONV_INPUT_LANES UINT32_C(8)
#define ATOLL_DEVICE_NPU_CONV_LINE_COLUMNS UINT32_C(64)
#define ATOLL_DEVICE_NPU_CONV_OUTPUT_LANES UINT32_C(8)
#define ATOLL_DEVICE_NPU_CONV_REQUANTISERS UINT32_C(16)
#define ATOLL_DEVICE_NPU_CONV_VECTOR UINT32_C(1)
#define ATOLL_DEVICE_NPU_CONV_WEIGHT_ROWS UINT32_C(128)
#define ATOLL_DEVICE_NPU_CONV_IDENTITY {{ATOLL_REEF_REGISTER_ID, UINT32_C(0x46454552)}, {ATOLL_REEF_REGISTER_PARAMS, UINT32_C(0x02100808)}, {ATOLL_REEF_REGISTER_WEIGHT_ROWS, UINT32_C(0x10400080)}}
#define ATOLL_DEVICE_NPU_CONV_IDENTITY_COUNT UINT32_C(3)

/* npu_dw: npu. */
#define ATOLL_DEVICE_NPU_DW_NAME "npu_dw"
#define ATOLL_DEVICE_NPU_DW_TYPE 12
#define ATOLL_DEVICE_NPU_DW_ID 1
#define ATOLL_DEVICE_NPU_DW_CLOCK UINT32_C(50000000)
#define ATOLL_DEVICE_NPU_DW_GENERATOR "reef"
#define ATOLL_DEVICE_NPU_DW_ACCELERATOR "reef"
#define ATOLL_DEVICE_NPU_DW_LOADER "none"
#define ATOLL_DEVICE_NPU_DW_REGISTERS UINT32_C(0x80001000)
#define ATOLL_DEVICE_NPU_DW_IRQ UINT32_C(9)
#define ATOLL_DEVICE_NPU_DW_DATA_BYTES UINT32_C(8)
#define ATOLL_DEVICE_NPU_DW_INPUT_LANES UINT32_C(4)
#define ATOLL_DEVICE_NPU_DW_LINE_COLUMNS UINT32_C(64)
#define ATOLL_DEVICE_NPU_DW_OUTPUT_LANES UINT32_C(4)
#define ATOLL_DEVICE_NPU_DW_REQUANTISERS UINT32_C(16)
#define ATOLL_DEVICE_NPU_DW_VECTOR UINT32_C(1)
#define ATOLL_DEVICE_NPU_DW_WEIGHT_ROWS UINT32_C(64)
#define ATOLL_DEVICE_NPU_DW_IDENTITY {{ATOLL_REEF_REGISTER_ID, UINT32_C(0x46454552)}, {ATOLL_REEF_REGISTER_PARAMS, UINT32_C(0x02080404)}, {ATOLL_REEF_REGISTER_WEIGHT_ROWS, UINT32_C(0x10400040)}}
#define ATOLL_DEVICE_NPU_DW_IDENTITY_COUNT UINT32_C(3)

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

/* Bring every accelerator up. On an error those that are up already go down again. */
int32_t atoll_devices_start(void);

/* Take every accelerator down, in reverse order; returns the first error. */
int32_t atoll_devices_stop(void);

/* Start `count` commands on the accelerator or DMA engine with ordinal `device`; one list at a time. */
int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count);

/* Wait for the end of what was started on `device`. */
int32_t atoll_npu_wait(int32_t device);

/* Start and wait. */
int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
