/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The serial protocol of docs/board.md: a host writes samples, has networks run, and reads outputs,
 * cycles and stack marks. A firmware answers with protocol.c and networks.c of serial/, and gives
 * them bytes; main.c is the smallest one.
 */
#ifndef ATOLL_SERIAL_H
#define ATOLL_SERIAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATOLL_SERIAL_VERSION 1
#define ATOLL_SERIAL_DATA UINT32_C(64)
#define ATOLL_SERIAL_REPLY 128
#define ATOLL_SERIAL_NETWORKS UINT32_C(1)
#define ATOLL_SERIAL_OPERATORS UINT32_C(1)

/* Types of messages. */
enum atoll_serial_message {
  ATOLL_SERIAL_HELLO = 1,
  ATOLL_SERIAL_NAME = 2,
  ATOLL_SERIAL_RESET = 3,
  ATOLL_SERIAL_WRITE = 4,
  ATOLL_SERIAL_RUN = 5,
  ATOLL_SERIAL_READ = 6,
  ATOLL_SERIAL_TIMES = 7,
  ATOLL_SERIAL_STACKS = 8,
  ATOLL_SERIAL_TEXT = 64,
  ATOLL_SERIAL_REPEAT = 65
};

/* Where bytes go, in your app/serial.c: make the UART ready; wait for a byte; send one; and the
 * core's cycles, which may overflow, or always 0 where nothing counts them. */
void atoll_serial_start(void);
uint8_t atoll_serial_get(void);
void atoll_serial_put(uint8_t byte);
uint32_t atoll_serial_cycles(void);

/* Take a byte from the host, and answer if it ends a request. `status` is what
 * atoll_devices_start() returned: a host runs nothing on a chip that did not start. */
void atoll_serial_take(uint8_t byte, int32_t status);

/* Note when an operator begins and ends: atoll_trace_begin() and atoll_trace_end() call these. */
void atoll_serial_operator_begins(int32_t number);
void atoll_serial_operator_ends(int32_t number);

/* Send text for the host's report. */
void atoll_serial_print(const char *text);

/* Networks.c, for protocol.c: the chip's name, the build's digest, then the name of each network; 0
 * behind the last one. */
const char *atoll_serial_name(uint32_t index);

/* The input or output number `port` of a network, and its size in bytes; 0 if there is none. */
volatile uint8_t *atoll_serial_input(uint32_t network, uint32_t port, uint32_t *size);
volatile uint8_t *atoll_serial_output(uint32_t network, uint32_t port, uint32_t *size);

/* Run a network; 0 or a negative code of atoll_status.h. */
int32_t atoll_serial_run(uint32_t network);

/* Give the states of all networks their first bytes. */
void atoll_serial_reset(void);

/* The lowest word of the host's stack number `index`, the main one first, and the first word behind
 * it; 0 if there is none. Start-up code must have painted it. */
const uint32_t *atoll_serial_stack(uint32_t index, const uint32_t **top);

#ifdef __cplusplus
}
#endif

#endif
