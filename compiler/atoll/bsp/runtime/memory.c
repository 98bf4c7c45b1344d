/* SPDX-License-Identifier: Apache-2.0 */
/* The memory functions that a freestanding compiler may call, by words where both sides allow it.
 *
 * Built without the compiler's knowledge of these names: turning a loop into a call of the very
 * function it implements would never end. */
#include <stddef.h>
#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) word_t;

enum { WORD = sizeof(word_t), BLOCK = 4 * WORD };

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);

static int aligned(const void *pointer) {
  return ((uintptr_t)pointer & (WORD - 1u)) == 0u;
}

static int alike(const void *left, const void *right) {
  return (((uintptr_t)left ^ (uintptr_t)right) & (WORD - 1u)) == 0u;
}

/* Lowest address first. */
static void copy_up(uint8_t *to, const uint8_t *from, size_t size) {
  if (alike(to, from)) {
    for (; size != 0u && !aligned(to); size--) *to++ = *from++;
    for (; size >= BLOCK; size -= BLOCK, to += BLOCK, from += BLOCK) {
      const word_t *source = (const word_t *)(const void *)from;
      const word_t a = source[0], b = source[1], c = source[2], d = source[3];
      word_t *target = (word_t *)(void *)to;
      target[0] = a;
      target[1] = b;
      target[2] = c;
      target[3] = d;
    }
    for (; size >= WORD; size -= WORD, to += WORD, from += WORD)
      *(word_t *)(void *)to = *(const word_t *)(const void *)from;
  }
  for (; size != 0u; size--) *to++ = *from++;
}

/* Highest address first; `to` and `from` are ends. */
static void copy_down(uint8_t *to, const uint8_t *from, size_t size) {
  if (alike(to, from)) {
    for (; size != 0u && !aligned(to); size--) *--to = *--from;
    for (; size >= WORD; size -= WORD) {
      to -= WORD;
      from -= WORD;
      *(word_t *)(void *)to = *(const word_t *)(const void *)from;
    }
  }
  for (; size != 0u; size--) *--to = *--from;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  copy_up(to, from, size);
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  if ((uintptr_t)to - (uintptr_t)from >= size)
    copy_up(to, from, size);
  else
    copy_down((uint8_t *)to + size, (const uint8_t *)from + size, size);
  return to;
}

void *memset(void *to, int value, size_t size) {
  uint8_t *next = to;
  const uint8_t byte = (uint8_t)value;
  const word_t word = byte * 0x01010101u;
  for (; size != 0u && !aligned(next); size--) *next++ = byte;
  for (; size >= WORD; size -= WORD, next += WORD) *(word_t *)(void *)next = word;
  for (; size != 0u; size--) *next++ = byte;
  return to;
}

int memcmp(const void *left, const void *right, size_t size) {
  const uint8_t *a = left;
  const uint8_t *b = right;
  for (; size != 0u; size--, a++, b++)
    if (*a != *b) return *a < *b ? -1 : 1;
  return 0;
}

#ifdef __ARM_EABI__
/* What compilers for Arm call instead (Run-time ABI for the Arm Architecture, 5.3.4): the suffix tells
 * the alignment of both sides, and memset has its operands in another order. */
#define ALIASES(name) \
  COPY(__aeabi_mem##name, mem##name) COPY(__aeabi_mem##name##4, mem##name) COPY(__aeabi_mem##name##8, mem##name)
#define COPY(alias, function)                              \
  void alias(void *to, const void *from, size_t size);     \
  void alias(void *to, const void *from, size_t size) {    \
    (void)function(to, from, size);                        \
  }
#define FILL(suffix)                                                    \
  void __aeabi_memset##suffix(void *to, size_t size, int value);        \
  void __aeabi_memset##suffix(void *to, size_t size, int value) {       \
    (void)memset(to, value, size);                                      \
  }                                                                     \
  void __aeabi_memclr##suffix(void *to, size_t size);                   \
  void __aeabi_memclr##suffix(void *to, size_t size) {                  \
    (void)memset(to, 0, size);                                          \
  }

ALIASES(cpy)
ALIASES(move)
FILL()
FILL(4)
FILL(8)
#endif
