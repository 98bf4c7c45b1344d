/* Made by `atoll bsp`; edits are refused, see README.md.
 *
 * A firmware that does what a host asks for over a serial line.
 */
#include "atoll_devices.h"
#include "atoll_runtime.h"
#include "atoll_serial.h"

void atoll_trace_begin(int32_t device, int32_t number) {
  (void)device;
  atoll_serial_operator_begins(number);
}

void atoll_trace_end(int32_t device, int32_t number) {
  (void)device;
  atoll_serial_operator_ends(number);
}

void atoll_print(const char *text) {
  atoll_serial_print(text);
}

void atoll_print_hex(uint32_t value) {
  char text[11] = "0x";
  for (uint32_t i = 0; i < 8u; i++) text[2u + i] = "0123456789ABCDEF"[value >> (28u - 4u * i) & 15u];
  atoll_serial_print(text);
}

void atoll_print_decimal(int32_t value) {
  char text[12];
  char *first = &text[11];
  uint32_t rest = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  *first = '\0';
  do {
    *--first = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0u);
  if (value < 0) *--first = '-';
  atoll_serial_print(first);
}

void atoll_exit(int32_t status) {
  (void)status;
  for (;;) {
  }
}

int main(void) {
  atoll_serial_start();
  const int32_t status = atoll_devices_start();
  for (;;) atoll_serial_take(atoll_serial_get(), status);
}
