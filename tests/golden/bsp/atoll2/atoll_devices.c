/* Made from atoll2.yaml by `atoll build`; edits are lost.
 *
 * The device table, and the accelerators' hooks in order.
 */
#include "atoll_devices.h"

#include "atoll_status.h"
#include "command_list.h"

const struct atoll_device_row atoll_device_table[ATOLL_DEVICE_COUNT] = {
    {"cpu", 1, 0, UINT32_C(50000000), 0},
    {"npu_conv", 12, 0, UINT32_C(50000000), UINT32_C(0x80000000)},
    {"npu_dw", 12, 1, UINT32_C(50000000), UINT32_C(0x80001000)},
};

/* An accelerator that completes no command for this many cycles of the host has failed. */
#ifndef ATOLL_NPU_TIMEOUT
#define ATOLL_NPU_TIMEOUT UINT32_C(5000000)
#endif

static struct atoll_command_list context_npu_conv = ATOLL_COMMAND_LIST_CONTEXT(NPU_CONV, REEF);
static struct atoll_command_list context_npu_dw = ATOLL_COMMAND_LIST_CONTEXT(NPU_DW, REEF);

static int32_t first_error(int32_t earlier, int32_t later) {
  return earlier != ATOLL_OK ? earlier : later;
}

static int32_t start_npu_conv(void) {
  int32_t status = atoll_command_list_init(&context_npu_conv);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_activate(&context_npu_conv);
  if (status != ATOLL_OK) (void)atoll_command_list_destroy(&context_npu_conv);
  return status;
}

static int32_t stop_npu_conv(void) {
  const int32_t status = atoll_command_list_deactivate(&context_npu_conv);
  return first_error(status, atoll_command_list_destroy(&context_npu_conv));
}

static int32_t begin_npu_conv(const void *commands, int32_t count) {
  int32_t status = atoll_command_list_open(&context_npu_conv);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_start(&context_npu_conv, commands, count);
  if (status != ATOLL_OK) (void)atoll_command_list_close(&context_npu_conv);
  return status;
}

static int32_t finish_npu_conv(void) {
  const int32_t status = atoll_command_list_wait(&context_npu_conv, ATOLL_NPU_TIMEOUT);
  return first_error(status, atoll_command_list_close(&context_npu_conv));
}

static int32_t start_npu_dw(void) {
  int32_t status = atoll_command_list_init(&context_npu_dw);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_activate(&context_npu_dw);
  if (status != ATOLL_OK) (void)atoll_command_list_destroy(&context_npu_dw);
  return status;
}

static int32_t stop_npu_dw(void) {
  const int32_t status = atoll_command_list_deactivate(&context_npu_dw);
  return first_error(status, atoll_command_list_destroy(&context_npu_dw));
}

static int32_t begin_npu_dw(const void *commands, int32_t count) {
  int32_t status = atoll_command_list_open(&context_npu_dw);
  if (status != ATOLL_OK) return status;
  status = atoll_command_list_start(&context_npu_dw, commands, count);
  if (status != ATOLL_OK) (void)atoll_command_list_close(&context_npu_dw);
  return status;
}

static int32_t finish_npu_dw(void) {
  const int32_t status = atoll_command_list_wait(&context_npu_dw, ATOLL_NPU_TIMEOUT);
  return first_error(status, atoll_command_list_close(&context_npu_dw));
}

/* Take the first `count` accelerators down. */
static int32_t stop(int32_t count) {
  int32_t status = ATOLL_OK;
  if (count >= 2) status = first_error(status, stop_npu_dw());
  if (count >= 1) status = first_error(status, stop_npu_conv());
  return status;
}

int32_t atoll_devices_start(void) {
  int32_t count = 0;
  int32_t status = ATOLL_OK;
  if (status == ATOLL_OK) status = start_npu_conv();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_npu_dw();
  if (status == ATOLL_OK) count++;
  if (status != ATOLL_OK) (void)stop(count);
  return status;
}

int32_t atoll_devices_stop(void) {
  return stop(2);
}

int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count) {
  if (device == ATOLL_DEVICE_NPU_CONV) return begin_npu_conv(commands, count);
  if (device == ATOLL_DEVICE_NPU_DW) return begin_npu_dw(commands, count);
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_wait(int32_t device) {
  if (device == ATOLL_DEVICE_NPU_CONV) return finish_npu_conv();
  if (device == ATOLL_DEVICE_NPU_DW) return finish_npu_dw();
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count) {
  const int32_t status = atoll_npu_start(device, commands, count);
  return status == ATOLL_OK ? atoll_npu_wait(device) : status;
}
