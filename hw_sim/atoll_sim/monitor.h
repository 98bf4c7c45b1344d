// What happened on the chip: events of the firmware, and every master's accesses by phase.
#pragma once

#include <string>
#include <vector>

#include "tables.h"

namespace monitor {

struct Log {
  uint64_t cycle = 0;
  uint32_t phase = 0;  // TRACE events so far
  std::vector<record::Event> events;  // without text
  std::vector<record::Count> counts;
  std::vector<record::Span> spans;
  std::vector<record::Blocked> blocked;
  uint64_t blocked_total = 0;  // `blocked` keeps the first of them
  std::string text;
};

// The one log of this process.
Log& log();

// End the current phase: move what was marked since the last call into the log.
void close_phase();

}  // namespace monitor
