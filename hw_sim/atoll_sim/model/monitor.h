/* SPDX-License-Identifier: Apache-2.0 */
// What happened on the chip: events of the firmware, and every master's accesses by phase.
#pragma once

#include <string>
#include <vector>

#include "devices.h"
#include "protocol.h"
#include "shadow.h"

namespace monitor {

struct Log {
  uint64_t cycle = 0;
  uint32_t phase = 0;  // TRACE events so far
  std::vector<record::Event> events;  // without text
  std::vector<record::Count> counts;
  std::vector<record::Span> spans;
  std::vector<record::Line> lines;
  uint64_t high = 0;  // the interrupt lines that are
  std::vector<record::Heat> heat;
  std::string text;
};

// The one log of this process.
Log& log();

// What holds every access against the contract, once `hold_against` has read one.
shadow::Shadow& watcher();

// What holds the accelerators to their rules, once `hold_against` has read a contract; else null.
device_rules::Watch* devices_watch();

// Read the packed contract of the image. False if it cannot be read, or is damaged.
bool hold_against(const char* path);

// Begin anew: an empty log of the memories of `chip::map()`, and no contract.
void forget();

// Other interrupt lines than `log().high` were high in the cycle before: log those that changed.
void saw_lines(uint64_t lines);

// End the current phase: move what was marked since the last call into the log.
void close_phase();

}  // namespace monitor
