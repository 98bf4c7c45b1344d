/* Made from twin.yaml by `atoll build`; edits are lost.
 *
 * The device table, and the accelerators' and cores' hooks in order.
 */
#include "atoll_devices.h"

#include "atoll_status.h"
#include "command_list.h"
#include "mailbox.h"

const struct atoll_device_row atoll_device_table[ATOLL_DEVICE_COUNT] = {
    {"cpu", 1, 0, UINT32_C(100000000), 0},
    {"dsp", 1, 1, UINT32_C(100000000), UINT32_C(0x40003000)},
    {"npu_large", 12, 0, UINT32_C(100000000), UINT32_C(0x40000000)},
    {"npu_small", 12, 1, UINT32_C(100000000), UINT32_C(0x40001000)},
    {"dma", 12, 2, UINT32_C(100000000), UINT32_C(0x40002000)},
};

/* An accelerator that completes no command for this many cycles of the host has failed. */
#ifndef ATOLL_NPU_TIMEOUT
#define ATOLL_NPU_TIMEOUT UINT32_C(10000000)
#endif

/* A core that runs one operator for this many cycles of the host has failed. */
#ifndef ATOLL_CORE_TIMEOUT
#define ATOLL_CORE_TIMEOUT UINT32_C(2000000000)
#endif

static struct atoll_mailbox context_dsp = ATOLL_MAILBOX_CONTEXT(DSP);
static struct atoll_command_list context_npu_large = ATOLL_COMMAND_LIST_CONTEXT(NPU_LARGE, REEF);
static struct atoll_command_list context_npu_small = ATOLL_COMMAND_LIST_CONTEXT(NPU_SMALL, REEF);
static struct atoll_command_list context_dma = ATOLL_COMMAND_LIST_CONTEXT(DMA, RIPPLE);

static int32_t first_error(int32_t earlier, int32_t later) {
  return earlier != ATOLL_OK ? earlier : later;
}

static int32_t start_dsp(void) {
  int32_t status = atoll_mailbox_init(&context_dsp);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_activate(&context_dsp);
  if (status != ATOLL_OK) (void)atoll_mailbox_destroy(&context_dsp);
  return status;
}

static int32_t stop_dsp(void) {
  const int32_t status = atoll_mailbox_deactivate(&context_dsp);
  return first_error(status, atoll_mailbox_destroy(&context_dsp));
}

static int32_t begin_dsp(int32_t command) {
  int32_t status = atoll_mailbox_open(&context_dsp);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_start(&context_dsp, command);
  if (status != ATOLL_OK) (void)atoll_mailbox_close(&context_dsp);
  return status;
}

static int32_t finish_dsp(void) {
  const int32_t status = atoll_mailbox_wait(&context_dsp, ATOLL_CORE_TIMEOUT);
  return first_error(status, atoll_mailbox_close(&context_dsp));
}

static int32_t start_npu_large(void) {
  int32_t status = atoll_command_list_init(&context_npu_large);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_activate(&context_npu_large);
  if (status != ATOLL_OK) (void)atoll_command_list_destroy(&context_npu_large);
  return status;
}

static int32_t stop_npu_large(void) {
  const int32_t status = atoll_command_list_deactivate(&context_npu_large);
  return first_error(status, atoll_command_list_destroy(&context_npu_large));
}

static int32_t begin_npu_large(const void *commands, int32_t count) {
  int32_t status = atoll_command_list_open(&context_npu_large);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_start(&context_npu_large, commands, count);
  if (status != ATOLL_OK) (void)atoll_command_list_close(&context_npu_large);
  return status;
}

static int32_t finish_npu_large(void) {
  const int32_t status = atoll_command_list_wait(&context_npu_large, ATOLL_NPU_TIMEOUT);
  return first_error(status, atoll_command_list_close(&context_npu_large));
}

static int32_t start_npu_small(void) {
  int32_t status = atoll_command_list_init(&context_npu_small);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_activate(&context_npu_small);
  if (status != ATOLL_OK) (void)atoll_command_list_destroy(&context_npu_small);
  return status;
}

static int32_t stop_npu_small(void) {
  const int32_t status = atoll_command_list_deactivate(&context_npu_small);
  return first_error(status, atoll_command_list_destroy(&context_npu_small));
}

static int32_t begin_npu_small(const void *commands, int32_t count) {
  int32_t status = atoll_command_list_open(&context_npu_small);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_start(&context_npu_small, commands, count);
  if (status != ATOLL_OK) (void)atoll_command_list_close(&context_npu_small);
  return status;
}

static int32_t finish_npu_small(void) {
  const int32_t status = atoll_command_list_wait(&context_npu_small, ATOLL_NPU_TIMEOUT);
  return first_error(status, atoll_command_list_close(&context_npu_small));
}

static int32_t start_dma(void) {
  int32_t status = atoll_command_list_init(&context_dma);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_activate(&context_dma);
  if (status != ATOLL_OK) (void)atoll_command_list_destroy(&context_dma);
  return status;
}

static int32_t stop_dma(void) {
  const int32_t status = atoll_command_list_deactivate(&context_dma);
  return first_error(status, atoll_command_list_destroy(&context_dma));
}

static int32_t begin_dma(const void *commands, int32_t count) {
  int32_t status = atoll_command_list_open(&context_dma);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_start(&context_dma, commands, count);
  if (status != ATOLL_OK) (void)atoll_command_list_close(&context_dma);
  return status;
}

static int32_t finish_dma(void) {
  const int32_t status = atoll_command_list_wait(&context_dma, ATOLL_NPU_TIMEOUT);
  return first_error(status, atoll_command_list_close(&context_dma));
}

/* Take the first `count` of them down. */
static int32_t stop(int32_t count) {
  int32_t status = ATOLL_OK;
  if (count >= 4) status = first_error(status, stop_dma());
  if (count >= 3) status = first_error(status, stop_npu_small());
  if (count >= 2) status = first_error(status, stop_npu_large());
  if (count >= 1) status = first_error(status, stop_dsp());
  return status;
}

int32_t atoll_devices_start(void) {
  int32_t count = 0;
  int32_t status = ATOLL_OK;
  if (status == ATOLL_OK) status = start_dsp();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_npu_large();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_npu_small();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_dma();
  if (status == ATOLL_OK) count++;
  if (status != ATOLL_OK) (void)stop(count);
  return status;
}

int32_t atoll_devices_stop(void) {
  return stop(4);
}

int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count) {
  if (device == ATOLL_DEVICE_NPU_LARGE) return begin_npu_large(commands, count);
  if (device == ATOLL_DEVICE_NPU_SMALL) return begin_npu_small(commands, count);
  if (device == ATOLL_DEVICE_DMA) return begin_dma(commands, count);
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_wait(int32_t device) {
  if (device == ATOLL_DEVICE_NPU_LARGE) return finish_npu_large();
  if (device == ATOLL_DEVICE_NPU_SMALL) return finish_npu_small();
  if (device == ATOLL_DEVICE_DMA) return finish_dma();
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count) {
  const int32_t status = atoll_npu_start(device, commands, count);
  return status == ATOLL_OK ? atoll_npu_wait(device) : status;
}

int32_t atoll_core_start(int32_t device, int32_t command) {
  if (device == ATOLL_DEVICE_DSP) return begin_dsp(command);
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_core_wait(int32_t device) {
  if (device == ATOLL_DEVICE_DSP) return finish_dsp();
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_core_run(int32_t device, int32_t command) {
  const int32_t status = atoll_core_start(device, command);
  return status == ATOLL_OK ? atoll_core_wait(device) : status;
}
