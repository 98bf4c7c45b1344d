/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <inttypes.h>.
 */
#ifndef ATOLL_INTTYPES_H
#define ATOLL_INTTYPES_H

#include <stdint.h>

#define PRId32 "ld"
#define PRIu32 "lu"
#define PRIx32 "lx"
#define PRId64 "lld"
#define PRIu64 "llu"
#define PRIx64 "llx"

#endif
