/* SPDX-License-Identifier: Apache-2.0 */
/* The host: keeps to docs/platform.md, has the other core transform each sample, and then does what
 * ENDING says. Its exit status is 42, or the number of faults that it saw. */
#include "mailbox.h"

enum { UART_TX, EXIT, TRACE, REQUEST, TOLD };
enum { BEGIN = 1 << 24, END = 2 << 24, READY = 3 << 24, RUN = 4 << 24, OVER = 5 << 24 };
enum { GOOD, ROUNDS, TRESPASS };

static volatile word *const console = (volatile word *)CONSOLE;

static word faults;

static void expect(word good) { faults += !good; }

static word ask(word step, word *state) {
  int twice = next_random(state) >> 20 & 1;
  expect(box[ID] == IDENTITY && box[STATUS] == 0);
  box[COMMAND] = step;
  if (twice) box[COMMAND] = ~step; /* refused: the core has hardly woken up */
  dawdle(state);
  word lines;
  do lines = wait_for_interrupt();
  while (!(lines >> LINE & 1));
  expect(box[STATUS] == DONE);
  word result = box[RESULT];
  box[CLEAR] = 1;
  expect(box[STATUS] == 0);
  return result;
}

static void run(word *state) {
  console[TRACE] = RUN;
  console[TRACE] = BEGIN | ORDINAL << 16 | 0;
  word result = ask(TRANSFORM, state);
  console[TRACE] = END | ORDINAL << 16 | 0;
  console[TOLD] = result;
  console[TRACE] = OVER;
}

void main(void) {
  word state = 1;
  faults = 0;
  for (;;) {
    console[TRACE] = READY;
    word request;
    do request = console[REQUEST];
    while (request == 0);
    if (request == 2) break;
    run(&state);
  }
  if (ENDING == ROUNDS)
    for (word step = 0; step < 1000; step++) expect(ask(step, &state) == answer_to(step));
  if (ENDING == TRESPASS) {
    expect(ask(INTRUDE, &state) == 0);
    *(volatile word *)CORE_STACK = 0x600DF00D;
  }
  console[EXIT] = faults ? faults : 42;
  for (;;) {
  }
}
