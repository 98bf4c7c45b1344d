// Types of what the monitor hands to Python (monitors.py).
#pragma once

#include <cstdint>

namespace record {

enum EventKind : uint32_t { kUart, kExit, kTrace, kResult, kTrap };
enum AccessKind : uint32_t { kRead, kWrite, kFetch, kAccessKinds };

struct Event {
  uint64_t cycle;
  uint32_t kind;
  uint32_t value;  // word written; number of the master for kTrap
};

// Accesses of one master since the TRACE event before `phase`'s end.
struct Count {
  uint32_t phase;
  uint32_t master;
  uint32_t kind;
  uint32_t reserved;
  uint64_t accesses;
  uint64_t bytes;
  uint64_t last;  // cycle of the last one
};

// Bytes from `start` up to, not including, `end`, that one master touched in a phase.
struct Span {
  uint32_t phase;
  uint32_t master;
  uint32_t kind;
  uint32_t start;
  uint64_t end;
};

}  // namespace record
