/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <assert.h>.
 */
#ifndef ATOLL_ASSERT_H
#define ATOLL_ASSERT_H

#define assert(condition) ((void)0)

#endif
