/* SPDX-License-Identifier: Apache-2.0 */
/* A firmware of two operators that keeps to docs/platform.md, for the test chip 'tiny'.
 *
 * Operator 0 (core): middle = 3 * input + 1. Operator 1 (accelerator): output = middle. What happens
 * after the last sample depends on ENDING. The accelerator copies 64 bytes in BEATS beats. */
typedef unsigned int word;
typedef unsigned char byte;

enum { UART_TX, EXIT, TRACE, REQUEST, RESULT };
enum { SOURCE, TARGET, COUNT, STATUS };
enum { BEGIN = 1 << 24, END = 2 << 24, READY = 3 << 24, RUN = 4 << 24, DONE = 5 << 24 };
enum { GOOD, BLOCKED, TRAP, HANG, ILLEGAL };

static volatile word *const console = (volatile word *)0x50000000;
static volatile word *const copier = (volatile word *)0x40000000;
static volatile byte *const input = (volatile byte *)0x20000000;
static volatile byte *const middle = (volatile byte *)0x20001000;
static volatile byte *const output = (volatile byte *)0x20002000;

static void print(const char *text) {
  while (*text) console[UART_TX] = *text++;
}

/* PicoRV32's waitirq: sleep until an interrupt line is high, return the lines. */
static word wait_for_interrupt(void) {
  register word lines __asm__("a0");
  __asm__ volatile(".4byte 0x0800450b" : "=r"(lines) : : "memory");
  return lines;
}

static word copy(volatile byte *from, volatile byte *to, word beats) {
  copier[SOURCE] = (word)from;
  copier[TARGET] = (word)to;
  copier[COUNT] = beats;
  word lines = wait_for_interrupt();
  word status = copier[STATUS];
  copier[STATUS] = 0;
  return lines << 16 | status;
}

static void run(void) {
  console[TRACE] = RUN;
  console[TRACE] = BEGIN | 0 << 16 | 0;
  for (int i = 0; i < 64; i++) middle[i] = (byte)(3 * input[i] + 1);
  console[TRACE] = END | 0 << 16 | 0;
  console[TRACE] = BEGIN | 1 << 16 | 1;
  word result = copy(middle, output, BEATS);
  console[TRACE] = END | 1 << 16 | 1;
  console[RESULT] = result;
  console[TRACE] = DONE;
}

void main(void) {
  print("hello\n");
  for (;;) {
    console[TRACE] = READY;
    word request;
    do request = console[REQUEST];
    while (request == 0);
    if (request == 2) break;
    run();
  }
  if (ENDING == BLOCKED) {
    *(volatile byte *)0x60000003 = 7;
    console[RESULT] = copy(middle, (volatile byte *)0x10000000, 2);
  }
  if (ENDING == ILLEGAL) copy(middle - 8, output, 2); /* a burst across 4 KiB */
  if (ENDING == TRAP) __builtin_trap();
  if (ENDING == HANG)
    for (;;) {
    }
  print("bye\n");
  console[EXIT] = 42;
  for (;;) {
  }
}
