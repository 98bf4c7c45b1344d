/* Made by `atoll bsp`; edits are refused, see README.md. */
/* What each core of a self-test does: single accesses, and marches over memory. */
#ifndef ATOLL_SELFTEST_H
#define ATOLL_SELFTEST_H

#include <stdint.h>

/* Words from one that a march touches to the next: 1 is every word. An odd number visits all banks. */
#ifndef ATOLL_SELFTEST_STEP
#define ATOLL_SELFTEST_STEP 1
#endif

/* What a core is asked for; the upper half of a mailbox's command is above every network's. */
enum {
  ATOLL_SELFTEST_ARGUMENT = 0x7FFE, /* the lower half is the next 16 bits of the arguments */
  ATOLL_SELFTEST_ASK = 0x7FFF       /* the lower half is one of the following */
};
enum {
  ATOLL_SELFTEST_LOAD,  /* arguments: address; word 0: what was there */
  ATOLL_SELFTEST_STORE, /* arguments: address, value */
  ATOLL_SELFTEST_MARCH, /* arguments: first address, bytes, first byte of the memory, bytes of a bank's word, banks */
  ATOLL_SELFTEST_WORD   /* from here on: word n of the last result */
};

#define ATOLL_SELFTEST_BANKS 32u

/* What a march found. */
struct atoll_selftest_march {
  uint32_t wrong;      /* reads that gave something else than was written */
  uint32_t first;      /* address of the first of them */
  uint32_t wrote;      /* what was written there */
  uint32_t read;       /* what was read there */
  uint32_t bits;       /* data bits that differed in any that gave no other address's word */
  uint32_t lines;      /* address lines by which the others differ from what they gave */
  uint32_t bank[ATOLL_SELFTEST_BANKS]; /* how many in each bank */
};

/* Read the word at `address`; returns 1 if the core trapped, else 0. */
int32_t atoll_probe_load(uintptr_t address, uint32_t *value);

/* Write the word at `address`; returns 1 if the core trapped, else 0. */
int32_t atoll_probe_store(uintptr_t address, uint32_t value);

/* Do what a command asks of this core. */
int32_t atoll_selftest_serve(uint32_t command);

#endif
