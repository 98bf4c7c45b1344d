/* Made from quad.yaml by `atoll build`; edits are lost.
 *
 * The device table, and the accelerators' and cores' hooks in order.
 */
#include "atoll_devices.h"

#include "atoll_status.h"
#include "mailbox.h"

const struct atoll_device_row atoll_device_table[ATOLL_DEVICE_COUNT] = {
    {"cpu0", 1, 0, UINT32_C(100000000), 0},
    {"cpu1", 1, 1, UINT32_C(100000000), UINT32_C(0x40001000)},
    {"cpu2", 1, 2, UINT32_C(100000000), UINT32_C(0x40002000)},
    {"cpu3", 1, 3, UINT32_C(100000000), UINT32_C(0x40003000)},
};

/* A core that runs one operator for this many cycles of the host has failed. */
#ifndef ATOLL_CORE_TIMEOUT
#define ATOLL_CORE_TIMEOUT UINT32_C(2000000000)
#endif

static struct atoll_mailbox context_cpu1 = ATOLL_MAILBOX_CONTEXT(CPU1);
static struct atoll_mailbox context_cpu2 = ATOLL_MAILBOX_CONTEXT(CPU2);
static struct atoll_mailbox context_cpu3 = ATOLL_MAILBOX_CONTEXT(CPU3);

static int32_t first_error(int32_t earlier, int32_t later) {
  return earlier != ATOLL_OK ? earlier : later;
}

static int32_t start_cpu1(void) {
  int32_t status = atoll_mailbox_init(&context_cpu1);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_activate(&context_cpu1);
  if (status != ATOLL_OK) (void)atoll_mailbox_destroy(&context_cpu1);
  return status;
}

static int32_t stop_cpu1(void) {
  const int32_t status = atoll_mailbox_deactivate(&context_cpu1);
  return first_error(status, atoll_mailbox_destroy(&context_cpu1));
}

static int32_t begin_cpu1(int32_t command) {
  int32_t status = atoll_mailbox_open(&context_cpu1);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_start(&context_cpu1, command);
  if (status != ATOLL_OK) (void)atoll_mailbox_close(&context_cpu1);
  return status;
}

static int32_t finish_cpu1(void) {
  const int32_t status = atoll_mailbox_wait(&context_cpu1, ATOLL_CORE_TIMEOUT);
  return first_error(status, atoll_mailbox_close(&context_cpu1));
}

static int32_t start_cpu2(void) {
  int32_t status = atoll_mailbox_init(&context_cpu2);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_activate(&context_cpu2);
  if (status != ATOLL_OK) (void)atoll_mailbox_destroy(&context_cpu2);
  return status;
}

static int32_t stop_cpu2(void) {
  const int32_t status = atoll_mailbox_deactivate(&context_cpu2);
  return first_error(status, atoll_mailbox_destroy(&context_cpu2));
}

static int32_t begin_cpu2(int32_t command) {
  int32_t status = atoll_mailbox_open(&context_cpu2);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_start(&context_cpu2, command);
  if (status != ATOLL_OK) (void)atoll_mailbox_close(&context_cpu2);
  return status;
}

static int32_t finish_cpu2(void) {
  const int32_t status = atoll_mailbox_wait(&context_cpu2, ATOLL_CORE_TIMEOUT);
  return first_error(status, atoll_mailbox_close(&context_cpu2));
}

static int32_t start_cpu3(void) {
  int32_t status = atoll_mailbox_init(&context_cpu3);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_activate(&context_cpu3);
  if (status != ATOLL_OK) (void)atoll_mailbox_destroy(&context_cpu3);
  return status;
}

static int32_t stop_cpu3(void) {
  const int32_t status = atoll_mailbox_deactivate(&context_cpu3);
  return first_error(status, atoll_mailbox_destroy(&context_cpu3));
}

static int32_t begin_cpu3(int32_t command) {
  int32_t status = atoll_mailbox_open(&context_cpu3);
  if (status != ATOLL_OK) return status;
  status = atoll_mailbox_start(&context_cpu3, command);
  if (status != ATOLL_OK) (void)atoll_mailbox_close(&context_cpu3);
  return status;
}

static int32_t finish_cpu3(void) {
  const int32_t status = atoll_mailbox_wait(&context_cpu3, ATOLL_CORE_TIMEOUT);
  return first_error(status, atoll_mailbox_close(&context_cpu3));
}

/* Take the first `count` of them down. */
static int32_t stop(int32_t count) {
  int32_t status = ATOLL_OK;
  if (count >= 3) status = first_error(status, stop_cpu3());
  if (count >= 2) status = first_error(status, stop_cpu2());
  if (count >= 1) status = first_error(status, stop_cpu1());
  return status;
}

int32_t atoll_devices_start(void) {
  int32_t count = 0;
  int32_t status = ATOLL_OK;
  if (status == ATOLL_OK) status = start_cpu1();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_cpu2();
  if (status == ATOLL_OK) count++;
  if (status == ATOLL_OK) status = start_cpu3();
  if (status == ATOLL_OK) count++;
  if (status != ATOLL_OK) (void)stop(count);
  return status;
}

int32_t atoll_devices_stop(void) {
  return stop(3);
}

int32_t atoll_npu_start(int32_t device, const void *commands, int32_t count) {
  (void)device;
  (void)commands;
  (void)count;
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_wait(int32_t device) {
  (void)device;
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count) {
  const int32_t status = atoll_npu_start(device, commands, count);
  return status == ATOLL_OK ? atoll_npu_wait(device) : status;
}

int32_t atoll_core_start(int32_t device, int32_t command) {
  if (device == ATOLL_DEVICE_CPU1) return begin_cpu1(command);
  if (device == ATOLL_DEVICE_CPU2) return begin_cpu2(command);
  if (device == ATOLL_DEVICE_CPU3) return begin_cpu3(command);
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_core_wait(int32_t device) {
  if (device == ATOLL_DEVICE_CPU1) return finish_cpu1();
  if (device == ATOLL_DEVICE_CPU2) return finish_cpu2();
  if (device == ATOLL_DEVICE_CPU3) return finish_cpu3();
  return ATOLL_ERROR_NO_DEVICE;
}

int32_t atoll_core_run(int32_t device, int32_t command) {
  const int32_t status = atoll_core_start(device, command);
  return status == ATOLL_OK ? atoll_core_wait(device) : status;
}
