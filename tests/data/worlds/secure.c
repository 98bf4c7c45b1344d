/* SPDX-License-Identifier: Apache-2.0 */
/* The secure world of an AN505: it opens what the non-secure image asks for, and lets it begin. */
#include <stdint.h>

#include "atoll_sau_cpu.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define SAU_CTRL 0xE000EDD0u
#define SAU_RNR 0xE000EDD8u
#define SAU_RBAR 0xE000EDDCu
#define SAU_RLAR 0xE000EDE0u
#define VTOR_NS 0xE002ED08u

extern uint32_t stack_top[];
void reset(void);

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)stack_top, (uintptr_t)reset, (uintptr_t)reset, (uintptr_t)reset};

/* Open blocks of a memory behind an MPC, from an offset on. */
static void open_memory(uint32_t controller, uint32_t from) {
  const uint32_t block = 32u << (REGISTER(controller + 0x14u) & 15u);
  const uint32_t last = REGISTER(controller + 0x10u);
  REGISTER(controller) &= ~(1u << 8);
  for (uint32_t word = 0; word <= last; word++) {
    uint32_t open = 0;
    for (uint32_t bit = 0; bit < 32u; bit++)
      if ((word * 32u + bit) * block >= from) open |= 1u << bit;
    REGISTER(controller + 0x18u) = word;
    REGISTER(controller + 0x1Cu) = open;
  }
}

void reset(void) {
#ifndef CLOSED
  open_memory(0x58007000u, 0x10000u);
#endif
  open_memory(0x58008000u, 0u);
  open_memory(0x58009000u, 0u);
  for (uint32_t n = 0; n < ATOLL_SAU_CPU_AREAS - LEFT_OUT; n++) {
    REGISTER(SAU_RNR) = n;
    REGISTER(SAU_RBAR) = atoll_sau_cpu[n][0];
    REGISTER(SAU_RLAR) = atoll_sau_cpu[n][1];
  }
  REGISTER(SAU_CTRL) = 1u;
  REGISTER(VTOR_NS) = ATOLL_SAU_CPU_VECTORS;
  __asm volatile("dsb\n\tisb");
  const uint32_t *const image = (const uint32_t *)ATOLL_SAU_CPU_VECTORS;
  __asm volatile("msr msp_ns, %0\n\tbxns %1" ::"r"(image[0]), "r"(image[1] & ~1u));
}
