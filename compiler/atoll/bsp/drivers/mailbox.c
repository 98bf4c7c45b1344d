/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the mailbox of another core. */
#include "mailbox.h"

#include "atoll_runtime.h"

#define MAILBOX_LETTERS 0x61744d42u

/* An interrupt that got lost is noticed after so many cycles of the core. */
#define POLL_CYCLES 65536u

enum { STATUS_BUSY = 1, STATUS_DONE = 2 };

static uint32_t get(const struct atoll_mailbox *mailbox, uint32_t offset) {
  return atoll_read(mailbox->registers + offset);
}

static void set(const struct atoll_mailbox *mailbox, uint32_t offset, uint32_t value) {
  atoll_write(mailbox->registers + offset, value);
}

static void say(const struct atoll_mailbox *mailbox, const char *text) {
  atoll_print(mailbox->name);
  atoll_print(": ");
  atoll_print(text);
}

static int busy(const struct atoll_mailbox *mailbox) {
  return (get(mailbox, ATOLL_MAILBOX_REGISTER_STATUS) & STATUS_BUSY) != 0u;
}

static int32_t step(struct atoll_mailbox *mailbox, enum atoll_mailbox_state from,
                    enum atoll_mailbox_state to) {
  if (mailbox->state != from) return ATOLL_ERROR_ORDER;
  mailbox->state = to;
  return ATOLL_OK;
}

int32_t atoll_mailbox_init(struct atoll_mailbox *mailbox) {
  if (mailbox->state != ATOLL_MAILBOX_CREATED) return ATOLL_ERROR_ORDER;
  const uint32_t found = get(mailbox, ATOLL_MAILBOX_REGISTER_ID);
  if (found == MAILBOX_LETTERS) {
    mailbox->state = ATOLL_MAILBOX_INITIALISED;
    return ATOLL_OK;
  }
  say(mailbox, "no mailbox, found ");
  atoll_print_hex(found);
  atoll_print("\n");
  return ATOLL_ERROR_WRONG_DEVICE;
}

int32_t atoll_mailbox_activate(struct atoll_mailbox *mailbox) {
  if (busy(mailbox)) return ATOLL_ERROR_BUSY;
  return step(mailbox, ATOLL_MAILBOX_INITIALISED, ATOLL_MAILBOX_ACTIVE);
}

int32_t atoll_mailbox_open(struct atoll_mailbox *mailbox) {
  const int32_t status = step(mailbox, ATOLL_MAILBOX_ACTIVE, ATOLL_MAILBOX_OPEN);
  if (status == ATOLL_OK) set(mailbox, ATOLL_MAILBOX_REGISTER_CLEAR, 1u);
  return status;
}

int32_t atoll_mailbox_close(struct atoll_mailbox *mailbox) {
  const int32_t status = step(mailbox, ATOLL_MAILBOX_OPEN, ATOLL_MAILBOX_ACTIVE);
  if (status == ATOLL_OK) set(mailbox, ATOLL_MAILBOX_REGISTER_CLEAR, 1u);
  return status;
}

int32_t atoll_mailbox_deactivate(struct atoll_mailbox *mailbox) {
  return step(mailbox, ATOLL_MAILBOX_ACTIVE, ATOLL_MAILBOX_INITIALISED);
}

int32_t atoll_mailbox_destroy(struct atoll_mailbox *mailbox) {
  return step(mailbox, ATOLL_MAILBOX_INITIALISED, ATOLL_MAILBOX_CREATED);
}

int32_t atoll_mailbox_start(const struct atoll_mailbox *mailbox, int32_t command) {
  if (mailbox->state != ATOLL_MAILBOX_OPEN) return ATOLL_ERROR_ORDER;
  if (command < 0) return ATOLL_ERROR_ARGUMENT;
  if (busy(mailbox)) return ATOLL_ERROR_BUSY;
  set(mailbox, ATOLL_MAILBOX_REGISTER_COMMAND, (uint32_t)command);
  return ATOLL_OK;
}

static int32_t answer(const struct atoll_mailbox *mailbox) {
  const int32_t result = (int32_t)get(mailbox, ATOLL_MAILBOX_REGISTER_RESULT);
  if (result == ATOLL_OK) return ATOLL_OK;
  say(mailbox, "error ");
  atoll_print_decimal(result);
  atoll_print(" (");
  atoll_print(atoll_status_text(result));
  atoll_print(")\n");
  return result;
}

int32_t atoll_mailbox_wait(const struct atoll_mailbox *mailbox, uint32_t timeout) {
  if (mailbox->state != ATOLL_MAILBOX_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  for (uint32_t left = timeout; left != 0u;) {
    const uint32_t turn = left < POLL_CYCLES ? left : POLL_CYCLES;
    (void)atoll_wait_interrupt(mailbox->irq, turn);
    if ((get(mailbox, ATOLL_MAILBOX_REGISTER_STATUS) & STATUS_DONE) != 0u) return answer(mailbox);
    left -= turn;
  }
  say(mailbox, "no answer\n");
  return ATOLL_ERROR_TIMEOUT;
}
