/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of the status codes. */
#include "atoll_status.h"

const char *atoll_status_text(int32_t status) {
#define ATOLL_STATUS_SENTENCE(name, value, text) \
  if (status == (name)) return text;
  ATOLL_STATUS_LIST(ATOLL_STATUS_SENTENCE)
#undef ATOLL_STATUS_SENTENCE
  return "unknown status";
}
