/* Made from twin.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The self-test of 'twin': marches over pools, accesses of cores and engines, known answers
 * and networks. It prints a line for each; `atoll selftest` judges them.
 * A line ends with the CRC-32 of what stands before " crc=", so that damage on its way is noticed.
 */
#include "tiny.h"
#include "tiny_example.h"

#include "atoll_devices.h"
#include "atoll_runtime.h"
#include "atoll_selftest.h"

/* Turns of 65,536 cycles after which another core that does not answer is given up. */
#ifndef ATOLL_SELFTEST_PATIENCE
#define ATOLL_SELFTEST_PATIENCE 100000
#endif

#define PATTERN UINT32_C(0x5AC35AC3)

/* In the first line and in the last, of which one may arrive damaged. */
#define ABOUT " version=2 chip=twin tests=132"

enum outcome { WORKS, REFUSED, WRONG, BLOCKED, SILENT };
enum action { FILL, RUN, CHECK };

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

/* Wait for the answer of another core; 0 if there is none. */
static int answered(uint32_t core) {
  const uintptr_t mailbox = atoll_device_table[core].registers;
  uint32_t line = 0u;
  switch (core) {
    case ATOLL_DEVICE_DSP: line = ATOLL_DEVICE_DSP_IRQ; break;
    default: break;
  }
  for (uint32_t turn = 0; turn < ATOLL_SELFTEST_PATIENCE; turn++) {
    (void)atoll_wait_interrupt(line, 65536u);
    if ((atoll_read(mailbox + ATOLL_MAILBOX_REGISTER_STATUS) & 2u) != 0u) return 1;
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
  const uintptr_t mailbox = atoll_device_table[core].registers;
  atoll_write(mailbox + ATOLL_MAILBOX_REGISTER_COMMAND, command);
  if (!answered(core)) give_up(core);
  const int32_t result = (int32_t)atoll_read(mailbox + ATOLL_MAILBOX_REGISTER_RESULT);
  atoll_write(mailbox + ATOLL_MAILBOX_REGISTER_CLEAR, 1u);
  return result;
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
    {ATOLL_DEVICE_CPU, "cpu_local", "cpu_tcm", {0x10003000u, 0x00005000u, 0x10000000u, 4u, 1u}},
    {ATOLL_DEVICE_CPU, "shared", "sram", {0x20000000u, 0x00020000u, 0x20000000u, 8u, 4u}},
    {ATOLL_DEVICE_DSP, "dsp_local", "dsp_tcm", {0x11003000u, 0x00005000u, 0x11000000u, 4u, 1u}},
    {ATOLL_DEVICE_DSP, "shared", "sram", {0x20000000u, 0x00020000u, 0x20000000u, 8u, 4u}},
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
    {ATOLL_DEVICE_CPU, "cpu_local", 0x10007FFCu, 0, 1, 1, 1, 0},
    {ATOLL_DEVICE_CPU, "dsp_local", 0x11007FFCu, 0, 0, 0, 0, 1},
    {ATOLL_DEVICE_CPU, "large_local", 0x3001FFFCu, 0, 0, 0, 0, 2},
    {ATOLL_DEVICE_CPU, "small_local", 0x3400FFFCu, 0, 0, 0, 0, 3},
    {ATOLL_DEVICE_CPU, "weights", 0x000FFFFCu, 0, 1, 1, 0, 4},
    {ATOLL_DEVICE_CPU, "shared", 0x2001FFFCu, 0, 1, 1, 1, 5},
    {ATOLL_DEVICE_CPU, "cpu.code", 0x00017FFCu, 0, 1, 1, 0, 6},
    {ATOLL_DEVICE_CPU, "cpu.data", 0x10002FFCu, 0, 1, 1, 0, 7},
    {ATOLL_DEVICE_CPU, "cpu.stack", 0x10000000u, 0, 1, 1, 0, 8},
    {ATOLL_DEVICE_CPU, "dsp.code", 0x00027FFCu, 0, 0, 0, 0, 9},
    {ATOLL_DEVICE_CPU, "dsp.data", 0x11002FFCu, 0, 0, 0, 0, 10},
    {ATOLL_DEVICE_CPU, "dsp.stack", 0x11000000u, 0, 0, 0, 0, 11},
    {ATOLL_DEVICE_DSP, "cpu_local", 0x10007FFCu, 0, 0, 0, 1, 0},
    {ATOLL_DEVICE_DSP, "dsp_local", 0x11007FFCu, 0, 1, 1, 0, 1},
    {ATOLL_DEVICE_DSP, "large_local", 0x3001FFFCu, 0, 0, 0, 0, 2},
    {ATOLL_DEVICE_DSP, "small_local", 0x3400FFFCu, 0, 0, 0, 0, 3},
    {ATOLL_DEVICE_DSP, "weights", 0x000FFFFCu, 0, 1, 1, 0, 4},
    {ATOLL_DEVICE_DSP, "shared", 0x2001FFFCu, 0, 1, 1, 1, 5},
    {ATOLL_DEVICE_DSP, "cpu.code", 0x00017FFCu, 0, 0, 0, 0, 6},
    {ATOLL_DEVICE_DSP, "cpu.data", 0x10002FFCu, 0, 0, 0, 0, 7},
    {ATOLL_DEVICE_DSP, "cpu.stack", 0x10000000u, 0, 0, 0, 0, 8},
    {ATOLL_DEVICE_DSP, "dsp.code", 0x00027FFCu, 0, 1, 1, 0, 9},
    {ATOLL_DEVICE_DSP, "dsp.data", 0x11002FFCu, 0, 1, 1, 0, 10},
    {ATOLL_DEVICE_DSP, "dsp.stack", 0x11000000u, 0, 1, 1, 0, 11},
    {ATOLL_DEVICE_DSP, "npu_large.registers", 0x40000000u, 0, 0, 0, 0, 13},
    {ATOLL_DEVICE_DSP, "npu_small.registers", 0x40001000u, 0, 0, 0, 0, 14},
    {ATOLL_DEVICE_DSP, "dma.registers", 0x40002000u, 0, 0, 0, 0, 15},
    {ATOLL_DEVICE_CPU, "cpu_local", 0x10007FFCu, 1, 1, 1, 1, 0},
    {ATOLL_DEVICE_CPU, "dsp_local", 0x11007FFCu, 1, 0, 0, 0, 1},
    {ATOLL_DEVICE_CPU, "large_local", 0x3001FFFCu, 1, 0, 0, 0, 2},
    {ATOLL_DEVICE_CPU, "small_local", 0x3400FFFCu, 1, 0, 0, 0, 3},
    {ATOLL_DEVICE_CPU, "weights", 0x000FFFFCu, 1, 0, 1, 0, 4},
    {ATOLL_DEVICE_CPU, "shared", 0x2001FFFCu, 1, 1, 1, 1, 5},
    {ATOLL_DEVICE_CPU, "cpu.code", 0x00017FFCu, 1, 0, 1, 0, 6},
    {ATOLL_DEVICE_CPU, "cpu.data", 0x10002FFCu, 1, 1, 1, 0, 7},
    {ATOLL_DEVICE_CPU, "cpu.stack", 0x10000000u, 1, 1, 1, 0, 8},
    {ATOLL_DEVICE_CPU, "dsp.code", 0x00027FFCu, 1, 0, 0, 0, 9},
    {ATOLL_DEVICE_CPU, "dsp.data", 0x11002FFCu, 1, 0, 0, 0, 10},
    {ATOLL_DEVICE_CPU, "dsp.stack", 0x11000000u, 1, 0, 0, 0, 11},
    {ATOLL_DEVICE_DSP, "cpu_local", 0x10007FFCu, 1, 0, 0, 1, 0},
    {ATOLL_DEVICE_DSP, "dsp_local", 0x11007FFCu, 1, 1, 1, 0, 1},
    {ATOLL_DEVICE_DSP, "large_local", 0x3001FFFCu, 1, 0, 0, 0, 2},
    {ATOLL_DEVICE_DSP, "small_local", 0x3400FFFCu, 1, 0, 0, 0, 3},
    {ATOLL_DEVICE_DSP, "weights", 0x000FFFFCu, 1, 0, 1, 0, 4},
    {ATOLL_DEVICE_DSP, "shared", 0x2001FFFCu, 1, 1, 1, 1, 5},
    {ATOLL_DEVICE_DSP, "cpu.code", 0x00017FFCu, 1, 0, 0, 0, 6},
    {ATOLL_DEVICE_DSP, "cpu.data", 0x10002FFCu, 1, 0, 0, 0, 7},
    {ATOLL_DEVICE_DSP, "cpu.stack", 0x10000000u, 1, 0, 0, 0, 8},
    {ATOLL_DEVICE_DSP, "dsp.code", 0x00027FFCu, 1, 0, 1, 0, 9},
    {ATOLL_DEVICE_DSP, "dsp.data", 0x11002FFCu, 1, 1, 1, 0, 10},
    {ATOLL_DEVICE_DSP, "dsp.stack", 0x11000000u, 1, 1, 1, 0, 11},
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

struct step {
  enum action action;
  uint32_t device;
  uint32_t address;
  const uint8_t *data;
  uint32_t size;
  uint32_t first, last;
};

struct engine_test {
  uint32_t device;
  const char *kind;
  const char *about;
  const struct step *steps;
  uint32_t count;
  uint8_t allowed;
};

static const uint8_t block_0[] = {
    0x80, 0xCE, 0xE0, 0xE2, 0x80, 0xC4, 0x80, 0x0E, 0xEC, 0x29, 0x04, 0x20, 0x28, 0x6B, 0xE3, 0xEC,
    0x7F, 0x11, 0x56, 0x6D, 0x7F, 0xC1, 0x44, 0x80, 0x11, 0xB1, 0x23, 0xEC, 0x93, 0x46, 0xC7, 0xFD,
};

static const uint8_t block_1[] = {
    0x7F, 0x31, 0x1F, 0x1D, 0x7F, 0x3B, 0x7F, 0xF1, 0x13, 0xD6, 0xFB, 0xDF, 0xD7, 0x94, 0x1C, 0x13,
    0x80, 0xEE, 0xA9, 0x92, 0x80, 0x3E, 0xBB, 0x7F, 0xEE, 0x4E, 0xDC, 0x13, 0x6C, 0xB9, 0x38, 0x02,
};

static const uint8_t block_2[] = {
    0x80, 0x7F, 0xD8, 0x5C, 0xAE, 0x94, 0xC1, 0xDE,
};

static const uint8_t block_3[] = {
    0x7F, 0x80, 0x27, 0xA3, 0x51, 0x6B, 0x3E, 0x21,
};

static const uint8_t block_4[] = {
    0x4A, 0x01, 0xF3, 0xB8, 0xCE, 0x45, 0x70, 0x77, 0xEF, 0xA9, 0x8F, 0xA1, 0x96, 0x24, 0x32, 0x5D,
    0xDC, 0xCA, 0xD2, 0x72, 0x68, 0x4B, 0xDB, 0x5F, 0xC9, 0x83, 0x2B, 0xE6, 0xF6, 0x9D, 0xC0, 0x2E,
    0x0C, 0x7A, 0x2E, 0xF8, 0x50, 0xEE, 0xA7, 0x0A, 0x30, 0x1C, 0x71, 0x3F, 0x33, 0x08, 0xD6, 0xA7,
    0x86, 0xDA, 0xF3, 0x42, 0x85, 0xE6, 0x4A, 0x85, 0xE9, 0x1D, 0xFB, 0x2C, 0x6F, 0x0E, 0x96, 0x69,
    0x7B, 0x0B, 0x1E, 0x55, 0xDC, 0x78, 0x60, 0xDD, 0xD2, 0xFA, 0x80, 0x53, 0xFA, 0xDF, 0xF7, 0x38,
    0x57, 0x58, 0xC3, 0x77, 0x82, 0x1D, 0xF5, 0xA5, 0x7E, 0x3D, 0x39, 0xDE, 0xEE, 0xED, 0x2C, 0x69,
    0xC9, 0x3E, 0x15, 0x5B, 0x65, 0xEB, 0xA1, 0x74, 0x44, 0xC0, 0xED, 0x86, 0x60, 0x29, 0x8C, 0xBD,
    0x67, 0xF6, 0x9F, 0x03, 0x8F, 0x93, 0x07, 0x24, 0x63, 0xE9, 0x67, 0x03, 0x08, 0x39, 0xAE, 0xDD,
};

static const uint8_t block_5[] = {
    0x09, 0x0A, 0x94, 0x80, 0x80, 0xB4, 0x80, 0x80, 0xAB, 0xD5, 0xBC, 0xF5, 0x7F, 0x0F, 0xBD, 0x35,
    0x95, 0x16, 0x7F, 0xD3, 0x7F, 0x7F, 0x48, 0x7F, 0x9C, 0xA1, 0xF1, 0x65, 0x48, 0xD3, 0x4D, 0x1F,
};

static const uint8_t block_6[] = {
    0xF6, 0xF5, 0x6B, 0x7F, 0x7F, 0x4B, 0x7F, 0x7F, 0x54, 0x2A, 0x43, 0x0A, 0x80, 0xF0, 0x42, 0xCA,
    0x6A, 0xE9, 0x80, 0x2C, 0x80, 0x80, 0xB7, 0x80, 0x63, 0x5E, 0x0E, 0x9A, 0xB7, 0x2C, 0xB2, 0xE0,
};

static const uint8_t block_7[] = {
    0xB5, 0xFE, 0x0C, 0x47, 0x31, 0xBA, 0x8F, 0x88, 0x10, 0x56, 0x70, 0x5E, 0x69, 0xDB, 0xCD, 0xA2,
    0x23, 0x35, 0x2D, 0x8D, 0x97, 0xB4, 0x24, 0xA0, 0x36, 0x7C, 0xD4, 0x19, 0x09, 0x62, 0x3F, 0xD1,
    0xF3, 0x85, 0xD1, 0x07, 0xAF, 0x11, 0x58, 0xF5, 0xCF, 0xE3, 0x8E, 0xC0, 0xCC, 0xF7, 0x29, 0x58,
    0x79, 0x25, 0x0C, 0xBD, 0x7A, 0x19, 0xB5, 0x7A, 0x16, 0xE2, 0x04, 0xD3, 0x90, 0xF1, 0x69, 0x96,
    0x84, 0xF4, 0xE1, 0xAA, 0x23, 0x87, 0x9F, 0x22, 0x2D, 0x05, 0x7F, 0xAC, 0x05, 0x20, 0x08, 0xC7,
    0xA8, 0xA7, 0x3C, 0x88, 0x7D, 0xE2, 0x0A, 0x5A, 0x81, 0xC2, 0xC6, 0x21, 0x11, 0x12, 0xD3, 0x96,
    0x36, 0xC1, 0xEA, 0xA4, 0x9A, 0x14, 0x5E, 0x8B, 0xBB, 0x3F, 0x12, 0x79, 0x9F, 0xD6, 0x73, 0x42,
    0x98, 0x09, 0x60, 0xFC, 0x70, 0x6C, 0xF8, 0xDB, 0x9C, 0x16, 0x98, 0xFC, 0xF7, 0xC6, 0x51, 0x22,
};

static const struct step steps_0[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028400u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x000283C0u, 0, 1u, 0x30000000u, 0x3000001Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x00028440u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_1[] = {
    {FILL, 0u, 0x20000000u, block_2, sizeof block_2, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028680u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028640u, 0, 1u, 0x30000000u, 0x30000007u},
    {RUN, ATOLL_DEVICE_DMA, 0x000286C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_3, sizeof block_3, 0u, 0u},
};

static const struct step steps_2[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028A40u, 0, 1u, 0x10007F80u, 0x10007FFFu},
};

static const struct step steps_3[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028A80u, 0, 1u, 0x10007FC0u, 0x10007FDFu},
};

static const struct step steps_4[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028AC0u, 0, 1u, 0x11007F80u, 0x11007FFFu},
};

static const struct step steps_5[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028B00u, 0, 1u, 0x11007FC0u, 0x11007FDFu},
};

static const struct step steps_6[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028BC0u, 0, 1u, 0x00000000u, 0x00000000u},
    {FILL, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028B40u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028B80u, 0, 1u, 0x30000040u, 0x300000BFu},
    {RUN, ATOLL_DEVICE_DMA, 0x00028C00u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_7[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028C80u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028C40u, 0, 1u, 0x30000000u, 0x3000001Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x00028CC0u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_8[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028D00u, 0, 1u, 0x3400FF80u, 0x3400FFFFu},
};

static const struct step steps_9[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028D40u, 0, 1u, 0x3400FFC0u, 0x3400FFDFu},
};

static const struct step steps_10[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00028DC0u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028D80u, 0, 1u, 0x000289C0u, 0x00028A3Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x00028E00u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_11[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028E40u, 0, 1u, 0x000FFFC0u, 0x000FFFDFu},
};

static const struct step steps_12[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028E80u, 0, 1u, 0x2001FF80u, 0x2001FFFFu},
};

static const struct step steps_13[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028EC0u, 0, 1u, 0x2001FFC0u, 0x2001FFDFu},
};

static const struct step steps_14[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028F00u, 0, 1u, 0x00017F80u, 0x00017FFFu},
};

static const struct step steps_15[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028F40u, 0, 1u, 0x00017FC0u, 0x00017FDFu},
};

static const struct step steps_16[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028F80u, 0, 1u, 0x10002F80u, 0x10002FFFu},
};

static const struct step steps_17[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00028FC0u, 0, 1u, 0x10002FC0u, 0x10002FDFu},
};

static const struct step steps_18[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029000u, 0, 1u, 0x10001F80u, 0x10001FFFu},
};

static const struct step steps_19[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029040u, 0, 1u, 0x10001FC0u, 0x10001FDFu},
};

static const struct step steps_20[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029080u, 0, 1u, 0x00027F80u, 0x00027FFFu},
};

static const struct step steps_21[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x000290C0u, 0, 1u, 0x00027FC0u, 0x00027FDFu},
};

static const struct step steps_22[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029100u, 0, 1u, 0x11002F80u, 0x11002FFFu},
};

static const struct step steps_23[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029140u, 0, 1u, 0x11002FC0u, 0x11002FDFu},
};

static const struct step steps_24[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x00029180u, 0, 1u, 0x11001F80u, 0x11001FFFu},
};

static const struct step steps_25[] = {
    {RUN, ATOLL_DEVICE_NPU_LARGE, 0x000291C0u, 0, 1u, 0x11001FC0u, 0x11001FDFu},
};

static const struct step steps_26[] = {
    {FILL, 0u, 0x20000000u, block_5, sizeof block_5, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x000293C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029380u, 0, 1u, 0x34000000u, 0x3400001Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x00029400u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_6, sizeof block_6, 0u, 0u},
};

static const struct step steps_27[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x000295C0u, 0, 1u, 0x10007F80u, 0x10007FFFu},
};

static const struct step steps_28[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029600u, 0, 1u, 0x10007FC0u, 0x10007FDFu},
};

static const struct step steps_29[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029640u, 0, 1u, 0x11007F80u, 0x11007FFFu},
};

static const struct step steps_30[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029680u, 0, 1u, 0x11007FC0u, 0x11007FDFu},
};

static const struct step steps_31[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x000296C0u, 0, 1u, 0x3001FF80u, 0x3001FFFFu},
};

static const struct step steps_32[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029700u, 0, 1u, 0x3001FFC0u, 0x3001FFDFu},
};

static const struct step steps_33[] = {
    {FILL, 0u, 0x20000000u, block_5, sizeof block_5, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x000297C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {FILL, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00029740u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029780u, 0, 1u, 0x34000040u, 0x340000BFu},
    {RUN, ATOLL_DEVICE_DMA, 0x00029800u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_6, sizeof block_6, 0u, 0u},
};

static const struct step steps_34[] = {
    {FILL, 0u, 0x20000000u, block_5, sizeof block_5, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00029880u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029840u, 0, 1u, 0x34000000u, 0x3400001Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x000298C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_6, sizeof block_6, 0u, 0u},
};

static const struct step steps_35[] = {
    {FILL, 0u, 0x20000000u, block_5, sizeof block_5, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00029940u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029900u, 0, 1u, 0x00029540u, 0x000295BFu},
    {RUN, ATOLL_DEVICE_DMA, 0x00029980u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_6, sizeof block_6, 0u, 0u},
};

static const struct step steps_36[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x000299C0u, 0, 1u, 0x000FFFC0u, 0x000FFFDFu},
};

static const struct step steps_37[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029A00u, 0, 1u, 0x2001FF80u, 0x2001FFFFu},
};

static const struct step steps_38[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029A40u, 0, 1u, 0x2001FFC0u, 0x2001FFDFu},
};

static const struct step steps_39[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029A80u, 0, 1u, 0x00017F80u, 0x00017FFFu},
};

static const struct step steps_40[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029AC0u, 0, 1u, 0x00017FC0u, 0x00017FDFu},
};

static const struct step steps_41[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029B00u, 0, 1u, 0x10002F80u, 0x10002FFFu},
};

static const struct step steps_42[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029B40u, 0, 1u, 0x10002FC0u, 0x10002FDFu},
};

static const struct step steps_43[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029B80u, 0, 1u, 0x10001F80u, 0x10001FFFu},
};

static const struct step steps_44[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029BC0u, 0, 1u, 0x10001FC0u, 0x10001FDFu},
};

static const struct step steps_45[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029C00u, 0, 1u, 0x00027F80u, 0x00027FFFu},
};

static const struct step steps_46[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029C40u, 0, 1u, 0x00027FC0u, 0x00027FDFu},
};

static const struct step steps_47[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029C80u, 0, 1u, 0x11002F80u, 0x11002FFFu},
};

static const struct step steps_48[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029CC0u, 0, 1u, 0x11002FC0u, 0x11002FDFu},
};

static const struct step steps_49[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029D00u, 0, 1u, 0x11001F80u, 0x11001FFFu},
};

static const struct step steps_50[] = {
    {RUN, ATOLL_DEVICE_NPU_SMALL, 0x00029D40u, 0, 1u, 0x11001FC0u, 0x11001FDFu},
};

static const struct step steps_51[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00029E00u, 0, 1u, 0x20000000u, 0x2000007Fu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_52[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x00029EC0u, 0, 1u, 0x10007F80u, 0x10007FFFu},
};

static const struct step steps_53[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x00029F00u, 0, 1u, 0x10007F80u, 0x10007FFFu},
};

static const struct step steps_54[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x00029F40u, 0, 1u, 0x11007F80u, 0x11007FFFu},
};

static const struct step steps_55[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x00029F80u, 0, 1u, 0x11007F80u, 0x11007FFFu},
};

static const struct step steps_56[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {FILL, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x00029FC0u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A000u, 0, 1u, 0x30000080u, 0x300000FFu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_57[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A080u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A040u, 0, 1u, 0x30000000u, 0x3000007Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A0C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_58[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {FILL, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A100u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A140u, 0, 1u, 0x34000080u, 0x340000FFu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_59[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A1C0u, 0, 1u, 0x00000000u, 0x00000000u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A180u, 0, 1u, 0x34000000u, 0x3400007Fu},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A200u, 0, 1u, 0x00000000u, 0x00000000u},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_60[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A240u, 0, 1u, 0x00029E40u, 0x00029EBFu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_61[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A280u, 0, 1u, 0x000FFF80u, 0x000FFFFFu},
};

static const struct step steps_62[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {FILL, 0u, 0x20000080u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A2C0u, 0, 1u, 0x20000080u, 0x200000FFu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_63[] = {
    {FILL, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
    {RUN, ATOLL_DEVICE_DMA, 0x0002A300u, 0, 1u, 0x20000000u, 0x2000007Fu},
    {CHECK, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
};

static const struct step steps_64[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A340u, 0, 1u, 0x00017F80u, 0x00017FFFu},
};

static const struct step steps_65[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A380u, 0, 1u, 0x00017F80u, 0x00017FFFu},
};

static const struct step steps_66[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A3C0u, 0, 1u, 0x10002F80u, 0x10002FFFu},
};

static const struct step steps_67[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A400u, 0, 1u, 0x10002F80u, 0x10002FFFu},
};

static const struct step steps_68[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A440u, 0, 1u, 0x10001F80u, 0x10001FFFu},
};

static const struct step steps_69[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A480u, 0, 1u, 0x10001F80u, 0x10001FFFu},
};

static const struct step steps_70[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A4C0u, 0, 1u, 0x00027F80u, 0x00027FFFu},
};

static const struct step steps_71[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A500u, 0, 1u, 0x00027F80u, 0x00027FFFu},
};

static const struct step steps_72[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A540u, 0, 1u, 0x11002F80u, 0x11002FFFu},
};

static const struct step steps_73[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A580u, 0, 1u, 0x11002F80u, 0x11002FFFu},
};

static const struct step steps_74[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A5C0u, 0, 1u, 0x11001F80u, 0x11001FFFu},
};

static const struct step steps_75[] = {
    {RUN, ATOLL_DEVICE_DMA, 0x0002A600u, 0, 1u, 0x11001F80u, 0x11001FFFu},
};

static const struct engine_test engine_tests[] = {
    {ATOLL_DEVICE_NPU_LARGE, " known", " operator=conv_2d", steps_0, 5u, 1},
    {ATOLL_DEVICE_NPU_LARGE, " known", " operator=fully_connected", steps_1, 5u, 1},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=cpu_local", steps_2, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=cpu_local", steps_3, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=dsp_local", steps_4, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=dsp_local", steps_5, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=large_local", steps_6, 7u, 1},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=large_local", steps_7, 5u, 1},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=small_local", steps_8, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=small_local", steps_9, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=weights", steps_10, 5u, 1},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=weights", steps_11, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=shared", steps_12, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=shared", steps_13, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=cpu.code", steps_14, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=cpu.code", steps_15, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=cpu.data", steps_16, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=cpu.data", steps_17, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=cpu.stack", steps_18, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=cpu.stack", steps_19, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=dsp.code", steps_20, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=dsp.code", steps_21, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=dsp.data", steps_22, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=dsp.data", steps_23, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " read", " place=dsp.stack", steps_24, 1u, 0},
    {ATOLL_DEVICE_NPU_LARGE, " write", " place=dsp.stack", steps_25, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " known", " operator=depthwise_conv_2d", steps_26, 5u, 1},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=cpu_local", steps_27, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=cpu_local", steps_28, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=dsp_local", steps_29, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=dsp_local", steps_30, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=large_local", steps_31, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=large_local", steps_32, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=small_local", steps_33, 7u, 1},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=small_local", steps_34, 5u, 1},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=weights", steps_35, 5u, 1},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=weights", steps_36, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=shared", steps_37, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=shared", steps_38, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=cpu.code", steps_39, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=cpu.code", steps_40, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=cpu.data", steps_41, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=cpu.data", steps_42, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=cpu.stack", steps_43, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=cpu.stack", steps_44, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=dsp.code", steps_45, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=dsp.code", steps_46, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=dsp.data", steps_47, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=dsp.data", steps_48, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " read", " place=dsp.stack", steps_49, 1u, 0},
    {ATOLL_DEVICE_NPU_SMALL, " write", " place=dsp.stack", steps_50, 1u, 0},
    {ATOLL_DEVICE_DMA, " known", " operator=copy", steps_51, 3u, 1},
    {ATOLL_DEVICE_DMA, " read", " place=cpu_local", steps_52, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=cpu_local", steps_53, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=dsp_local", steps_54, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=dsp_local", steps_55, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=large_local", steps_56, 5u, 1},
    {ATOLL_DEVICE_DMA, " write", " place=large_local", steps_57, 5u, 1},
    {ATOLL_DEVICE_DMA, " read", " place=small_local", steps_58, 5u, 1},
    {ATOLL_DEVICE_DMA, " write", " place=small_local", steps_59, 5u, 1},
    {ATOLL_DEVICE_DMA, " read", " place=weights", steps_60, 3u, 1},
    {ATOLL_DEVICE_DMA, " write", " place=weights", steps_61, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=shared", steps_62, 4u, 1},
    {ATOLL_DEVICE_DMA, " write", " place=shared", steps_63, 3u, 1},
    {ATOLL_DEVICE_DMA, " read", " place=cpu.code", steps_64, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=cpu.code", steps_65, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=cpu.data", steps_66, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=cpu.data", steps_67, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=cpu.stack", steps_68, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=cpu.stack", steps_69, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=dsp.code", steps_70, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=dsp.code", steps_71, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=dsp.data", steps_72, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=dsp.data", steps_73, 1u, 0},
    {ATOLL_DEVICE_DMA, " read", " place=dsp.stack", steps_74, 1u, 0},
    {ATOLL_DEVICE_DMA, " write", " place=dsp.stack", steps_75, 1u, 0},
};

static void fill(const struct step *step) {
  volatile uint8_t *to = (volatile uint8_t *)(uintptr_t)step->address;
  for (uint32_t i = 0; i < step->size; i++) to[i] = step->data[i];
}

static int is_right(const struct step *step) {
  const volatile uint8_t *found = (const volatile uint8_t *)(uintptr_t)step->address;
  for (uint32_t i = 0; i < step->size; i++)
    if (found[i] != step->data[i]) return 0;
  return 1;
}

/* The address that an engine says it stopped at. */
static uint32_t fault_address(uint32_t device) {
  switch (device) {
    case ATOLL_DEVICE_NPU_LARGE:
      return atoll_read(ATOLL_DEVICE_NPU_LARGE_REGISTERS + ATOLL_REEF_REGISTER_FAULT_ADDRESS);
    case ATOLL_DEVICE_NPU_SMALL:
      return atoll_read(ATOLL_DEVICE_NPU_SMALL_REGISTERS + ATOLL_REEF_REGISTER_FAULT_ADDRESS);
    case ATOLL_DEVICE_DMA:
      return atoll_read(ATOLL_DEVICE_DMA_REGISTERS + ATOLL_RIPPLE_REGISTER_FAULT_ADDRESS);
    default: return 0u;
  }
}

static enum outcome try_step(const struct step *step) {
  int32_t status = ATOLL_OK;
  switch (step->action) {
    case FILL: fill(step); break;
    case CHECK:
      if (!is_right(step)) return WRONG;
      break;
    default: status = atoll_npu_run((int32_t)step->device, (const void *)(uintptr_t)step->address, (int32_t)step->size); break;
  }
  const int32_t kept_back = atoll_guard_check(ATOLL_OK);
  if (status == ATOLL_OK && kept_back == ATOLL_OK) return WORKS;
  const uint32_t at = step->action == RUN && status == ATOLL_ERROR_DEVICE ? fault_address(step->device) : 0u;
  return step->last != 0u && at >= step->first && at <= step->last ? REFUSED : BLOCKED;
}

static void try_engine(const struct engine_test *test) {
  enum outcome found = WORKS;
  for (uint32_t i = 0; found == WORKS && i < test->count; i++) found = try_step(&test->steps[i]);
  begin(test->kind, test->device);
  say(test->about);
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
  for (uint32_t i = 0; i < sizeof engine_tests / sizeof engine_tests[0]; i++) try_engine(&engine_tests[i]);
  try_tiny();
  (void)atoll_devices_stop();
  begin_line("end" ABOUT " failed=");
  say_decimal(failed);
  end_line();
  return failed != 0u;
}
