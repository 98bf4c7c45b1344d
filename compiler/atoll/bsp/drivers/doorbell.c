/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines with a doorbell and a queue. */
#include "doorbell.h"

#include "atoll_runtime.h"

#define COMMAND_BYTES 64u
#define COMMANDS_MOST 65535

/* An interrupt that got lost is noticed after so many cycles of the core. */
#define POLL_CYCLES 4096u

/* What a wait counts that an interrupt ends without a command that has ended. */
#define IDLE_CYCLES 128u

enum { CONTROL_ABORT = 2, CONTROL_CLEAR = 4 };
enum { STATUS_BUSY = 1, STATUS_ERROR = 4 };

static uint32_t get(const struct atoll_doorbell *engine, uint32_t offset) {
  return atoll_read(engine->registers + offset);
}

static void set(const struct atoll_doorbell *engine, uint32_t offset, uint32_t value) {
  atoll_write(engine->registers + offset, value);
}

static void say(const struct atoll_doorbell *engine, const char *text) {
  atoll_print(engine->name);
  atoll_print(": ");
  atoll_print(text);
}

static int32_t step(struct atoll_doorbell *engine, enum atoll_doorbell_state from,
                    enum atoll_doorbell_state to) {
  if (engine->state != from) return ATOLL_ERROR_ORDER;
  engine->state = to;
  return ATOLL_OK;
}

/* Expect `value` in a register that describes the instance. */
static int32_t expect(const struct atoll_doorbell *engine, uint32_t offset, uint32_t value) {
  const uint32_t found = get(engine, offset);
  if (found == value) return ATOLL_OK;
  say(engine, "expected ");
  atoll_print_hex(value);
  atoll_print(" at register ");
  atoll_print_hex(offset);
  atoll_print(", found ");
  atoll_print_hex(found);
  atoll_print("\n");
  return ATOLL_ERROR_WRONG_DEVICE;
}

int32_t atoll_doorbell_init(struct atoll_doorbell *engine) {
  int32_t status = ATOLL_OK;
  if (engine->state != ATOLL_DOORBELL_CREATED) return ATOLL_ERROR_ORDER;
  for (uint32_t i = 0u; status == ATOLL_OK && i < engine->identity_count; i++)
    status = expect(engine, engine->identity[i].offset, engine->identity[i].value);
  if (status == ATOLL_OK) engine->state = ATOLL_DOORBELL_INITIALISED;
  return status;
}

int32_t atoll_doorbell_activate(struct atoll_doorbell *engine) {
  if ((get(engine, engine->map.status) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  return step(engine, ATOLL_DOORBELL_INITIALISED, ATOLL_DOORBELL_ACTIVE);
}

int32_t atoll_doorbell_open(struct atoll_doorbell *engine) {
  const int32_t status = step(engine, ATOLL_DOORBELL_ACTIVE, ATOLL_DOORBELL_OPEN);
  if (status != ATOLL_OK) return status;
  set(engine, engine->map.irq_status, 1u);
  set(engine, engine->map.irq_enable, 1u);
  return ATOLL_OK;
}

int32_t atoll_doorbell_close(struct atoll_doorbell *engine) {
  const int32_t status = step(engine, ATOLL_DOORBELL_OPEN, ATOLL_DOORBELL_ACTIVE);
  if (status == ATOLL_OK) set(engine, engine->map.irq_enable, 0u);
  return status;
}

int32_t atoll_doorbell_deactivate(struct atoll_doorbell *engine) {
  return step(engine, ATOLL_DOORBELL_ACTIVE, ATOLL_DOORBELL_INITIALISED);
}

int32_t atoll_doorbell_destroy(struct atoll_doorbell *engine) {
  return step(engine, ATOLL_DOORBELL_INITIALISED, ATOLL_DOORBELL_CREATED);
}

static const char *error_name(uint32_t error) {
  static const char *const names[] = {"NONE",         "READ_SLAVE", "READ_DECODE",
                                      "WRITE_SLAVE",  "WRITE_DECODE", "BAD_OPCODE",
                                      "BAD_FIELD",    "MISALIGNED", "ABORTED",
                                      "BAD_CHECK"};
  return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

static int32_t give_up(const struct atoll_doorbell *engine, uint32_t completed) {
  set(engine, engine->map.control, CONTROL_ABORT);
  say(engine, "no answer after ");
  atoll_print_decimal((int32_t)completed);
  atoll_print(" commands\n");
  return ATOLL_ERROR_TIMEOUT;
}

/* Ring for commands as there are places in the queue. */
static void ring(struct atoll_doorbell *engine, uint32_t completed) {
  const uint32_t places = get(engine, engine->map.queue);
  while (engine->rung < engine->count && engine->rung - completed < places) {
    const uintptr_t command = engine->commands + (uintptr_t)COMMAND_BYTES * engine->rung;
    set(engine, engine->map.doorbell, (uint32_t)command);
    engine->rung++;
  }
}

/* Tell whether there is nothing to wait for any more: all commands have ended, one has failed, or the
 * engine has forgotten some. What the interrupt has told is taken back before, so that what ends later
 * raises it again. */
static int32_t ended(struct atoll_doorbell *engine, uint32_t *completed) {
  set(engine, engine->map.irq_status, 1u);
  const uint32_t status = get(engine, engine->map.status);
  *completed = get(engine, engine->map.completed) - engine->completed_before;
  if ((status & STATUS_ERROR) != 0u || *completed == engine->count) return 1;
  if ((status & STATUS_BUSY) == 0u && *completed != engine->rung) return 1;
  ring(engine, *completed);
  return 0;
}

static int32_t wait(struct atoll_doorbell *engine, uint32_t timeout) {
  uint32_t completed = 0u, before = 0u, waited = 0u;
  while (ended(engine, &completed) == 0) {
    waited = completed == before ? waited : 0u;
    before = completed;
    if (waited >= timeout) return give_up(engine, completed);
    const uint32_t left = timeout - waited;
    const uint32_t turn = left < POLL_CYCLES ? left : POLL_CYCLES;
    waited += atoll_wait_interrupt(engine->irq, turn) != 0 ? IDLE_CYCLES : turn;
  }
  return ATOLL_OK;
}

static int32_t outcome(const struct atoll_doorbell *engine) {
  const uint32_t status = get(engine, engine->map.status);
  const uint32_t completed = get(engine, engine->map.completed) - engine->completed_before;
  if ((status & STATUS_ERROR) == 0u && completed == engine->count) return ATOLL_OK;
  const uint32_t error = get(engine, engine->map.error);
  say(engine, "error ");
  atoll_print_decimal((int32_t)error);
  atoll_print(" (");
  atoll_print(error_name(error));
  atoll_print(") at ");
  atoll_print_hex(get(engine, engine->map.fault_address));
  atoll_print("\n");
  return ATOLL_ERROR_DEVICE;
}

int32_t atoll_doorbell_start(struct atoll_doorbell *engine, const void *commands, int32_t count) {
  if (engine->state != ATOLL_DOORBELL_OPEN) return ATOLL_ERROR_ORDER;
  if (count < 1 || count > COMMANDS_MOST ||
      ((uintptr_t)commands & (COMMAND_BYTES - 1u)) != 0u)
    return ATOLL_ERROR_ARGUMENT;
  if ((get(engine, engine->map.status) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  engine->commands = (uintptr_t)commands;
  engine->count = (uint32_t)count;
  engine->rung = 0u;
  set(engine, engine->map.control, CONTROL_CLEAR);
  engine->completed_before = get(engine, engine->map.completed);
  ring(engine, 0u);
  return ATOLL_OK;
}

int32_t atoll_doorbell_wait(struct atoll_doorbell *engine, uint32_t timeout) {
  if (engine->state != ATOLL_DOORBELL_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = wait(engine, timeout);
  return status == ATOLL_OK ? outcome(engine) : status;
}

int32_t atoll_doorbell_run(struct atoll_doorbell *engine, const void *commands, int32_t count,
                           uint32_t timeout) {
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = atoll_doorbell_start(engine, commands, count);
  return status == ATOLL_OK ? atoll_doorbell_wait(engine, timeout) : status;
}
