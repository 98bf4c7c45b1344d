/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the digits network on QEMU's mps3-an547; prints a line of two hex digits a score. */
#include <stddef.h>
#include <stdint.h>

#include "digits_int8.h"
#include "image.h"

#define STACK_TOP ((const void *)0x20070000)
#define CPACR (*(volatile uint32_t *)0xE000ED88)

uint8_t atoll_pool_private[65536] __attribute__((aligned(16)));
uint8_t atoll_pool_shared[65536] __attribute__((aligned(16)));
static int8_t scores[10];

static void semihosting(int operation, const void *argument) {
  register int r0 __asm("r0") = operation;
  register const void *r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void atoll_trace_begin(int32_t device, int32_t number) { (void)device, (void)number; }
void atoll_trace_end(int32_t device, int32_t number) { (void)device, (void)number; }
int32_t atoll_guard_check(int32_t status) { return status; }

void *memcpy(void *to, const void *from, size_t size) {
  uint8_t *target = to;
  const uint8_t *source = from;
  while (size--) *target++ = *source++;
  return to;
}
void *memset(void *to, int value, size_t size) {
  uint8_t *target = to;
  while (size--) *target++ = (uint8_t)value;
  return to;
}
void __aeabi_memcpy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memset(void *to, size_t size, int value) { memset(to, value, size); }

static void leave(const char *text) {
  semihosting(4, text);
  semihosting(0x18, (const void *)0x20026);
  for (;;) {
  }
}
static void fault(void) { leave("fault\n"); }
static void start(void) {
  static char text[3 * sizeof scores + 1];
  CPACR |= 0xfu << 20; /* vectors */
  __asm volatile("dsb\n isb");
  const struct digits_int8_inputs inputs = {.image = image};
  const struct digits_int8_outputs outputs = {.softmax_9_out = scores};
  if (digits_int8_run(&inputs, &outputs)) leave("status\n");
  for (unsigned i = 0; i < sizeof scores; ++i) {
    text[3 * i] = "0123456789abcdef"[(uint8_t)scores[i] >> 4];
    text[3 * i + 1] = "0123456789abcdef"[scores[i] & 15];
    text[3 * i + 2] = '\n';
  }
  leave(text);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    STACK_TOP, start, fault, fault, fault, fault, fault, fault};
