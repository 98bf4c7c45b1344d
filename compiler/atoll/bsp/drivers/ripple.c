/* Driver of the ripple DMA engine. */
#include "ripple.h"

#include "atoll_runtime.h"

#define RIPPLE_LETTERS 0x4c504952u
#define COMMAND_BYTES 64u
#define COMMANDS_MOST 65535

enum { CONTROL_START = 1, CONTROL_ABORT = 2 };
enum { STATUS_BUSY = 1, STATUS_DONE = 2, STATUS_ERROR = 4 };

static uint32_t get(const struct atoll_ripple *ripple, uint32_t offset) {
  return atoll_read(ripple->registers + offset);
}

static void set(const struct atoll_ripple *ripple, uint32_t offset, uint32_t value) {
  atoll_write(ripple->registers + offset, value);
}

static void say(const struct atoll_ripple *ripple, const char *text) {
  atoll_print(ripple->name);
  atoll_print(": ");
  atoll_print(text);
}

static int32_t step(struct atoll_ripple *ripple, enum atoll_ripple_state from, enum atoll_ripple_state to) {
  if (ripple->state != from) return ATOLL_ERROR_ORDER;
  ripple->state = to;
  return ATOLL_OK;
}

/* Expect `value` in a register that describes the instance. */
static int32_t expect(const struct atoll_ripple *ripple, uint32_t offset, uint32_t value) {
  const uint32_t found = get(ripple, offset);
  if (found == value) return ATOLL_OK;
  say(ripple, "expected ");
  atoll_print_hex(value);
  atoll_print(" at register ");
  atoll_print_hex(offset);
  atoll_print(", found ");
  atoll_print_hex(found);
  atoll_print("\n");
  return ATOLL_ERROR_WRONG_DEVICE;
}

int32_t atoll_ripple_init(struct atoll_ripple *ripple) {
  if (ripple->state != ATOLL_RIPPLE_CREATED) return ATOLL_ERROR_ORDER;
  int32_t status = expect(ripple, ATOLL_RIPPLE_REGISTER_ID, RIPPLE_LETTERS);
  if (status == ATOLL_OK) status = expect(ripple, ATOLL_RIPPLE_REGISTER_PARAMS, ripple->params);
  if (status == ATOLL_OK) ripple->state = ATOLL_RIPPLE_INITIALISED;
  return status;
}

int32_t atoll_ripple_activate(struct atoll_ripple *ripple) {
  if ((get(ripple, ATOLL_RIPPLE_REGISTER_STATUS) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  return step(ripple, ATOLL_RIPPLE_INITIALISED, ATOLL_RIPPLE_ACTIVE);
}

int32_t atoll_ripple_open(struct atoll_ripple *ripple) {
  const int32_t status = step(ripple, ATOLL_RIPPLE_ACTIVE, ATOLL_RIPPLE_OPEN);
  if (status != ATOLL_OK) return status;
  set(ripple, ATOLL_RIPPLE_REGISTER_IRQ_STATUS, 1u);
  set(ripple, ATOLL_RIPPLE_REGISTER_IRQ_ENABLE, 1u);
  return ATOLL_OK;
}

int32_t atoll_ripple_close(struct atoll_ripple *ripple) {
  const int32_t status = step(ripple, ATOLL_RIPPLE_OPEN, ATOLL_RIPPLE_ACTIVE);
  if (status == ATOLL_OK) set(ripple, ATOLL_RIPPLE_REGISTER_IRQ_ENABLE, 0u);
  return status;
}

int32_t atoll_ripple_deactivate(struct atoll_ripple *ripple) {
  return step(ripple, ATOLL_RIPPLE_ACTIVE, ATOLL_RIPPLE_INITIALISED);
}

int32_t atoll_ripple_destroy(struct atoll_ripple *ripple) {
  return step(ripple, ATOLL_RIPPLE_INITIALISED, ATOLL_RIPPLE_CREATED);
}

static const char *error_name(uint32_t error) {
  static const char *const names[] = {"NONE",         "READ_SLAVE", "READ_DECODE",
                                      "WRITE_SLAVE",  "WRITE_DECODE", "BAD_OPCODE",
                                      "BAD_FIELD",    "MISALIGNED", "ABORTED"};
  return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

static int32_t give_up(const struct atoll_ripple *ripple, uint32_t completed) {
  set(ripple, ATOLL_RIPPLE_REGISTER_CONTROL, CONTROL_ABORT);
  say(ripple, "no answer after ");
  atoll_print_decimal((int32_t)completed);
  atoll_print(" commands\n");
  return ATOLL_ERROR_TIMEOUT;
}

static int32_t wait(const struct atoll_ripple *ripple, uint32_t timeout) {
  uint32_t completed = 0u;
  while (atoll_wait_interrupt(ripple->irq, timeout) == 0) {
    const uint32_t now = get(ripple, ATOLL_RIPPLE_REGISTER_COMPLETED);
    if (now == completed) return give_up(ripple, completed);
    completed = now;
  }
  return ATOLL_OK;
}

static int32_t outcome(const struct atoll_ripple *ripple) {
  const uint32_t status = get(ripple, ATOLL_RIPPLE_REGISTER_STATUS);
  set(ripple, ATOLL_RIPPLE_REGISTER_IRQ_STATUS, 1u);
  if ((status & STATUS_ERROR) == 0u && (status & STATUS_DONE) != 0u) return ATOLL_OK;
  const uint32_t error = get(ripple, ATOLL_RIPPLE_REGISTER_ERROR);
  say(ripple, "error ");
  atoll_print_decimal((int32_t)error);
  atoll_print(" (");
  atoll_print(error_name(error));
  atoll_print(") at ");
  atoll_print_hex(get(ripple, ATOLL_RIPPLE_REGISTER_FAULT_ADDRESS));
  atoll_print("\n");
  return ATOLL_ERROR_DEVICE;
}

int32_t atoll_ripple_start(const struct atoll_ripple *ripple, const void *commands, int32_t count) {
  if (ripple->state != ATOLL_RIPPLE_OPEN) return ATOLL_ERROR_ORDER;
  if (count < 1 || count > COMMANDS_MOST ||
      ((uintptr_t)commands & (COMMAND_BYTES - 1u)) != 0u)
    return ATOLL_ERROR_ARGUMENT;
  if ((get(ripple, ATOLL_RIPPLE_REGISTER_STATUS) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  set(ripple, ATOLL_RIPPLE_REGISTER_LIST_ADDRESS, (uint32_t)(uintptr_t)commands);
  set(ripple, ATOLL_RIPPLE_REGISTER_LIST_COUNT, (uint32_t)count);
  set(ripple, ATOLL_RIPPLE_REGISTER_CONTROL, CONTROL_START);
  return ATOLL_OK;
}

int32_t atoll_ripple_wait(const struct atoll_ripple *ripple, uint32_t timeout) {
  if (ripple->state != ATOLL_RIPPLE_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = wait(ripple, timeout);
  return status == ATOLL_OK ? outcome(ripple) : status;
}

int32_t atoll_ripple_run(const struct atoll_ripple *ripple, const void *commands, int32_t count,
                       uint32_t timeout) {
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = atoll_ripple_start(ripple, commands, count);
  return status == ATOLL_OK ? atoll_ripple_wait(ripple, timeout) : status;
}
