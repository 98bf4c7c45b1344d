/* Results of every call of the runtime, of drivers and of models: 0 or a negative code. */
#ifndef ATOLL_STATUS_H
#define ATOLL_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each code: name, value, sentence. */
#define ATOLL_STATUS_LIST(X)                                                    \
  X(ATOLL_OK, 0, "done")                                                        \
  X(ATOLL_ERROR_NO_DEVICE, -1, "no such device")                                \
  X(ATOLL_ERROR_WRONG_DEVICE, -2, "the registers belong to another device")     \
  X(ATOLL_ERROR_BUSY, -3, "the device is busy")                                 \
  X(ATOLL_ERROR_TIMEOUT, -4, "the device did not answer in time")               \
  X(ATOLL_ERROR_DEVICE, -5, "the device stopped with an error")                 \
  X(ATOLL_ERROR_ARGUMENT, -6, "an argument is out of range")                    \
  X(ATOLL_ERROR_NO_MEMORY, -7, "the workspace is too small")                    \
  X(ATOLL_ERROR_ORDER, -8, "only the latest block or a started device can end") \
  X(ATOLL_ERROR_VIOLATION, -9, "a device touched memory that it may not touch") \
  X(ATOLL_ERROR_BUS, -10, "the bus failed an access of a device")

enum atoll_status {
#define ATOLL_STATUS_ENTRY(name, value, text) name = value,
  ATOLL_STATUS_LIST(ATOLL_STATUS_ENTRY)
#undef ATOLL_STATUS_ENTRY
  ATOLL_STATUS_LAST = ATOLL_ERROR_BUS
};

/* The sentence of a status, never null. */
const char *atoll_status_text(int32_t status);

#ifdef __cplusplus
}
#endif

#endif
