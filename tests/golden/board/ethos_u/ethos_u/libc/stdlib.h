/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <stdlib.h>.
 */
#ifndef ATOLL_STDLIB_H
#define ATOLL_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void free(void *memory);

#endif
