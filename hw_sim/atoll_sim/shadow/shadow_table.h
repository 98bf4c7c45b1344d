/* SPDX-License-Identifier: Apache-2.0 */
// The contract of an image as shadow/table.py packs it: little-endian words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocol.h"
#include "shadow_records.h"

namespace shadow {

using enum record::AccessKind;
using record::kAccessKinds;

constexpr uint16_t kNone = 0xffff;

enum Right : uint8_t { kReads = 1, kWrites = 2 };

inline bool aligned(const Buffer& buffer) { return buffer.span.origin % buffer.alignment == 0; }

struct Table : Sections {
  uint32_t host = 0;
  std::vector<uint8_t> rights;  // by operator, then buffer
  std::vector<uint16_t> whole;  // by operator: the first of those that are parts of one

  // Read the packed form; false if its numbers do not fit together.
  bool unpack(const uint32_t* words, size_t count);

  uint8_t right(uint16_t op, uint16_t buffer) const {
    return op == kNone ? 0 : rights[op * buffers.size() + buffer];
  }

  // What runs at the same time as `op` on another core, as a part of the same operator.
  uint16_t next_part(uint16_t op) const { return static_cast<uint16_t>(operators[op].part); }

  bool parts_of_one(uint16_t one, uint16_t other) const {
    return one != kNone && other != kNone && whole[one] == whole[other];
  }

 private:
  bool sound() const;
  void list_rights();
};

}  // namespace shadow
