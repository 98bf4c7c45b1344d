/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what the kernel calls, and src/memory.c defines.
 */
#ifndef ATOLL_STRING_H
#define ATOLL_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);

#endif
