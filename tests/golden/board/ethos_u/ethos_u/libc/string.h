/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <string.h>.
 */
#ifndef ATOLL_STRING_H
#define ATOLL_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

#endif
