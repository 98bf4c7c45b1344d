/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The self-test of 'lagoon': marches over pools, accesses of cores and engines, known answers
 * and networks. It prints a line for each; `atoll selftest` judges them.
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

enum outcome { WORKS, REFUSED, WRONG, BLOCKED, SILENT };
enum action { FILL, RUN, CHECK };

static uint32_t number, failed;

static const char *const outcomes[] = {"works", "refused", "wrong", "blocked", "silent"};

static int32_t send(uint32_t core, uint32_t command) {
  (void)core;
  return atoll_selftest_serve(command);
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
  atoll_print("selftest ");
  atoll_print_decimal((int32_t)++number);
  atoll_print(kind);
  atoll_print(" device=");
  atoll_print(atoll_device_table[device].name);
}

static void hex(const char *name, uint32_t value) {
  atoll_print(name);
  atoll_print_hex(value);
}

static void end(enum outcome wanted, enum outcome found) {
  atoll_print(" expect=");
  atoll_print(outcomes[wanted]);
  atoll_print(" found=");
  atoll_print(outcomes[found]);
  atoll_print("\n");
  failed += wanted != found;
}

struct march {
  uint32_t core;
  const char *pool;
  const char *memory;
  uint32_t arguments[5];
};

static const struct march marches[] = {
    {ATOLL_DEVICE_CPU, "private", "dtcm", {0x10003000u, 0x0000C000u, 0x10000000u, 4u, 1u}},
    {ATOLL_DEVICE_CPU, "shared", "sram", {0x20000000u, 0x00040000u, 0x20000000u, 8u, 4u}},
};

static void try_march(const struct march *test) {
  static const char *const words[] = {" wrong=", " first=", " wrote=", " read=", " bits=", " lines="};
  (void)ask(test->core, ATOLL_SELFTEST_MARCH, test->arguments);
  const int32_t kept_back = atoll_guard_check(ATOLL_OK);
  const uint32_t wrong = word(test->core, 0u);
  begin(" march", test->core);
  atoll_print(" place=");
  atoll_print(test->pool);
  atoll_print(" memory=");
  atoll_print(test->memory);
  hex(" begin=", test->arguments[0]);
  hex(" bytes=", test->arguments[1]);
  if (wrong != 0u) {
    for (uint32_t i = 0; i < 6u; i++) hex(words[i], word(test->core, i));
    atoll_print(" banks=");
    for (uint32_t bank = 0; bank < test->arguments[4] && bank < ATOLL_SELFTEST_BANKS; bank++) {
      if (bank != 0u) atoll_print(",");
      atoll_print_decimal((int32_t)word(test->core, 6u + bank));
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
    {ATOLL_DEVICE_CPU, "private", 0x1000EFFCu, 0, 1, 1, 1, 0},
    {ATOLL_DEVICE_CPU, "shared", 0x2003FFFCu, 0, 1, 1, 1, 1},
    {ATOLL_DEVICE_CPU, "weights", 0x000FFFFCu, 0, 1, 1, 0, 2},
    {ATOLL_DEVICE_CPU, "cpu.code", 0x0001FFFCu, 0, 1, 1, 0, 3},
    {ATOLL_DEVICE_CPU, "cpu.data", 0x10002FFCu, 0, 1, 1, 0, 4},
    {ATOLL_DEVICE_CPU, "cpu.stack", 0x10001FFCu, 0, 1, 1, 0, 5},
    {ATOLL_DEVICE_CPU, "private", 0x1000EFFCu, 1, 1, 1, 1, 0},
    {ATOLL_DEVICE_CPU, "shared", 0x2003FFFCu, 1, 1, 1, 1, 1},
    {ATOLL_DEVICE_CPU, "weights", 0x000FFFFCu, 1, 0, 1, 0, 2},
    {ATOLL_DEVICE_CPU, "cpu.code", 0x0001FFFCu, 1, 0, 1, 0, 3},
    {ATOLL_DEVICE_CPU, "cpu.data", 0x10002FFCu, 1, 1, 1, 0, 4},
    {ATOLL_DEVICE_CPU, "cpu.stack", 0x10001FFCu, 1, 1, 1, 0, 5},
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
  atoll_print(" place=");
  atoll_print(test->place);
  hex(" address=", test->address);
  if (test->tagged && !test->write) hex(" tag=", TAG(test));
  if (found == WRONG) hex(" got=", read);
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
    0xA3, 0xE9, 0x1D, 0xFB, 0xF9, 0xC8, 0xFB, 0xD2, 0x12, 0xEB, 0x24, 0x58, 0x42, 0x1D, 0x1E, 0xA6,
    0x44, 0xEC, 0x48, 0xA3, 0xE9, 0xCC, 0x2D, 0x9C, 0x59, 0x40, 0xAE, 0x33, 0xEC, 0x70, 0x38, 0x08,
    0xC9, 0xC5, 0xF4, 0x39, 0xD9, 0xFB, 0x3E, 0xF4, 0x13, 0x28, 0xB1, 0xBA, 0xF7, 0x1C, 0x1F, 0x29,
    0x76, 0xF6, 0xE7, 0xD2, 0x34, 0xEF, 0x1A, 0x29, 0xF8, 0x1E, 0x2F, 0x0B, 0xF6, 0xDA, 0x2A, 0x95,
    0xCA, 0xDE, 0x24, 0xB2, 0xF2, 0x86, 0xA0, 0xE3, 0x2A, 0xCF, 0x5C, 0xBC, 0x3A, 0xF1, 0x13, 0xBF,
    0x09, 0xA9, 0x37, 0xA3, 0x49, 0xDE, 0x18, 0x65, 0xBF, 0xB8, 0xF1, 0xF4, 0x0F, 0x08, 0xE6, 0xDA,
    0x23, 0xFF, 0xC1, 0xFD, 0xDB, 0xEB, 0x47, 0xB8, 0xA1, 0x45, 0xFA, 0x7A, 0xCE, 0xC2, 0x2F, 0x0F,
    0xA1, 0xFA, 0x56, 0x1C, 0x5A, 0x40, 0x08, 0xEA, 0xAE, 0x2D, 0xB3, 0xF2, 0xD9, 0xE3, 0xEF, 0x15,
};

static const uint8_t block_1[] = {
    0x5C, 0x16, 0xE2, 0x04, 0x06, 0x37, 0x04, 0x2D, 0xED, 0x14, 0xDB, 0xA7, 0xBD, 0xE2, 0xE1, 0x59,
    0xBB, 0x13, 0xB7, 0x5C, 0x16, 0x33, 0xD2, 0x63, 0xA6, 0xBF, 0x51, 0xCC, 0x13, 0x8F, 0xC7, 0xF7,
    0x36, 0x3A, 0x0B, 0xC6, 0x26, 0x04, 0xC1, 0x0B, 0xEC, 0xD7, 0x4E, 0x45, 0x08, 0xE3, 0xE0, 0xD6,
    0x89, 0x09, 0x18, 0x2D, 0xCB, 0x10, 0xE5, 0xD6, 0x07, 0xE1, 0xD0, 0xF4, 0x09, 0x25, 0xD5, 0x6A,
    0x35, 0x21, 0xDB, 0x4D, 0x0D, 0x79, 0x5F, 0x1C, 0xD5, 0x30, 0xA3, 0x43, 0xC5, 0x0E, 0xEC, 0x40,
    0xF6, 0x56, 0xC8, 0x5C, 0xB6, 0x21, 0xE7, 0x9A, 0x40, 0x47, 0x0E, 0x0B, 0xF0, 0xF7, 0x19, 0x25,
    0xDC, 0x00, 0x3E, 0x02, 0x24, 0x14, 0xB8, 0x47, 0x5E, 0xBA, 0x05, 0x85, 0x31, 0x3D, 0xD0, 0xF0,
    0x5E, 0x05, 0xA9, 0xE3, 0xA5, 0xBF, 0xF7, 0x15, 0x51, 0xD2, 0x4C, 0x0D, 0x26, 0x1C, 0x10, 0xEA,
};

static const uint8_t block_2[] = {
    0xF1, 0xF8, 0x14, 0xD8, 0x17, 0xE2, 0xEF, 0xFB, 0x03, 0x0B, 0x10, 0xDA, 0x0D, 0x01, 0x0A, 0xE9,
    0xE7, 0xEA, 0x0B, 0xD5, 0x07, 0x00, 0x14, 0x14, 0xD9, 0xF8, 0x05, 0xE6, 0x0C, 0x03, 0x1A, 0x0A,
};

static const uint8_t block_3[] = {
    0x0E, 0x07, 0xEB, 0x27, 0xE8, 0x1D, 0x10, 0x04, 0xFC, 0xF4, 0xEF, 0x25, 0xF2, 0xFE, 0xF5, 0x16,
    0x18, 0x15, 0xF4, 0x2A, 0xF8, 0xFF, 0xEB, 0xEB, 0x26, 0x07, 0xFA, 0x19, 0xF3, 0xFC, 0xE5, 0xF5,
};

static const uint8_t block_4[] = {
    0x80, 0xCE, 0xE0, 0xE2, 0x80, 0xC4, 0x80, 0x0E, 0xEC, 0x29, 0x04, 0x20, 0x28, 0x6B, 0xE3, 0xEC,
    0x7F, 0x11, 0x56, 0x6D, 0x7F, 0xC1, 0x44, 0x80, 0x11, 0xB1, 0x23, 0xEC, 0x93, 0x46, 0xC7, 0xFD,
};

static const uint8_t block_5[] = {
    0x7F, 0x31, 0x1F, 0x1D, 0x7F, 0x3B, 0x7F, 0xF1, 0x13, 0xD6, 0xFB, 0xDF, 0xD7, 0x94, 0x1C, 0x13,
    0x80, 0xEE, 0xA9, 0x92, 0x80, 0x3E, 0xBB, 0x7F, 0xEE, 0x4E, 0xDC, 0x13, 0x6C, 0xB9, 0x38, 0x02,
};

static const uint8_t block_6[] = {
    0x09, 0x0A, 0x94, 0x80, 0x80, 0xB4, 0x80, 0x80, 0xAB, 0xD5, 0xBC, 0xF5, 0x7F, 0x0F, 0xBD, 0x35,
    0x95, 0x16, 0x7F, 0xD3, 0x7F, 0x7F, 0x48, 0x7F, 0x9C, 0xA1, 0xF1, 0x65, 0x48, 0xD3, 0x4D, 0x1F,
};

static const uint8_t block_7[] = {
    0xF6, 0xF5, 0x6B, 0x7F, 0x7F, 0x4B, 0x7F, 0x7F, 0x54, 0x2A, 0x43, 0x0A, 0x80, 0xF0, 0x42, 0xCA,
    0x6A, 0xE9, 0x80, 0x2C, 0x80, 0x80, 0xB7, 0x80, 0x63, 0x5E, 0x0E, 0x9A, 0xB7, 0x2C, 0xB2, 0xE0,
};

static const uint8_t block_8[] = {
    0x80, 0x7F, 0xD8, 0x5C, 0xAE, 0x94, 0xC1, 0xDE,
};

static const uint8_t block_9[] = {
    0x7F, 0x80, 0x27, 0xA3, 0x51, 0x6B, 0x3E, 0x21,
};

static const uint8_t block_10[] = {
    0xBF, 0xFF, 0xFA, 0x2B, 0x17, 0xE9, 0x5A, 0x1B, 0xFC, 0x55, 0x22, 0xC1, 0xE9, 0x1A, 0x2B, 0xC2,
    0xE3, 0x25, 0xDB, 0xC2, 0x30, 0xEF, 0xEF, 0xB3, 0xCA, 0xFA, 0xD7, 0xEF, 0x03, 0x9D, 0xE6, 0x16,
    0xF6, 0x06, 0x08, 0xF8, 0x02, 0x03, 0xE6, 0xFE, 0x20, 0x17, 0xDA, 0xDA, 0x0D, 0x03, 0xF8, 0x03,
    0x90, 0x0F, 0x05, 0xF3, 0x10, 0x0B, 0x49, 0x24, 0x05, 0x13, 0xFB, 0x16, 0x50, 0xF9, 0x10, 0xA7,
    0x0F, 0xFA, 0x17, 0xD2, 0x10, 0x8D, 0xB8, 0x18, 0xF1, 0x04, 0xC5, 0xDF, 0xFA, 0x0F, 0xFD, 0xE0,
    0x47, 0xC5, 0xE7, 0xC3, 0xEA, 0xF7, 0xFC, 0xAF, 0xFD, 0xD8, 0x0C, 0x0E, 0xFD, 0xFF, 0xFD, 0x18,
    0xF8, 0x1D, 0xEE, 0x3D, 0x17, 0x09, 0xDB, 0xE7, 0xC0, 0xD9, 0x03, 0x89, 0xFD, 0xE5, 0x11, 0x11,
    0xBB, 0x01, 0xC5, 0x00, 0xC3, 0xEE, 0x00, 0xFE, 0xCE, 0xF3, 0xD8, 0xFE, 0xFB, 0xFF, 0x47, 0xFD,
};

static const uint8_t block_11[] = {
    0x40, 0x00, 0x05, 0xD4, 0xE8, 0x16, 0xA5, 0xE4, 0x03, 0xAA, 0xDD, 0x3E, 0x16, 0xE5, 0xD4, 0x3D,
    0x1C, 0xDA, 0x24, 0x3D, 0xCF, 0x10, 0x10, 0x4C, 0x35, 0x05, 0x28, 0x10, 0xFC, 0x62, 0x19, 0xE9,
    0x09, 0xF9, 0xF7, 0x07, 0xFD, 0xFC, 0x19, 0x01, 0xDF, 0xE8, 0x25, 0x25, 0xF2, 0xFC, 0x07, 0xFC,
    0x6F, 0xF0, 0xFA, 0x0C, 0xEF, 0xF4, 0xB6, 0xDB, 0xFA, 0xEC, 0x04, 0xE9, 0xAF, 0x06, 0xEF, 0x58,
    0xF0, 0x05, 0xE8, 0x2D, 0xEF, 0x72, 0x47, 0xE7, 0x0E, 0xFB, 0x3A, 0x20, 0x05, 0xF0, 0x02, 0x1F,
    0xB8, 0x3A, 0x18, 0x3C, 0x15, 0x08, 0x03, 0x50, 0x02, 0x27, 0xF3, 0xF1, 0x02, 0x00, 0x02, 0xE7,
    0x07, 0xE2, 0x11, 0xC2, 0xE8, 0xF6, 0x24, 0x18, 0x3F, 0x26, 0xFC, 0x76, 0x02, 0x1A, 0xEE, 0xEE,
    0x44, 0xFE, 0x3A, 0xFF, 0x3C, 0x11, 0xFF, 0x01, 0x31, 0x0C, 0x27, 0x01, 0x04, 0x00, 0xB8, 0x02,
};

static const uint8_t block_12[] = {
    0x4A, 0x01, 0xF3, 0xB8, 0xCE, 0x45, 0x70, 0x77, 0xEF, 0xA9, 0x8F, 0xA1, 0x96, 0x24, 0x32, 0x5D,
    0xDC, 0xCA, 0xD2, 0x72, 0x68, 0x4B, 0xDB, 0x5F, 0xC9, 0x83, 0x2B, 0xE6, 0xF6, 0x9D, 0xC0, 0x2E,
    0x0C, 0x7A, 0x2E, 0xF8, 0x50, 0xEE, 0xA7, 0x0A, 0x30, 0x1C, 0x71, 0x3F, 0x33, 0x08, 0xD6, 0xA7,
    0x86, 0xDA, 0xF3, 0x42, 0x85, 0xE6, 0x4A, 0x85, 0xE9, 0x1D, 0xFB, 0x2C, 0x6F, 0x0E, 0x96, 0x69,
    0x7B, 0x0B, 0x1E, 0x55, 0xDC, 0x78, 0x60, 0xDD, 0xD2, 0xFA, 0x80, 0x53, 0xFA, 0xDF, 0xF7, 0x38,
    0x57, 0x58, 0xC3, 0x77, 0x82, 0x1D, 0xF5, 0xA5, 0x7E, 0x3D, 0x39, 0xDE, 0xEE, 0xED, 0x2C, 0x69,
    0xC9, 0x3E, 0x15, 0x5B, 0x65, 0xEB, 0xA1, 0x74, 0x44, 0xC0, 0xED, 0x86, 0x60, 0x29, 0x8C, 0xBD,
    0x67, 0xF6, 0x9F, 0x03, 0x8F, 0x93, 0x07, 0x24, 0x63, 0xE9, 0x67, 0x03, 0x08, 0x39, 0xAE, 0xDD,
    0x6E, 0x2A, 0xD1, 0x4F, 0x3E, 0x28, 0x98, 0xE2, 0xEB, 0x7E, 0x28, 0xAD, 0xE5, 0xA0, 0x90, 0x54,
    0x9B, 0x5B, 0x9D, 0x45, 0xC4, 0x1B, 0xCA, 0x67, 0x84, 0xFB, 0x76, 0xB2, 0x2F, 0x81, 0xCE, 0xC1,
    0x5F, 0xF9, 0xE8, 0x95, 0xFB, 0x19, 0xDC, 0x0B, 0xA8, 0x93, 0x2A, 0x4B, 0xDD, 0xBF, 0xEA, 0x06,
    0x8C, 0x37, 0x3C, 0x17, 0x12, 0x3A, 0x80, 0x27, 0x24, 0xA6, 0xA6, 0xBD, 0xA3, 0x3B, 0x14, 0x6B,
    0xEF, 0x37, 0x98, 0x44, 0x3D, 0x7A, 0x5E, 0x5B, 0xD8, 0x66, 0xC6, 0x32, 0x91, 0x3D, 0xE2, 0x47,
    0x96, 0x54, 0xCE, 0x41, 0xEB, 0x24, 0xDA, 0x90, 0x02, 0x51, 0xE3, 0x37, 0xF3, 0x01, 0x05, 0xE1,
    0xF0, 0xC2, 0x66, 0xA9, 0xE2, 0x3C, 0xCF, 0x1A, 0x77, 0xB4, 0x1D, 0x84, 0x02, 0x50, 0x14, 0x23,
    0x54, 0x14, 0xB3, 0xC3, 0xBC, 0xEC, 0xE7, 0x05, 0x3F, 0xBB, 0x30, 0x17, 0x44, 0xFF, 0x71, 0xF7,
};

static const struct step steps_0[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020180u, 0, 1u, 0x20000000u, 0x2000007Fu},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_1[] = {
    {FILL, 0u, 0x20000000u, block_2, sizeof block_2, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020340u, 0, 1u, 0x20000000u, 0x2000001Fu},
    {CHECK, 0u, 0x20000000u, block_3, sizeof block_3, 0u, 0u},
};

static const struct step steps_2[] = {
    {FILL, 0u, 0x20000000u, block_4, sizeof block_4, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x000206C0u, 0, 1u, 0x20000000u, 0x2000001Fu},
    {CHECK, 0u, 0x20000000u, block_5, sizeof block_5, 0u, 0u},
};

static const struct step steps_3[] = {
    {FILL, 0u, 0x20000000u, block_6, sizeof block_6, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020880u, 0, 1u, 0x20000000u, 0x2000001Fu},
    {CHECK, 0u, 0x20000000u, block_7, sizeof block_7, 0u, 0u},
};

static const struct step steps_4[] = {
    {FILL, 0u, 0x20000000u, block_8, sizeof block_8, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020A80u, 0, 1u, 0x20000000u, 0x20000007u},
    {CHECK, 0u, 0x20000000u, block_9, sizeof block_9, 0u, 0u},
};

static const struct step steps_5[] = {
    {FILL, 0u, 0x20000000u, block_10, sizeof block_10, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020BC0u, 0, 1u, 0x20000000u, 0x2000007Fu},
    {CHECK, 0u, 0x20000000u, block_11, sizeof block_11, 0u, 0u},
};

static const struct step steps_6[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020D00u, 0, 1u, 0x1000EF00u, 0x1000EFFFu},
};

static const struct step steps_7[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020D40u, 0, 1u, 0x1000EF80u, 0x1000EFFFu},
};

static const struct step steps_8[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {FILL, 0u, 0x20000080u, block_12, sizeof block_12, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020D80u, 0, 1u, 0x20000080u, 0x2000017Fu},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_9[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020DC0u, 0, 1u, 0x20000000u, 0x2000007Fu},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_10[] = {
    {FILL, 0u, 0x20000000u, block_0, sizeof block_0, 0u, 0u},
    {RUN, ATOLL_DEVICE_NPU, 0x00020E00u, 0, 1u, 0x00020C00u, 0x00020CFFu},
    {CHECK, 0u, 0x20000000u, block_1, sizeof block_1, 0u, 0u},
};

static const struct step steps_11[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020E40u, 0, 1u, 0x000FFF80u, 0x000FFFFFu},
};

static const struct step steps_12[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020E80u, 0, 1u, 0x0001FF00u, 0x0001FFFFu},
};

static const struct step steps_13[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020EC0u, 0, 1u, 0x0001FF80u, 0x0001FFFFu},
};

static const struct step steps_14[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020F00u, 0, 1u, 0x10002F00u, 0x10002FFFu},
};

static const struct step steps_15[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020F40u, 0, 1u, 0x10002F80u, 0x10002FFFu},
};

static const struct step steps_16[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020F80u, 0, 1u, 0x10001F00u, 0x10001FFFu},
};

static const struct step steps_17[] = {
    {RUN, ATOLL_DEVICE_NPU, 0x00020FC0u, 0, 1u, 0x10001F80u, 0x10001FFFu},
};

static const struct engine_test engine_tests[] = {
    {ATOLL_DEVICE_NPU, " known", " operator=add", steps_0, 3u, 1},
    {ATOLL_DEVICE_NPU, " known", " operator=average_pool_2d", steps_1, 3u, 1},
    {ATOLL_DEVICE_NPU, " known", " operator=conv_2d", steps_2, 3u, 1},
    {ATOLL_DEVICE_NPU, " known", " operator=depthwise_conv_2d", steps_3, 3u, 1},
    {ATOLL_DEVICE_NPU, " known", " operator=fully_connected", steps_4, 3u, 1},
    {ATOLL_DEVICE_NPU, " known", " operator=mul", steps_5, 3u, 1},
    {ATOLL_DEVICE_NPU, " read", " place=private", steps_6, 1u, 0},
    {ATOLL_DEVICE_NPU, " write", " place=private", steps_7, 1u, 0},
    {ATOLL_DEVICE_NPU, " read", " place=shared", steps_8, 4u, 1},
    {ATOLL_DEVICE_NPU, " write", " place=shared", steps_9, 3u, 1},
    {ATOLL_DEVICE_NPU, " read", " place=weights", steps_10, 3u, 1},
    {ATOLL_DEVICE_NPU, " write", " place=weights", steps_11, 1u, 0},
    {ATOLL_DEVICE_NPU, " read", " place=cpu.code", steps_12, 1u, 0},
    {ATOLL_DEVICE_NPU, " write", " place=cpu.code", steps_13, 1u, 0},
    {ATOLL_DEVICE_NPU, " read", " place=cpu.data", steps_14, 1u, 0},
    {ATOLL_DEVICE_NPU, " write", " place=cpu.data", steps_15, 1u, 0},
    {ATOLL_DEVICE_NPU, " read", " place=cpu.stack", steps_16, 1u, 0},
    {ATOLL_DEVICE_NPU, " write", " place=cpu.stack", steps_17, 1u, 0},
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
    case ATOLL_DEVICE_NPU:
      return atoll_read(ATOLL_DEVICE_NPU_REGISTERS + ATOLL_REEF_REGISTER_FAULT_ADDRESS);
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
  atoll_print(test->about);
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
  atoll_print(" name=tiny");
  end(WORKS, found);
}


int main(void) {
  atoll_print("selftest begin version=1 chip=lagoon tests=33\n");
  const int32_t status = atoll_devices_start();
  if (status != ATOLL_OK) {
    atoll_print("selftest stopped: ");
    atoll_print(atoll_status_text(status));
    atoll_print("\n");
    return 1;
  }
  atoll_guard_start();
  for (uint32_t i = 0; i < sizeof marches / sizeof marches[0]; i++) try_march(&marches[i]);
  leave_tags();
  for (uint32_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) try_access(&accesses[i]);
  for (uint32_t i = 0; i < sizeof engine_tests / sizeof engine_tests[0]; i++) try_engine(&engine_tests[i]);
  try_tiny();
  (void)atoll_devices_stop();
  atoll_print("selftest end failed=");
  atoll_print_decimal((int32_t)failed);
  atoll_print("\n");
  return failed != 0u;
}
