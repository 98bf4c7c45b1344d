/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The vectors while the kernel runs. The main stack becomes that of interrupts.
 */
#include <stdint.h>

enum { LINES = 32 };

extern uint32_t atoll_stack_top[];
void atoll_reset(void);
void atoll_fault(void);
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);
void atoll_freertos_raised(uint32_t line);
void atoll_freertos_vectors(void);

static void device(void) {
  uint32_t number;
  __asm__ volatile("mrs %0, ipsr" : "=r"(number));
  atoll_freertos_raised((number & UINT32_C(0xFF)) - 16u);
}

union vector {
  uint32_t *stack;
  void (*handler)(void);
};

static const union vector vectors[16 + LINES] __attribute__((aligned(256))) = {
    {.stack = atoll_stack_top},
    {.handler = atoll_reset},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = SVC_Handler},
    {.handler = atoll_fault},
    {.handler = atoll_fault},
    {.handler = PendSV_Handler},
    {.handler = SysTick_Handler},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
    {.handler = device},
};

void atoll_freertos_vectors(void) {
  *(volatile uint32_t *)(uintptr_t)UINT32_C(0xE000ED08) = (uint32_t)(uintptr_t)vectors;
}
