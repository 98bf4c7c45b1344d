/* Made by `atoll bsp`; edits are refused, see README.md. */
/* What each core of a self-test does.
 *
 * A march writes to each word its mark or the complement, upwards and downwards, and expects
 * what it wrote last: the march C- of van de Goor (Testing Semiconductor Memories, 1991) with data
 * that tell which word it is, so that one that answers for another says so.
 */
#include "atoll_selftest.h"

#define ARGUMENTS 5u
#define WORDS (sizeof(struct atoll_selftest_march) / sizeof(uint32_t))

static uint32_t arguments[ARGUMENTS];
static union {
  struct atoll_selftest_march march;
  uint32_t words[WORDS];
} result;

#ifdef ATOLL_SELFTEST_CACHED
void atoll_cache_clean(void *address, uint32_t size);
void atoll_cache_invalidate(void *address, uint32_t size);

/* Have memory hold what was stored, and the next load ask memory. */
static void settle(uintptr_t begin, uint32_t size) {
  atoll_cache_clean((void *)begin, size);
  atoll_cache_invalidate((void *)begin, size);
}
#else
static void settle(uintptr_t begin, uint32_t size) {
  (void)begin;
  (void)size;
}
#endif

/* What tells a word: no two addresses have the same, and one line of the address changes two bits or more. */
static uint32_t mark(uintptr_t at) {
  const uint32_t address = (uint32_t)at;
  return address ^ address << 11 ^ address >> 9;
}

/* The line by which the address differs that has another mark by `difference`; 0 if none does. */
static uint32_t line_of(uint32_t difference) {
  for (uint32_t line = 4u; line != 0u; line <<= 1)
    if (mark(line) == difference) return line;
  return 0u;
}

static void note(uintptr_t at, uint32_t wrote, uint32_t read) {
  struct atoll_selftest_march *found = &result.march;
  const uint32_t line = line_of(wrote ^ read);
  const uintptr_t offset = at - arguments[2];
  if (found->wrong++ == 0u) {
    found->first = (uint32_t)at;
    found->wrote = wrote;
    found->read = read;
  }
  found->lines |= line;
  if (line == 0u) found->bits |= wrote ^ read;
  found->bank[offset / arguments[3] % arguments[4] % ATOLL_SELFTEST_BANKS]++;
}

/* Expect in each word its mark, complemented by `expected`, then write it complemented by `next`. */
static void pass(uint32_t expected, uint32_t next, int32_t down) {
  const uint32_t step = 4u * ATOLL_SELFTEST_STEP;
  const uint32_t count = (arguments[1] + step - 1u) / step;
  uintptr_t at = arguments[0] + (down ? (count - 1u) * step : 0u);
  for (uint32_t left = count; left != 0u; left--) {
    volatile uint32_t *word = (volatile uint32_t *)at;
    const uint32_t wrote = mark(at) ^ expected;
    const uint32_t read = *word;
    if (read != wrote) note(at, wrote, read);
    *word = wrote ^ expected ^ next;
    at = down ? at - step : at + step;
  }
  settle(arguments[0], arguments[1]);
}

/* Write to the words that one line of the address tells from the first, then read all of them. */
static void lines(void) {
  const uintptr_t begin = arguments[0];
  const uint32_t size = arguments[1];
  for (uint32_t line = 4u; line < size; line <<= 1)
    *(volatile uint32_t *)(begin + line) = mark(begin + line);
  *(volatile uint32_t *)begin = mark(begin);
  settle(begin, size);
  for (uint32_t line = 2u; line < size; line <<= 1) {
    const uintptr_t at = line < 4u ? begin : begin + line;
    const uint32_t read = *(volatile uint32_t *)at;
    if (read != mark(at)) note(at, mark(at), read);
  }
}

static void march(void) {
  const uint32_t step = 4u * ATOLL_SELFTEST_STEP;
  for (uint32_t i = 0; i < WORDS; i++) result.words[i] = 0u;
  lines();
  for (uint32_t offset = 0; offset < arguments[1]; offset += step) {
    const uintptr_t at = arguments[0] + offset;
    *(volatile uint32_t *)at = mark(at);
  }
  settle(arguments[0], arguments[1]);
  pass(0u, UINT32_MAX, 0);
  pass(UINT32_MAX, 0u, 0);
  pass(0u, UINT32_MAX, 1);
  pass(UINT32_MAX, 0u, 1);
  pass(0u, 0u, 0);
}

static void argue(uint32_t half) {
  for (uint32_t i = 0; i + 1u < ARGUMENTS; i++) arguments[i] = arguments[i] << 16 | arguments[i + 1u] >> 16;
  arguments[ARGUMENTS - 1u] = arguments[ARGUMENTS - 1u] << 16 | half;
}

int32_t atoll_selftest_serve(uint32_t command) {
  const uint32_t asked = command & 0xFFFFu;
  int32_t trapped = 0;
  if (command >> 16 == ATOLL_SELFTEST_ARGUMENT) {
    argue(asked);
    return 0;
  }
  switch (asked) {
    case ATOLL_SELFTEST_LOAD:
      settle(arguments[0], 4u);
      return atoll_probe_load(arguments[0], &result.words[0]);
    case ATOLL_SELFTEST_STORE:
      trapped = atoll_probe_store(arguments[0], arguments[1]);
      settle(arguments[0], 4u);
      return trapped;
    case ATOLL_SELFTEST_MARCH:
      march();
      return 0;
    default:
      return (int32_t)result.words[(asked - ATOLL_SELFTEST_WORD) % WORDS];
  }
}
