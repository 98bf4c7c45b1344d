/* SPDX-License-Identifier: Apache-2.0 */
/* What the stack check cannot see in machine code. */
#ifndef ATOLL_STACK_H
#define ATOLL_STACK_H

/* Say at file scope that `caller` may call `callee` through a pointer, once for each callee:
 *
 *   static int32_t __attribute__((noinline)) handle(handler_t *handler) { return handler(); }
 *   ATOLL_STACK_CALLS(handle, on_start);
 *   ATOLL_STACK_CALLS(handle, on_stop);
 *
 * The bound of the stack then counts the deepest of them. Keep `caller` from being inlined: the
 * call would be another function's. What is said here takes no room in the image, and a wrong list
 * of callees makes a wrong bound. */
#define ATOLL_STACK_CALLS(caller, callee)                                              \
  __attribute__((used, section(".atoll.calls"))) static void (*const                   \
      atoll_calls_##caller##_##callee[2])(void) = {(void (*)(void))(caller),           \
                                                   (void (*)(void))(callee)}

#endif
