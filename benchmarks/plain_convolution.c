/* SPDX-License-Identifier: Apache-2.0 */
/* The loop nest that anyone would write for one layer: the peer of benchmarks/instructions.py.
 *
 * Extents are macros, so that the compiler knows as much as Atoll does. */
#include <stdint.h>

#define TEXT(word) TEXT_OF(word)
#define TEXT_OF(word) #word
#define EXIT (*(volatile uint32_t *)(CONSOLE + 4u))

static const int8_t *const x = (const int8_t *)WORKSPACE;
static int8_t *const y = (int8_t *)(WORKSPACE + 0x20000u);
static const int32_t *const bias = (const int32_t *)CONSTANTS;
static const int32_t *const multiplier = (const int32_t *)(CONSTANTS + 0x1000u);
static const int32_t *const shift = (const int32_t *)(CONSTANTS + 0x2000u);
static const int8_t *const weights = (const int8_t *)(CONSTANTS + 0x3000u);

static int32_t scaled(int32_t sum, int32_t factor, int32_t left) {
  const int32_t up = left > 0 ? left : 0, right = left > 0 ? 0 : -left;
  const int64_t product = (int64_t)(int32_t)((uint32_t)sum << up) * factor;
  const int32_t high = (int32_t)((product + (product >= 0 ? 1 << 30 : 1 - (1 << 30))) >> 31);
  const int32_t mask = (int32_t)((1u << right) - 1u), rest = high & mask;
  return (high >> right) + (rest > (mask >> 1) + (high < 0 ? 1 : 0) ? 1 : 0);
}

__attribute__((noinline)) static void layer(void) {
  for (int oy = 0; oy < OUT_HEIGHT; oy++)
    for (int ox = 0; ox < OUT_WIDTH; ox++)
      for (int channel = 0; channel < OUT_CHANNELS; channel++) {
        int32_t sum = bias[channel];
        for (int ky = 0; ky < KERNEL_H; ky++)
          for (int kx = 0; kx < KERNEL_W; kx++) {
            const int row = oy * STRIDE_H + ky - PAD_TOP, column = ox * STRIDE_W + kx - PAD_LEFT;
            if (row < 0 || row >= IN_HEIGHT || column < 0 || column >= IN_WIDTH) continue;
            const int8_t *const from = x + (row * IN_WIDTH + column) * IN_CHANNELS;
#if DEPTHWISE
            sum += (from[channel] - ZERO) * weights[(ky * KERNEL_W + kx) * OUT_CHANNELS + channel];
#else
            const int8_t *const by =
                weights + ((channel * KERNEL_H + ky) * KERNEL_W + kx) * IN_CHANNELS;
            for (int i = 0; i < IN_CHANNELS; i++) sum += (from[i] - ZERO) * by[i];
#endif
          }
        int32_t value = scaled(sum, multiplier[channel], shift[channel]) + ZERO;
        value = value < -128 ? -128 : value > 127 ? 127 : value;
        y[(oy * OUT_WIDTH + ox) * OUT_CHANNELS + channel] = (int8_t)value;
      }
}

void begin(void) __attribute__((noreturn));

void begin(void) {
  layer();
  EXIT = 0;
  for (;;) {
  }
}

#ifdef __arm__
#if __ARM_FEATURE_MVE
#define VECTORS_ON "  ldr r0, =0xE000ED88\n  ldr r1, =0x00F00000\n  str r1, [r0]\n  dsb\n  isb\n"
#else
#define VECTORS_ON
#endif
__asm__(".section .vectors, \"a\", %progbits\n.word " TEXT(STACK_TOP) ", _start\n"
        ".section .text.start, \"ax\", %progbits\n.globl _start\n.type _start, %function\n.thumb_func\n_start:\n"
        "  ldr r0, =" TEXT(STACK_TOP) "\n  mov sp, r0\n" VECTORS_ON "  bl begin\n.ltorg\n");
#else
#ifdef __riscv_vector
#define VECTORS_ON "  li t0, 0x200\n  csrs mstatus, t0\n"
#else
#define VECTORS_ON
#endif
__asm__(".section .text.start, \"ax\"\n.globl _start\n_start:\n  li sp, " TEXT(STACK_TOP) "\n" VECTORS_ON
        "  j begin\n");
#endif
