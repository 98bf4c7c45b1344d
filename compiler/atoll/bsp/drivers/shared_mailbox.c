/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the mailbox of another core in memory, at its host. */
#include "shared_mailbox.h"

/* A core that has not begun for so long will not. */
#ifndef ATOLL_SHARED_MAILBOX_PATIENCE
#define ATOLL_SHARED_MAILBOX_PATIENCE 100000000u
#endif

static volatile struct atoll_shared_mailbox_halves *halves_of(
    const struct atoll_shared_mailbox *mailbox) {
  return (volatile struct atoll_shared_mailbox_halves *)mailbox->address;
}

static void say(const struct atoll_shared_mailbox *mailbox, const char *text) {
  atoll_print(mailbox->name);
  atoll_print(": ");
  atoll_print(text);
}

static int32_t step(struct atoll_shared_mailbox *mailbox, enum atoll_shared_mailbox_state from,
                    enum atoll_shared_mailbox_state to) {
  if (mailbox->state != from) return ATOLL_ERROR_ORDER;
  mailbox->state = to;
  return ATOLL_OK;
}

static int is_connected(volatile struct atoll_shared_mailbox_halves *halves) {
  atoll_shared_mailbox_take(&halves->core);
  return halves->core.connection == halves->host.connection;
}

/* Wait for the core's half to be `ready`, at most `timeout`, after which `late` says what is not. A core
 * whose line stays low though its half is ready sends no signal. */
static int32_t await(const struct atoll_shared_mailbox *mailbox,
                     int (*ready)(volatile struct atoll_shared_mailbox_halves *), uint32_t timeout,
                     const char *late) {
  int silent = 0;
  for (;;) {
    atoll_shared_mailbox_hear(halves_of(mailbox));
    const int is_ready = ready(halves_of(mailbox));
    if (is_ready && !silent) return ATOLL_OK;
    if (is_ready || timeout == 0u) {
      say(mailbox, is_ready ? "no signal\n" : late);
      return ATOLL_ERROR_TIMEOUT;
    }
    uint32_t turn = atoll_shared_mailbox_turn(mailbox->line, timeout);
    const int woken = atoll_wait_interrupt(mailbox->line, turn);
    silent = !woken && mailbox->line < ATOLL_NO_LINE;
    if (woken && turn > ATOLL_SHARED_MAILBOX_PERIOD) turn = ATOLL_SHARED_MAILBOX_PERIOD;
    timeout -= turn;
  }
}

int32_t atoll_shared_mailbox_init(struct atoll_shared_mailbox *mailbox) {
  const int32_t status =
      step(mailbox, ATOLL_SHARED_MAILBOX_CREATED, ATOLL_SHARED_MAILBOX_INITIALISED);
  volatile struct atoll_shared_mailbox_halves *const halves = halves_of(mailbox);
  if (status != ATOLL_OK) return status;
  halves->host.connection = halves->host.connection + 1u;
  atoll_shared_mailbox_give(&halves->host);
  atoll_shared_mailbox_signal(halves);
  return ATOLL_OK;
}

int32_t atoll_shared_mailbox_activate(struct atoll_shared_mailbox *mailbox) {
  if (mailbox->state != ATOLL_SHARED_MAILBOX_INITIALISED) return ATOLL_ERROR_ORDER;
  const int32_t status =
      await(mailbox, is_connected, ATOLL_SHARED_MAILBOX_PATIENCE, "has not begun\n");
  if (status == ATOLL_OK) mailbox->state = ATOLL_SHARED_MAILBOX_ACTIVE;
  return status;
}

int32_t atoll_shared_mailbox_open(struct atoll_shared_mailbox *mailbox) {
  return step(mailbox, ATOLL_SHARED_MAILBOX_ACTIVE, ATOLL_SHARED_MAILBOX_OPEN);
}

int32_t atoll_shared_mailbox_close(struct atoll_shared_mailbox *mailbox) {
  return step(mailbox, ATOLL_SHARED_MAILBOX_OPEN, ATOLL_SHARED_MAILBOX_ACTIVE);
}

int32_t atoll_shared_mailbox_deactivate(struct atoll_shared_mailbox *mailbox) {
  return step(mailbox, ATOLL_SHARED_MAILBOX_ACTIVE, ATOLL_SHARED_MAILBOX_INITIALISED);
}

int32_t atoll_shared_mailbox_destroy(struct atoll_shared_mailbox *mailbox) {
  return step(mailbox, ATOLL_SHARED_MAILBOX_INITIALISED, ATOLL_SHARED_MAILBOX_CREATED);
}

int32_t atoll_shared_mailbox_start(const struct atoll_shared_mailbox *mailbox, int32_t command) {
  if (mailbox->state != ATOLL_SHARED_MAILBOX_OPEN) return ATOLL_ERROR_ORDER;
  if (command < 0) return ATOLL_ERROR_ARGUMENT;
  if (!atoll_shared_mailbox_answered(halves_of(mailbox))) return ATOLL_ERROR_BUSY;
  atoll_shared_mailbox_send(halves_of(mailbox), (uint32_t)command);
  return ATOLL_OK;
}

int32_t atoll_shared_mailbox_wait(const struct atoll_shared_mailbox *mailbox, uint32_t timeout) {
  if (mailbox->state != ATOLL_SHARED_MAILBOX_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status =
      await(mailbox, atoll_shared_mailbox_answered, timeout, "no answer\n");
  if (status != ATOLL_OK) return status;
  const int32_t result = (int32_t)halves_of(mailbox)->core.result;
  if (result == ATOLL_OK) return ATOLL_OK;
  say(mailbox, "error ");
  atoll_print_decimal(result);
  atoll_print(" (");
  atoll_print(atoll_status_text(result));
  atoll_print(")\n");
  return result;
}
