/* SPDX-License-Identifier: Apache-2.0 */
/* A board of the serial protocol on this machine: a test's functions in the place of a chip. */
#include "atoll_serial.h"

void (*test_put)(uint8_t);
int32_t (*test_run)(uint32_t);
uint8_t test_input[64], test_output[64];
uint32_t test_stack[64];
uint32_t test_time;

void atoll_serial_put(uint8_t byte) {
  test_put(byte);
}

uint32_t atoll_serial_cycles(void) {
  return test_time;
}

const char *atoll_serial_name(uint32_t index) {
  static const char *const names[] = {
      "lagoon", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "digits_int8"};
  return index < 3u ? names[index] : 0;
}

volatile uint8_t *atoll_serial_input(uint32_t network, uint32_t port, uint32_t *size) {
  *size = sizeof test_input;
  return network == 0u && port == 0u ? test_input : 0;
}

volatile uint8_t *atoll_serial_output(uint32_t network, uint32_t port, uint32_t *size) {
  *size = 10;
  return network == 0u && port == 0u ? test_output : 0;
}

int32_t atoll_serial_run(uint32_t network) {
  return test_run(network);
}

void atoll_serial_reset(void) {
}

const uint32_t *atoll_serial_stack(uint32_t index, const uint32_t **top) {
  *top = test_stack + 64;
  return index == 0u ? test_stack : 0;
}
