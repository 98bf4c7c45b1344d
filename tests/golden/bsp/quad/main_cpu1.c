/* Made from quad.yaml and tiny.tflite by `atoll build`; edits are lost.
 *
 * The core 'cpu1': runs steps of 'tiny' when the host asks for them through the mailbox.
 */
#include "atoll_devices.h"
#include "atoll_runtime.h"

enum { STATUS_BUSY = 1 };

int32_t tiny_cpu1_step(int32_t command);
void atoll_core_main(void) __attribute__((noreturn));

static uint32_t get(uint32_t offset) {
  return atoll_read(ATOLL_DEVICE_CPU1_REGISTERS + offset);
}

/* A command is the number of a step, and above it the model's position in this image: what runs
 * the steps of a model refuses those of another one. */
static int32_t run(uint32_t command) {
  switch (command >> 16) {
    case 0:
      return tiny_cpu1_step((int32_t)command);
    default:
      return ATOLL_ERROR_ARGUMENT;
  }
}

void atoll_core_main(void) {
  for (;;) {
    (void)atoll_wait_interrupt(ATOLL_MAILBOX_LINE, UINT32_MAX);
    if ((get(ATOLL_MAILBOX_REGISTER_STATUS) & STATUS_BUSY) == 0u) continue;
    const int32_t status = run(get(ATOLL_MAILBOX_REGISTER_COMMAND));
    atoll_write(ATOLL_DEVICE_CPU1_REGISTERS + ATOLL_MAILBOX_REGISTER_RESULT, (uint32_t)status);
  }
}
