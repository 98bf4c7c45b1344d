/* SPDX-License-Identifier: Apache-2.0 */
/* What both cores of the mailbox tests know; addresses come from the chip's description. */
typedef unsigned int word;
typedef unsigned char byte;

enum { ID, COMMAND, STATUS, RESULT, CLEAR };
enum { BUSY = 1, DONE = 2 };
enum { IDENTITY = 0x61744D42 };
/* Steps: anything below TRANSFORM is a number to answer. */
enum { TRANSFORM = 0x1000, INTRUDE };
enum { SIZE = 64 };

static volatile word *const box = (volatile word *)MAILBOX;
static volatile byte *const input = (volatile byte *)BUFFERS;
static volatile byte *const output = (volatile byte *)BUFFERS + 0x1000;

/* PicoRV32's waitirq: sleep until an interrupt line is high, return the lines. */
static inline word wait_for_interrupt(void) {
  register word lines __asm__("a0");
  __asm__ volatile(".4byte 0x0800450b" : "=r"(lines) : : "memory");
  return lines;
}

static inline word answer_to(word step) { return step * 2654435761u + 1; }

static inline word next_random(word *state) { return *state = *state * 1664525u + 1013904223u; }

/* Waste some cycles: mostly few, sometimes many. */
static inline void dawdle(word *state) {
  word turns = next_random(state) >> 16;
  turns = turns & 7 ? turns >> 3 & 7 : turns >> 3 & 127;
  for (volatile word i = 0; i < turns; i++) {
  }
}
