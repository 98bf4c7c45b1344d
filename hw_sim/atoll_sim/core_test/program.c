/* SPDX-License-Identifier: Apache-2.0 */
/* What `atoll core test` runs: one part, which the bench names, and its results. */
#include <stdint.h>

#include "core_test.h"

int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles);

static uint32_t get(uint32_t offset) {
  return *(const volatile uint32_t *)(uintptr_t)(PEER_ORIGIN + offset);
}

static void set(uint32_t offset, uint32_t value) {
  *(volatile uint32_t *)(uintptr_t)(PEER_ORIGIN + offset) = value;
}

#define FOR_EACH(number, type, signed_type)                                              \
  for (uint32_t at = 0; at < PROBE_SIZE; at += sizeof(type)) {                           \
    *(volatile type *)(uintptr_t)(PROBE_ORIGIN + at) = (type)(PATTERN + number * at);    \
    set(RESULT, (uint32_t) * (const volatile type *)(uintptr_t)(PROBE_ORIGIN + at));     \
    set(RESULT, (uint32_t)(int32_t) * (const volatile signed_type *)(uintptr_t)(PROBE_ORIGIN + at)); \
  }

static void loads_and_stores(void) {
  FOR_EACH(BYTE_STEP, uint8_t, int8_t)
  FOR_EACH(HALF_STEP, uint16_t, int16_t)
  FOR_EACH(WORD_STEP, uint32_t, int32_t)
}

static uint32_t wait(uint32_t raised, uint32_t line, uint32_t cycles) {
  set(RAISE, raised);
  return (uint32_t)atoll_wait_interrupt(line, cycles);
}

static void interrupts(void) {
  set(RESULT, wait(BUS_ERROR_LINE, BUS_ERROR_LINE, LONG_WAIT));
  for (uint32_t line = FIRST_LINE; line <= LAST_LINE; line++) {
    set(RESULT, wait(line, line, LONG_WAIT));
  }
  set(RESULT, wait(NO_LINE, FIRST_LINE, SHORT_WAIT));
  set(RESULT, wait(BUS_ERROR_LINE, FIRST_LINE, SHORT_WAIT));
}

int main(void) {
  switch (get(PART)) {
    case PART_LOADS_AND_STORES: loads_and_stores(); break;
    case PART_INTERRUPTS: interrupts(); break;
    case PART_FAILED_LOAD:
      set(RESULT, *(const volatile uint32_t *)(uintptr_t)BROKEN_ORIGIN);
      break;
    case PART_FAILED_STORE:
      *(volatile uint32_t *)(uintptr_t)BROKEN_ORIGIN = PATTERN;
      set(RESULT, *(const volatile uint32_t *)(uintptr_t)PROBE_ORIGIN);
      break;
    case PART_FAILED_FETCH: ((void (*)(void))(uintptr_t)BROKEN_ORIGIN)(); break;
    default: __asm__ volatile(".word 0"); break;
  }
  return 0;
}

void atoll_exit(int32_t status);

void atoll_exit(int32_t status) {
  set(LEAVE, (uint32_t)status);
  for (;;) {
  }
}
