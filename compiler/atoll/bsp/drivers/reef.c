/* Driver of the reef accelerator. */
#include "reef.h"

#include "atoll_runtime.h"

#define REEF_LETTERS 0x46454552u
#define COMMAND_BYTES 64u
#define COMMANDS_MOST 65535

enum { CONTROL_START = 1, CONTROL_ABORT = 2 };
enum { STATUS_BUSY = 1, STATUS_DONE = 2, STATUS_ERROR = 4 };

static uint32_t get(const struct atoll_reef *reef, uint32_t offset) {
  return atoll_read(reef->registers + offset);
}

static void set(const struct atoll_reef *reef, uint32_t offset, uint32_t value) {
  atoll_write(reef->registers + offset, value);
}

static void say(const struct atoll_reef *reef, const char *text) {
  atoll_print(reef->name);
  atoll_print(": ");
  atoll_print(text);
}

static int32_t step(struct atoll_reef *reef, enum atoll_reef_state from, enum atoll_reef_state to) {
  if (reef->state != from) return ATOLL_ERROR_ORDER;
  reef->state = to;
  return ATOLL_OK;
}

/* Expect `value` in a register that describes the instance. */
static int32_t expect(const struct atoll_reef *reef, uint32_t offset, uint32_t value) {
  const uint32_t found = get(reef, offset);
  if (found == value) return ATOLL_OK;
  say(reef, "expected ");
  atoll_print_hex(value);
  atoll_print(" at register ");
  atoll_print_hex(offset);
  atoll_print(", found ");
  atoll_print_hex(found);
  atoll_print("\n");
  return ATOLL_ERROR_WRONG_DEVICE;
}

int32_t atoll_reef_init(struct atoll_reef *reef) {
  if (reef->state != ATOLL_REEF_CREATED) return ATOLL_ERROR_ORDER;
  int32_t status = expect(reef, ATOLL_REEF_REGISTER_ID, REEF_LETTERS);
  if (status == ATOLL_OK) status = expect(reef, ATOLL_REEF_REGISTER_PARAMS, reef->params);
  if (status == ATOLL_OK) status = expect(reef, ATOLL_REEF_REGISTER_WEIGHT_ROWS, reef->weight_rows);
  if (status == ATOLL_OK) reef->state = ATOLL_REEF_INITIALISED;
  return status;
}

int32_t atoll_reef_activate(struct atoll_reef *reef) {
  if ((get(reef, ATOLL_REEF_REGISTER_STATUS) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  return step(reef, ATOLL_REEF_INITIALISED, ATOLL_REEF_ACTIVE);
}

int32_t atoll_reef_open(struct atoll_reef *reef) {
  const int32_t status = step(reef, ATOLL_REEF_ACTIVE, ATOLL_REEF_OPEN);
  if (status != ATOLL_OK) return status;
  set(reef, ATOLL_REEF_REGISTER_IRQ_STATUS, 1u);
  set(reef, ATOLL_REEF_REGISTER_IRQ_ENABLE, 1u);
  return ATOLL_OK;
}

int32_t atoll_reef_close(struct atoll_reef *reef) {
  const int32_t status = step(reef, ATOLL_REEF_OPEN, ATOLL_REEF_ACTIVE);
  if (status == ATOLL_OK) set(reef, ATOLL_REEF_REGISTER_IRQ_ENABLE, 0u);
  return status;
}

int32_t atoll_reef_deactivate(struct atoll_reef *reef) {
  return step(reef, ATOLL_REEF_ACTIVE, ATOLL_REEF_INITIALISED);
}

int32_t atoll_reef_destroy(struct atoll_reef *reef) {
  return step(reef, ATOLL_REEF_INITIALISED, ATOLL_REEF_CREATED);
}

static const char *error_name(uint32_t error) {
  static const char *const names[] = {"NONE",         "READ_SLAVE", "READ_DECODE",
                                      "WRITE_SLAVE",  "WRITE_DECODE", "BAD_OPCODE",
                                      "BAD_FIELD",    "MISALIGNED", "ABORTED"};
  return error < sizeof names / sizeof names[0] ? names[error] : "unknown";
}

static int32_t give_up(const struct atoll_reef *reef, uint32_t completed) {
  set(reef, ATOLL_REEF_REGISTER_CONTROL, CONTROL_ABORT);
  say(reef, "no answer after ");
  atoll_print_decimal((int32_t)completed);
  atoll_print(" commands\n");
  return ATOLL_ERROR_TIMEOUT;
}

static int32_t wait(const struct atoll_reef *reef, uint32_t timeout) {
  uint32_t completed = 0u;
  while (atoll_wait_interrupt(reef->irq, timeout) == 0) {
    const uint32_t now = get(reef, ATOLL_REEF_REGISTER_COMPLETED);
    if (now == completed) return give_up(reef, completed);
    completed = now;
  }
  return ATOLL_OK;
}

static int32_t outcome(const struct atoll_reef *reef) {
  const uint32_t status = get(reef, ATOLL_REEF_REGISTER_STATUS);
  set(reef, ATOLL_REEF_REGISTER_IRQ_STATUS, 1u);
  if ((status & STATUS_ERROR) == 0u && (status & STATUS_DONE) != 0u) return ATOLL_OK;
  const uint32_t error = get(reef, ATOLL_REEF_REGISTER_ERROR);
  say(reef, "error ");
  atoll_print_decimal((int32_t)error);
  atoll_print(" (");
  atoll_print(error_name(error));
  atoll_print(") at ");
  atoll_print_hex(get(reef, ATOLL_REEF_REGISTER_FAULT_ADDRESS));
  atoll_print("\n");
  return ATOLL_ERROR_DEVICE;
}

int32_t atoll_reef_start(const struct atoll_reef *reef, const void *commands, int32_t count) {
  if (reef->state != ATOLL_REEF_OPEN) return ATOLL_ERROR_ORDER;
  if (count < 1 || count > COMMANDS_MOST ||
      ((uintptr_t)commands & (COMMAND_BYTES - 1u)) != 0u)
    return ATOLL_ERROR_ARGUMENT;
  if ((get(reef, ATOLL_REEF_REGISTER_STATUS) & STATUS_BUSY) != 0u) return ATOLL_ERROR_BUSY;
  set(reef, ATOLL_REEF_REGISTER_LIST_ADDRESS, (uint32_t)(uintptr_t)commands);
  set(reef, ATOLL_REEF_REGISTER_LIST_COUNT, (uint32_t)count);
  set(reef, ATOLL_REEF_REGISTER_CONTROL, CONTROL_START);
  return ATOLL_OK;
}

int32_t atoll_reef_wait(const struct atoll_reef *reef, uint32_t timeout) {
  if (reef->state != ATOLL_REEF_OPEN) return ATOLL_ERROR_ORDER;
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = wait(reef, timeout);
  return status == ATOLL_OK ? outcome(reef) : status;
}

int32_t atoll_reef_run(const struct atoll_reef *reef, const void *commands, int32_t count,
                       uint32_t timeout) {
  if (timeout == 0u) return ATOLL_ERROR_ARGUMENT;
  const int32_t status = atoll_reef_start(reef, commands, count);
  return status == ATOLL_OK ? atoll_reef_wait(reef, timeout) : status;
}
