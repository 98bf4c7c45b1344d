/* SPDX-License-Identifier: Apache-2.0 */
/* The core that answers: one step for each command in its mailbox. */
#include "mailbox.h"

static word intrude(void) {
  volatile word *stack = (volatile word *)HOST_STACK;
  *stack = 0x600DF00D;
  word seen = *stack;
  *(volatile word *)CONSOLE = 'x';
  *(volatile word *)ENGINE = 1;
  return seen;
}

static word run(word step) {
  if (step == TRANSFORM)
    for (int i = 0; i < SIZE; i++) output[i] = (byte)(3 * input[i] + 1);
  return step == INTRUDE ? intrude() : answer_to(step);
}

void main(void) {
  word state = 7;
  for (;;) {
    wait_for_interrupt();
    if (!(box[STATUS] & BUSY)) continue;
    dawdle(&state);
    word result = run(box[COMMAND]);
    dawdle(&state);
    box[RESULT] = result;
  }
}
