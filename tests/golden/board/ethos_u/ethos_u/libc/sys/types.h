/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <sys/types.h>.
 */
#ifndef ATOLL_SYS_TYPES_H
#define ATOLL_SYS_TYPES_H

#include <stddef.h>

typedef long ssize_t;

#endif
