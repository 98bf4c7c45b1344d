/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that run lists of commands from memory. */
#include "command_list.h"

#include "atoll_runtime.h"

#define COMMAND_BYTES 64u
#define COMMANDS_MOST 65535

/* An interrupt that got lost is noticed after so many cycles of the core. */
#define POLL_CYCLES 65536u

enum { CONTROL_START = 1, CONTROL_ABORT = 2 };
enum { STATUS_BUSY = 1, STATUS_DONE = 2, STATUS_ERROR = 4 };

static uint32_t get(const struct atoll_command_list *engine, uint32_t offset) {
  return atoll_read(engine->registers + offset);
}

static void set(const struct atoll_command_list *engine, uint32_t offset, uint32_t value) {
  atoll_write(engine->registers + offset, value);
}

static void say(const struct atoll_command_list *engine, const char *text) {
  atoll_print(engine->name);
  atoll_print(": ");
  atoll_print(text);
}

static int32_t step(struct atoll_command_list *engine, enum atoll_command_list_state from,
                    enum atoll_command_list_state to) {
  if (engine->state != from) return ATOLL_ERROR_ORDER;
  engine->state = to;
  return ATOLL_OK;
}

/* Expect `value` in a register that describes the instance. */
static int32_t expect(const struct atoll_command_list *engine, uint32_t offset, uint32_t value) {
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

int32_t atoll_command_list_init(struct atoll_command_list *engine) {
  int32_t status = ATOLL_OK;
  if (engine->state != ATOLL_COMMAND_LIST_CREATED) return ATOLL_ERROR_ORDER;
  for (uint32_t i = 0u; status == ATOLL_OK && i < engine->identity_count; i++)
    status = expect(engine, engine->identity[i].offset, engine->identity[i].value);
  if (status == ATOLL_OK) engine->state = ATOLL_COMMAND_LIST_INITIALISED;
  return status;
}

int32_t atoll_command_list_activate(struct atoll_command_list *engine) {
  if ((get(engine, engine->map.status) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  return step(engine, ATOLL_COMMAND_LIST_INITIALISED, ATOLL_COMMAND_LIST_ACTIVE);
}

int32_t atoll_command_list_open(struct atoll_command_list *engine) {
  const int32_t status = step(engine, ATOLL_COMMAND_LIST_ACTIVE, ATOLL_COMMAND_LIST_OPEN);
  if (status != ATOLL_OK) return status;
  set(engine, engine->map.irq_status, 1u);
  set(engine, engine->map.irq_enable, 1u);
  return ATOLL_OK;
}

int32_t atoll_command_list_close(struct atoll_command_list *engine) {
  const int32_t status = step(engine, ATOLL_COMMAND_LIST_OPEN, ATOLL_COMMAND_LIST_ACTIVE);
  if (status == ATOLL_OK) set(engine, engine->map.irq_enable, 0u);
  return status;
}

int32_t atoll_command_list_deactivate(struct atoll_command_list *engine) {
  return step(engine, ATOLL_COMMAND_LIST_ACTIVE, ATOLL_COMMAND_LIST_INITIALISED);
}

int32_t atoll_command_list_destroy(struct atoll_command_list *engine) {
  return step(engine, ATOLL_COMMAND_LIST_INITIALISED, ATOLL_COMMAND_LIST_CREATED);
}

static const char *error_name(uint32_t error) {
  static const char *const names[] = {"NONE",         "READ_SLAVE", "READ_DECODE",
                                      "WRITE_SLAVE",  "WRITE_DECODE", "BAD_OPCODE",
                                      "BAD_FIELD",    "MISALIGNED", "ABORTED",
                                      "BAD_CHECK"};
  return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

int32_t atoll_command_list_give_up(const struct atoll_command_list *engine, uint32_t completed) {
  set(engine, engine->map.control, CONTROL_ABORT);
  say(engine, "no answer after ");
  atoll_print_decimal((int32_t)completed);
  atoll_print(" commands\n");
  return ATOLL_ERROR_TIMEOUT;
}

static int32_t wait(const struct atoll_command_list *engine, uint32_t timeout) {
  uint32_t completed = 0u, waited = 0u;
  while (waited < timeout) {
    const uint32_t left = timeout - waited;
    const uint32_t turn = left < POLL_CYCLES ? left : POLL_CYCLES;
    if (atoll_wait_interrupt(engine->irq, turn) != 0) return ATOLL_OK;
    if ((get(engine, engine->map.status) & STATUS_BUSY) == 0u) return ATOLL_OK;
    const uint32_t now = get(engine, engine->map.completed);
    waited = now == completed ? waited + turn : 0u;
    completed = now;
  }
  return atoll_command_list_give_up(engine, completed);
}

int32_t atoll_command_list_fail(const struct atoll_command_list *engine) {
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

static int32_t outcome(const struct atoll_command_list *engine) {
  const uint32_t status = get(engine, engine->map.status);
  set(engine, engine->map.irq_status, 1u);
  if ((status & STATUS_ERROR) == 0u && (status & STATUS_DONE) != 0u) return ATOLL_OK;
  return atoll_command_list_fail(engine);
}

int32_t atoll_command_list_is_legal(const void *commands, int32_t count) {
  return count >= 1 && count <= COMMANDS_MOST &&
         ((uintptr_t)commands & (COMMAND_BYTES - 1u)) == 0u;
}

int32_t atoll_command_list_start(const struct atoll_command_list *engine, const void *commands,
                                 int32_t count) {
  if (engine->state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (atoll_command_list_is_legal(commands, count) == 0) return ATOLL_ERROR_ARGUMENT;
  if ((get(engine, engine->map.status) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  set(engine, engine->map.list_address, (uint32_t)(uintptr_t)commands);
  set(engine, engine->map.list_count, (uint32_t)count);
  set(engine, engine->map.control, CONTROL_START);
  return ATOLL_OK;
}

int32_t atoll_command_list_wait(const struct atoll_command_list *engine, uint32_t timeout) {
  if (engine->state != ATOLL_COMMAND_LIST_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = wait(engine, timeout);
  return status == ATOLL_OK ? outcome(engine) : status;
}

int32_t atoll_command_list_run(const struct atoll_command_list *engine, const void *commands,
                               int32_t count, uint32_t timeout) {
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = atoll_command_list_start(engine, commands, count);
  return status == ATOLL_OK ? atoll_command_list_wait(engine, timeout) : status;
}
