/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The self-test of 'rp2040': marches over pools, accesses of cores and engines, known answers
 * and networks. It prints a line for each; `atoll selftest` judges them.
 * A line ends with the CRC-32 of what stands before " crc=", so that damage on its way is noticed.
 */
#include "tiny.h"
#include "tiny_example.h"

#include "atoll_devices.h"
#include "atoll_runtime.h"
#include "atoll_selftest.h"
#include "shared_mailbox.h"

/* Turns of 65,536 cycles after which another core that does not answer is given up. */
#ifndef ATOLL_SELFTEST_PATIENCE
#define ATOLL_SELFTEST_PATIENCE 100000
#endif

#define PATTERN UINT32_C(0x5AC35AC3)

/* In the first line and in the last, of which one may arrive damaged. */
#define ABOUT " version=2 chip=rp2040 tests=39"

enum outcome { WORKS, REFUSED, WRONG, BLOCKED, SILENT };

static uint32_t number, failed;

/* CRC-32 (ISO 3309) of the line so far, before it is complemented. */
static uint32_t crc;

static void say(const char *text) {
  static const uint32_t nibbles[16] = {
      0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
      0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu};
  for (const char *at = text; *at != '\0'; at++) {
    crc ^= (uint8_t)*at;
    crc = crc >> 4 ^ nibbles[crc & 15u];
    crc = crc >> 4 ^ nibbles[crc & 15u];
  }
  atoll_print(text);
}

static void say_decimal(uint32_t value) {
  char digits[11];
  char *first = &digits[10];
  *first = '\0';
  do {
    *--first = (char)('0' + value % 10u);
    value /= 10u;
  } while (value != 0u);
  say(first);
}

static void say_hex(const char *name, uint32_t value) {
  char digits[] = "0x00000000";
  for (uint32_t i = 0; i < 8u; i++) digits[9u - i] = "0123456789ABCDEF"[value >> 4u * i & 15u];
  say(name);
  say(digits);
}

static void begin_line(const char *text) {
  crc = UINT32_MAX;
  say("selftest ");
  say(text);
}

static void end_line(void) {
  say_hex(" crc=", ~crc);
  atoll_print("\n");
}

static const char *const outcomes[] = {"works", "refused", "wrong", "blocked", "silent"};

/* The mailbox of another core in memory, as its halves, or 0. */
static volatile struct atoll_shared_mailbox_halves *halves_of(uint32_t core) {
  switch (core) {
    case ATOLL_DEVICE_CORE1:
      return (volatile struct atoll_shared_mailbox_halves *)(uintptr_t)ATOLL_DEVICE_CORE1_MAILBOX;
    default:
      return 0;
  }
}

static int answered_in_memory(volatile struct atoll_shared_mailbox_halves *halves) {
  const uint32_t looks = 65536u / ATOLL_SHARED_MAILBOX_PERIOD;
  for (uint32_t look = 0; look / looks < ATOLL_SELFTEST_PATIENCE; look++) {
    if (atoll_shared_mailbox_answered(halves)) return 1;
    (void)atoll_wait_interrupt(ATOLL_NO_LINE, ATOLL_SHARED_MAILBOX_PERIOD);
  }
  return 0;
}

static void give_up(uint32_t core) {
  atoll_print("\n"); /* another line may have begun */
  begin_line("silent device=");
  say(atoll_device_table[core].name);
  end_line();
  atoll_exit(1);
}

static int32_t send(uint32_t core, uint32_t command) {
  if (core == ATOLL_HOST) return atoll_selftest_serve(command);
  volatile struct atoll_shared_mailbox_halves *const halves = halves_of(core);
  if (halves) {
    atoll_shared_mailbox_send(halves, command);
    if (!answered_in_memory(halves)) give_up(core);
    return (int32_t)halves->core.result;
  }
  return ATOLL_ERROR_NO_DEVICE;
}

/* Have a core do something with five arguments. */
static int32_t ask(uint32_t core, uint32_t what, const uint32_t arguments[5]) {
  for (uint32_t half = 0; half < 10u; half++)
    (void)send(core, (uint32_t)ATOLL_SELFTEST_ARGUMENT << 16 |
                         (arguments[half / 2u] >> (half % 2u == 0u ? 16u : 0u) & 0xFFFFu));
  return send(core, (uint32_t)ATOLL_SELFTEST_ASK << 16 | what);
}

static uint32_t word(uint32_t core, uint32_t index) {
  return (uint32_t)send(core, (uint32_t)ATOLL_SELFTEST_ASK << 16 | (ATOLL_SELFTEST_WORD + index));
}

static int32_t load(uint32_t core, uint32_t address) {
  const uint32_t arguments[5] = {address, 0u, 0u, 0u, 0u};
  return ask(core, ATOLL_SELFTEST_LOAD, arguments);
}

static int32_t store(uint32_t core, uint32_t address, uint32_t value) {
  const uint32_t arguments[5] = {address, value, 0u, 0u, 0u};
  return ask(core, ATOLL_SELFTEST_STORE, arguments);
}

static void begin(const char *kind, uint32_t device) {
  begin_line("");
  say_decimal(++number);
  say(kind);
  say(" device=");
  say(atoll_device_table[device].name);
}

static void end(enum outcome wanted, enum outcome found) {
  say(" expect=");
  say(outcomes[wanted]);
  say(" found=");
  say(outcomes[found]);
  end_line();
  failed += wanted != found;
}

struct march {
  uint32_t core;
  const char *pool;
  const char *memory;
  uint32_t arguments[5];
};

static const struct march marches[] = {
    {ATOLL_DEVICE_CORE0, "arena", "sram", {0x20002080u, 0x0003DF80u, 0x20000000u, 4u, 4u}},
    {ATOLL_DEVICE_CORE1, "arena", "sram", {0x20002080u, 0x0003DF80u, 0x20000000u, 4u, 4u}},
};

static void try_march(const struct march *test) {
  static const char *const words[] = {" wrong=", " first=", " wrote=", " read=", " bits=", " lines="};
  (void)ask(test->core, ATOLL_SELFTEST_MARCH, test->arguments);
  const int32_t kept_back = atoll_guard_check(ATOLL_OK);
  const uint32_t wrong = word(test->core, 0u);
  begin(" march", test->core);
  say(" place=");
  say(test->pool);
  say(" memory=");
  say(test->memory);
  say_hex(" begin=", test->arguments[0]);
  say_hex(" bytes=", test->arguments[1]);
  if (wrong != 0u) {
    for (uint32_t i = 0; i < 6u; i++) say_hex(words[i], word(test->core, i));
    say(" banks=");
    for (uint32_t bank = 0; bank < test->arguments[4] && bank < ATOLL_SELFTEST_BANKS; bank++) {
      if (bank != 0u) say(",");
      say_decimal(word(test->core, 6u + bank));
    }
  }
  end(WORKS, kept_back != ATOLL_OK ? REFUSED : wrong != 0u ? WRONG : WORKS);
}

struct access {
  uint32_t core;
  const char *place;
  uint32_t address;
  uint8_t write, allowed, readable, tagged;
  uint16_t number;
};

static const struct access accesses[] = {
    {ATOLL_DEVICE_CORE0, "arena", 0x2003FFFCu, 0, 1, 1, 1, 0},
    {ATOLL_DEVICE_CORE0, "weights", 0x101FFFFCu, 0, 1, 1, 0, 1},
    {ATOLL_DEVICE_CORE0, "core0.code", 0x10040FFCu, 0, 1, 1, 0, 2},
    {ATOLL_DEVICE_CORE0, "core0.data", 0x20000FFCu, 0, 1, 1, 0, 3},
    {ATOLL_DEVICE_CORE0, "core0.stack", 0x20041000u, 0, 1, 1, 0, 4},
    {ATOLL_DEVICE_CORE0, "core1.code", 0x10050FFCu, 0, 0, 0, 0, 5},
    {ATOLL_DEVICE_CORE0, "core1.data", 0x20001FFCu, 0, 0, 0, 0, 6},
    {ATOLL_DEVICE_CORE0, "core1.stack", 0x20040000u, 0, 0, 0, 0, 7},
    {ATOLL_DEVICE_CORE0, "core1.mailbox", 0x2000207Cu, 0, 1, 1, 0, 8},
    {ATOLL_DEVICE_CORE1, "arena", 0x2003FFFCu, 0, 1, 1, 1, 0},
    {ATOLL_DEVICE_CORE1, "weights", 0x101FFFFCu, 0, 1, 1, 0, 1},
    {ATOLL_DEVICE_CORE1, "core0.code", 0x10040FFCu, 0, 0, 0, 0, 2},
    {ATOLL_DEVICE_CORE1, "core0.data", 0x20000FFCu, 0, 0, 0, 0, 3},
    {ATOLL_DEVICE_CORE1, "core0.stack", 0x20041000u, 0, 0, 0, 0, 4},
    {ATOLL_DEVICE_CORE1, "core1.code", 0x10050FFCu, 0, 1, 1, 0, 5},
    {ATOLL_DEVICE_CORE1, "core1.data", 0x20001FFCu, 0, 1, 1, 0, 6},
    {ATOLL_DEVICE_CORE1, "core1.stack", 0x20040000u, 0, 1, 1, 0, 7},
    {ATOLL_DEVICE_CORE1, "core1.mailbox", 0x2000207Cu, 0, 1, 1, 0, 8},
    {ATOLL_DEVICE_CORE0, "arena", 0x2003FFFCu, 1, 1, 1, 1, 0},
    {ATOLL_DEVICE_CORE0, "weights", 0x101FFFFCu, 1, 0, 1, 0, 1},
    {ATOLL_DEVICE_CORE0, "core0.code", 0x10040FFCu, 1, 0, 1, 0, 2},
    {ATOLL_DEVICE_CORE0, "core0.data", 0x20000FFCu, 1, 1, 1, 0, 3},
    {ATOLL_DEVICE_CORE0, "core0.stack", 0x20041000u, 1, 1, 1, 0, 4},
    {ATOLL_DEVICE_CORE0, "core1.code", 0x10050FFCu, 1, 0, 0, 0, 5},
    {ATOLL_DEVICE_CORE0, "core1.data", 0x20001FFCu, 1, 0, 0, 0, 6},
    {ATOLL_DEVICE_CORE0, "core1.stack", 0x20040000u, 1, 0, 0, 0, 7},
    {ATOLL_DEVICE_CORE0, "core1.mailbox", 0x2000207Cu, 1, 1, 1, 0, 8},
    {ATOLL_DEVICE_CORE1, "arena", 0x2003FFFCu, 1, 1, 1, 1, 0},
    {ATOLL_DEVICE_CORE1, "weights", 0x101FFFFCu, 1, 0, 1, 0, 1},
    {ATOLL_DEVICE_CORE1, "core0.code", 0x10040FFCu, 1, 0, 0, 0, 2},
    {ATOLL_DEVICE_CORE1, "core0.data", 0x20000FFCu, 1, 0, 0, 0, 3},
    {ATOLL_DEVICE_CORE1, "core0.stack", 0x20041000u, 1, 0, 0, 0, 4},
    {ATOLL_DEVICE_CORE1, "core1.code", 0x10050FFCu, 1, 0, 1, 0, 5},
    {ATOLL_DEVICE_CORE1, "core1.data", 0x20001FFCu, 1, 1, 1, 0, 6},
    {ATOLL_DEVICE_CORE1, "core1.stack", 0x20040000u, 1, 1, 1, 0, 7},
    {ATOLL_DEVICE_CORE1, "core1.mailbox", 0x2000207Cu, 1, 1, 1, 0, 8},
};

#define TAG(test) (UINT32_C(0x5E1F0000) | (test)->number)

/* Leave a tag in each place where nothing else is. */
static void leave_tags(void) {
  for (uint32_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++)
    if (accesses[i].core == ATOLL_HOST && !accesses[i].write && accesses[i].tagged)
      (void)store(ATOLL_HOST, accesses[i].address, TAG(&accesses[i]));
}

static enum outcome try_read(const struct access *test, uint32_t *read) {
  const int32_t trapped = load(test->core, test->address);
  const int32_t kept_back = atoll_guard_check(ATOLL_OK);
  if (trapped != 0 || kept_back != ATOLL_OK) return REFUSED;
  *read = word(test->core, 0u);
  return test->tagged && *read != TAG(test) ? WRONG : WORKS;
}

static enum outcome try_write(const struct access *test, uint32_t *read) {
  uint32_t before = 0u;
  enum outcome found;
  if (test->readable && load(test->core, test->address) == 0) before = word(test->core, 0u);
  (void)atoll_guard_check(ATOLL_OK);
  const int32_t trapped = store(test->core, test->address, before ^ PATTERN);
  const int32_t kept_back = atoll_guard_check(ATOLL_OK);
  if (trapped != 0 || kept_back != ATOLL_OK) return REFUSED;
  if (!test->readable) return WORKS;
  (void)load(test->core, test->address);
  *read = word(test->core, 0u);
  found = *read == (before ^ PATTERN) ? WORKS : *read == before ? SILENT : WRONG;
  (void)store(test->core, test->address, before);
  (void)atoll_guard_check(ATOLL_OK);
  return found;
}

static void try_access(const struct access *test) {
  uint32_t read = 0u;
  const enum outcome found = test->write ? try_write(test, &read) : try_read(test, &read);
  begin(test->write ? " write" : " read", test->core);
  say(" place=");
  say(test->place);
  say_hex(" address=", test->address);
  if (test->tagged && !test->write) say_hex(" tag=", TAG(test));
  if (found == WRONG) say_hex(" got=", read);
  end(test->allowed ? WORKS : REFUSED, found);
}

static int32_t run_tiny(void) {
  static const struct tiny_inputs inputs = {
      .image = TINY_INPUT_IMAGE_BUFFER
  };
  static const struct tiny_outputs outputs = {
      .scores = TINY_OUTPUT_SCORES_BUFFER,
      .boxes = TINY_OUTPUT_BOXES_BUFFER
  };
  return tiny_run(&inputs, &outputs);
}

static void copy(volatile uint8_t *to, const uint8_t *from, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) to[i] = from[i];
}

static int same(const volatile uint8_t *found, const uint8_t *right, uint32_t size) {
  for (uint32_t i = 0; i < size; i++)
    if (found[i] != right[i]) return 0;
  return 1;
}

static void try_tiny(void) {
  enum outcome found = WORKS;
  copy((uint8_t *)TINY_INPUT_IMAGE_BUFFER, tiny_input_image,
       TINY_INPUT_IMAGE_SIZE);
  if (run_tiny() != ATOLL_OK) found = BLOCKED;
  if (found == WORKS && !same((const uint8_t *)TINY_OUTPUT_SCORES_BUFFER,
                              tiny_output_scores, TINY_OUTPUT_SCORES_SIZE))
    found = WRONG;
  if (found == WORKS && !same((const uint8_t *)TINY_OUTPUT_BOXES_BUFFER,
                              tiny_output_boxes, TINY_OUTPUT_BOXES_SIZE))
    found = WRONG;
  begin(" network", ATOLL_HOST);
  say(" name=tiny");
  end(WORKS, found);
}


int main(void) {
  begin_line("begin" ABOUT);
  end_line();
  const int32_t status = atoll_devices_start();
  if (status != ATOLL_OK) {
    begin_line("stopped: ");
    say(atoll_status_text(status));
    end_line();
    return 1;
  }
  atoll_guard_start();
  for (uint32_t i = 0; i < sizeof marches / sizeof marches[0]; i++) try_march(&marches[i]);
  leave_tags();
  for (uint32_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) try_access(&accesses[i]);
  try_tiny();
  (void)atoll_devices_stop();
  begin_line("end" ABOUT " failed=");
  say_decimal(failed);
  end_line();
  return failed != 0u;
}
