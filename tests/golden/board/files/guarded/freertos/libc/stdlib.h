/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what the kernel includes.
 */
#ifndef ATOLL_STDLIB_H
#define ATOLL_STDLIB_H

#include <stddef.h>

#endif
