/* SPDX-License-Identifier: Apache-2.0 */
/* UART, trace, requests and exit: the console registers of docs/platform.md. */
#include "atoll_devices.h"
#include "atoll_runtime.h"

static void trace(int32_t device, int32_t number, enum atoll_event event) {
  atoll_write(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_TRACE,
              ((uint32_t)number & ATOLL_TRACE_OPERATOR_MASK) |
                  ((uint32_t)device & ATOLL_TRACE_DEVICE_MASK) << ATOLL_TRACE_DEVICE_SHIFT |
                  (uint32_t)event << ATOLL_TRACE_EVENT_SHIFT);
}

void atoll_trace_begin(int32_t device, int32_t number) {
  trace(device, number, ATOLL_EVENT_OPERATOR_BEGIN);
}

void atoll_trace_end(int32_t device, int32_t number) {
  trace(device, number, ATOLL_EVENT_OPERATOR_END);
}

void atoll_trace_event(enum atoll_event event) {
  trace(ATOLL_HOST, 0, event);
}

enum atoll_request atoll_request(void) {
  return (enum atoll_request)atoll_read(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_REQUEST);
}

void atoll_result(int32_t status) {
  atoll_write(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_RESULT, (uint32_t)status);
}

static void put(char character) {
  atoll_write(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_UART_TX, (uint8_t)character);
}

void atoll_print(const char *text) {
  while (*text != '\0') put(*text++);
}

void atoll_print_hex(uint32_t value) {
  atoll_print("0x");
  for (int32_t shift = 28; shift >= 0; shift -= 4) put("0123456789ABCDEF"[value >> shift & 15u]);
}

void atoll_print_decimal(int32_t value) {
  char digits[11];
  char *first = &digits[10];
  uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  *first = '\0';
  do {
    *--first = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0u);
  if (value < 0) put('-');
  atoll_print(first);
}

void atoll_exit(int32_t status) {
  atoll_write(ATOLL_CONSOLE_ORIGIN + ATOLL_CONSOLE_EXIT, (uint32_t)status);
  for (;;) {
  }
}
