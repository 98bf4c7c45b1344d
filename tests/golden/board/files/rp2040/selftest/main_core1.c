/* Made from rp2040.yaml and tiny.tflite by `atoll build`; edits are lost.
 *
 * The core 'core1': runs steps of 'tiny' when the host asks for them through the mailbox.
 */
#include "atoll_devices.h"
#include "atoll_runtime.h"
#include "atoll_selftest.h"
#define ATOLL_SHARED_MAILBOX_CACHED 0
#define ATOLL_SHARED_MAILBOX_SIGNALS 1
#include "shared_mailbox.h"

enum { LINE = ATOLL_EVENT };

int32_t tiny_core1_step(int32_t command);
void atoll_core_main(void) __attribute__((noreturn));

/* A command is the number of a step, and above it the model's position in this image: what runs
 * the steps of a model refuses those of another one. */
static int32_t run(uint32_t command) {
  if (command >> 16 >= ATOLL_SELFTEST_ARGUMENT) return atoll_selftest_serve(command);
  switch (command >> 16) {
    case 0:
      return tiny_core1_step((int32_t)command);
    default:
      return ATOLL_ERROR_ARGUMENT;
  }
}

void atoll_shared_mailbox_signal(volatile const void *mailbox) {
  (void)mailbox;
  __asm volatile("dsb sy" ::: "memory");
  __asm volatile("sev" ::: "memory");
}

void atoll_shared_mailbox_hear(volatile const void *mailbox) {
  (void)mailbox;
}

/* Take what was sent so far as answered, and agree to the host's connection. */
static void connect(volatile struct atoll_shared_mailbox_halves *halves) {
  atoll_shared_mailbox_take(&halves->host);
  const uint32_t connection = halves->host.connection;
  atoll_shared_mailbox_take(&halves->host);
  halves->core.result = (uint32_t)ATOLL_ERROR_DEVICE;
  halves->core.answered = halves->host.sent;
  atoll_shared_mailbox_give(&halves->core);
  halves->core.connection = connection;
  atoll_shared_mailbox_give(&halves->core);
  atoll_shared_mailbox_signal(halves);
}

void atoll_core_main(void) {
  volatile struct atoll_shared_mailbox_halves *const halves =
      (volatile struct atoll_shared_mailbox_halves *)(uintptr_t)ATOLL_DEVICE_CORE1_MAILBOX;
  connect(halves);
  for (;;) {
    atoll_shared_mailbox_hear(halves);
    atoll_shared_mailbox_take(&halves->host);
    const uint32_t sent = halves->host.sent;
    if (halves->core.connection != halves->host.connection) {
      connect(halves);
    } else if (halves->core.answered == sent) {
      (void)atoll_wait_interrupt(LINE, atoll_shared_mailbox_turn(LINE, UINT32_MAX));
    } else {
      atoll_shared_mailbox_take(&halves->host);
      halves->core.result = (uint32_t)run(halves->host.command);
      atoll_shared_mailbox_give(&halves->core);
      halves->core.answered = sent;
      atoll_shared_mailbox_give(&halves->core);
      atoll_shared_mailbox_signal(halves);
    }
  }
}
