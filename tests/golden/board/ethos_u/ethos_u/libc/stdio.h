/* Made from corstone300_u55.yaml by `atoll bsp`; edits are refused, see README.md.
 *
 * For compilers without a C library: what Arm's driver of the Ethos-U takes of <stdio.h>.
 */
#ifndef ATOLL_STDIO_H
#define ATOLL_STDIO_H

#define stderr ((void *)0)
#define stdout ((void *)0)
int fprintf(void *stream, const char *format, ...);

#endif
