/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of engines that the host drives by their registers. */
#include "register_program.h"

#include "atoll_runtime.h"

#define WORD_BYTES 4u
#define BLOCK_BYTES 16u
#define LINES 32u

/* An interrupt that got lost is noticed after so many cycles of the core. */
#define POLL_CYCLES 65536u

/* Without an interrupt, the register is read again after so many. */
#define ASK_CYCLES 64u

static uint32_t read(const struct atoll_register_program *engine, uint32_t offset) {
  return atoll_read(engine->registers + offset);
}

void atoll_step_write(const struct atoll_register_program *engine, uint32_t offset,
                       uint32_t value) {
  atoll_write(engine->registers + offset, value);
}

static void say(const struct atoll_register_program *engine, const char *text) {
  atoll_print(engine->name);
  atoll_print(": ");
  atoll_print(text);
}

int32_t atoll_register_program_step(struct atoll_register_program *engine,
                                    enum atoll_register_program_state from,
                                    enum atoll_register_program_state to) {
  if (engine->state != from) return ATOLL_ERROR_ORDER;
  engine->state = to;
  return ATOLL_OK;
}

/* Expect `value` in a register that describes the instance. */
static int32_t expect(const struct atoll_register_program *engine, uint32_t offset,
                      uint32_t value) {
  const uint32_t found = read(engine, offset);
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

int32_t atoll_register_program_init(struct atoll_register_program *engine) {
  int32_t status = ATOLL_OK;
  if (engine->state != ATOLL_REGISTER_PROGRAM_CREATED) return ATOLL_ERROR_ORDER;
  for (uint32_t i = 0u; status == ATOLL_OK && i < engine->identity_count; i++)
    status = expect(engine, engine->identity[i].offset, engine->identity[i].value);
  if (status == ATOLL_OK) engine->state = ATOLL_REGISTER_PROGRAM_INITIALISED;
  return status;
}

static int is_there(const struct atoll_register_program *engine, uint32_t offset, uint32_t mask,
                    uint32_t equals) {
  return (read(engine, offset) & mask) == equals;
}

int32_t atoll_step_wait(const struct atoll_register_program *engine, uint32_t offset,
                         uint32_t mask, uint32_t equals) {
  uint32_t waited = 0u;
  while (!is_there(engine, offset, mask, equals)) {
    if (waited >= engine->timeout) {
      say(engine, "no answer: register ");
      atoll_print_hex(offset);
      atoll_print(" is ");
      atoll_print_hex(read(engine, offset));
      atoll_print("\n");
      return ATOLL_ERROR_TIMEOUT;
    }
    const uint32_t left = engine->timeout - waited;
    const uint32_t most = engine->irq < LINES ? POLL_CYCLES : ASK_CYCLES;
    const uint32_t turn = left < most ? left : most;
    if (engine->irq >= LINES || atoll_wait_interrupt(engine->irq, turn) == 0) waited += turn;
    else if (!is_there(engine, offset, mask, equals)) waited += ASK_CYCLES;
  }
  return ATOLL_OK;
}

void atoll_step_push(const struct atoll_register_program *engine, uint32_t offset,
                      uint32_t address, uint32_t size) {
  const uint8_t *bytes = (const uint8_t *)(uintptr_t)address;
  volatile uint32_t *window = (volatile uint32_t *)(engine->registers + offset);
  if ((address & (WORD_BYTES - 1u)) == 0u) {
    const uint32_t *words = (const uint32_t *)(uintptr_t)address;
    for (; size >= BLOCK_BYTES; size -= BLOCK_BYTES, words += BLOCK_BYTES / WORD_BYTES) {
      *window = words[0];
      *window = words[1];
      *window = words[2];
      *window = words[3];
    }
    for (; size >= WORD_BYTES; size -= WORD_BYTES) *window = *words++;
    bytes = (const uint8_t *)words;
  }
  while (size != 0u) {
    uint32_t word = 0u;
    for (uint32_t i = 0u; i < WORD_BYTES && size != 0u; i++, size--)
      word |= (uint32_t)*bytes++ << (8u * i);
    *window = word;
  }
}

void atoll_step_pop(const struct atoll_register_program *engine, uint32_t offset,
                     uint32_t address, uint32_t size) {
  uint8_t *bytes = (uint8_t *)(uintptr_t)address;
  const volatile uint32_t *window =
      (const volatile uint32_t *)(engine->registers + offset);
  if ((address & (WORD_BYTES - 1u)) == 0u) {
    uint32_t *words = (uint32_t *)(uintptr_t)address;
    for (; size >= BLOCK_BYTES; size -= BLOCK_BYTES, words += BLOCK_BYTES / WORD_BYTES) {
      words[0] = *window;
      words[1] = *window;
      words[2] = *window;
      words[3] = *window;
    }
    for (; size >= WORD_BYTES; size -= WORD_BYTES) *words++ = *window;
    bytes = (uint8_t *)words;
  }
  while (size != 0u) {
    uint32_t word = *window;
    for (uint32_t i = 0u; i < WORD_BYTES && size != 0u; i++, size--, word >>= 8u)
      *bytes++ = (uint8_t)word;
  }
}

void atoll_step_store(const struct atoll_register_program *engine, uint32_t offset,
                      uint32_t address, uint32_t size) {
  for (; size > WORD_BYTES; size -= WORD_BYTES, offset += WORD_BYTES, address += WORD_BYTES)
    atoll_step_push(engine, offset, address, WORD_BYTES);
  atoll_step_push(engine, offset, address, size);
}

void atoll_step_load(const struct atoll_register_program *engine, uint32_t offset,
                     uint32_t address, uint32_t size) {
  for (; size > WORD_BYTES; size -= WORD_BYTES, offset += WORD_BYTES, address += WORD_BYTES)
    atoll_step_pop(engine, offset, address, WORD_BYTES);
  atoll_step_pop(engine, offset, address, size);
}

int32_t atoll_register_program_accept(struct atoll_register_program *engine,
                                      const void *commands, int32_t count, uint32_t kinds) {
  const uint32_t *record = commands;
  if (engine->state != ATOLL_REGISTER_PROGRAM_OPEN) return ATOLL_ERROR_ORDER;
  if (count != 1 || ((uintptr_t)commands & (WORD_BYTES - 1u)) != 0u || record[0] >= kinds)
    return ATOLL_ERROR_ARGUMENT;
  engine->record = record;
  return ATOLL_OK;
}

int32_t atoll_register_program_outcome(const struct atoll_register_program *engine,
                                       const struct atoll_failure *failures, uint32_t count) {
  for (uint32_t i = 0u; i < count; i++) {
    const uint32_t found = read(engine, failures[i].offset);
    if ((found & failures[i].mask) == 0u) continue;
    say(engine, "error: ");
    atoll_print(failures[i].means);
    atoll_print(" (register ");
    atoll_print_hex(failures[i].offset);
    atoll_print(" is ");
    atoll_print_hex(found);
    atoll_print(")\n");
    return ATOLL_ERROR_DEVICE;
  }
  return ATOLL_OK;
}
