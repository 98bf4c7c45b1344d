/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`, once: this file is yours.
 *
 * Where the bytes of the serial protocol go, and what counts cycles: a UART like National's 16550 at 0x10000000.
 * Its baud rate is the one that boot code, or you in atoll_serial_start(), set.
 */
#include "atoll_runtime.h"
#include "atoll_serial.h"

#define UART UINT32_C(0x10000000)
/* Bytes from one register to the next; 4 on many chips, whose registers may also want whole words. */
#define STRIDE 1u

enum { DATA = 0, FIFO_CONTROL = 2, LINE_CONTROL = 3, LINE_STATUS = 5 };
enum { FIFO_CLEARED = 0x07, EIGHT_BITS = 0x03, RECEIVED = 0x01, MAY_SEND = 0x20 };

static volatile uint8_t *at(uint32_t number) {
  return (volatile uint8_t *)(uintptr_t)(UART + STRIDE * number);
}

void atoll_serial_start(void) {
  *at(LINE_CONTROL) = EIGHT_BITS;
  *at(FIFO_CONTROL) = FIFO_CLEARED;
}

uint8_t atoll_serial_get(void) {
  while ((*at(LINE_STATUS) & RECEIVED) == 0u) {
  }
  return *at(DATA);
}

void atoll_serial_put(uint8_t byte) {
  while ((*at(LINE_STATUS) & MAY_SEND) == 0u) {
  }
  *at(DATA) = byte;
}

/* The CSR mcycle. */
uint32_t atoll_serial_cycles(void) {
  unsigned long cycles;
  __asm__ volatile(".insn i 0x73, 2, %0, x0, -1280" : "=r"(cycles));
  return (uint32_t)cycles;
}
