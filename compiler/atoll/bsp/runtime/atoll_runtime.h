/* SPDX-License-Identifier: Apache-2.0 */
/* What the firmware of a chip rests on: registers, console, trace, waiting, the end. */
#ifndef ATOLL_RUNTIME_H
#define ATOLL_RUNTIME_H

#include <stdint.h>

#include "atoll_protocol.h"
#include "atoll_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Read the 32-bit register at `address`. */
static inline uint32_t atoll_read(uintptr_t address) {
  return *(const volatile uint32_t *)address;
}

/* Write the 32-bit register at `address`. */
static inline void atoll_write(uintptr_t address, uint32_t value) {
  *(volatile uint32_t *)address = value;
}

/* Compiled models call these around operator `number`, which `device` runs. */
void atoll_trace_begin(int32_t device, int32_t number);
void atoll_trace_end(int32_t device, int32_t number);

/* Forget what firewalls kept back and the bus failed so far, and have the next one wake the host. */
void atoll_guard_start(void);

/* Report and forget what firewalls kept back and the bus failed: ATOLL_ERROR_VIOLATION if there is
 * any of the former, ATOLL_ERROR_BUS of the latter, or `status`. Begin a period of the watchdog anew.
 * Compiled models call this after every operator. */
int32_t atoll_guard_check(int32_t status);

/* Have the watchdog restart the chip unless a check comes within each period of ATOLL_WATCHDOG_CYCLES,
 * or let it rest. */
void atoll_watchdog_start(void);
void atoll_watchdog_stop(void);

/* Report and forget that the watchdog restarted the chip. */
void atoll_watchdog_report(void);

/* Raise an event that belongs to no operator. */
void atoll_trace_event(enum atoll_event event);

/* What the test bench wants now. */
enum atoll_request atoll_request(void);

/* Report the return value of the model's run function. */
void atoll_result(int32_t status);

/* Print on the UART. */
void atoll_print(const char *text);
void atoll_print_hex(uint32_t value);
void atoll_print_decimal(int32_t value);

/* End the program with `status`; does not return. */
void atoll_exit(int32_t status) __attribute__((noreturn));

/* Sleep until interrupt `line` is pending or `cycles` (at least 1) of the core have gone by.
 * Returns 1 if the line is pending, 0 if the time is over. With ATOLL_NO_LINE, whose low bits are those
 * of line 0, which no device has, it only lets the time pass. */
#define ATOLL_NO_LINE 256u
/* On a Cortex-M, sleep until an event comes instead, such as that which another core sends. */
#define ATOLL_EVENT 257u
/* The software interrupt of a RISC-V core: bit 3 of mip, where line n is bit n + 14. */
#define ATOLL_SOFTWARE_INTERRUPT 0xFFFFFFF5u
int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles);

#ifdef __cplusplus
}
#endif

#endif
