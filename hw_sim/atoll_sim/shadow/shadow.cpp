// SPDX-License-Identifier: Apache-2.0
#include "shadow.h"

namespace shadow {

void Shadow::access(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address,
                    uint64_t enabled) {
  Bytes* bytes = enabled ? bytes_at(address) : nullptr;
  if (!bytes) return;
  const uint32_t offset = address - bytes->origin;
  const uint32_t left = bytes->size - offset;
  if (left < 64) enabled &= (1ULL << left) - 1;
  if (!enabled) return;
  const uint32_t first = static_cast<uint32_t>(__builtin_ctzll(enabled));
  const uint32_t last = 63U - static_cast<uint32_t>(__builtin_clzll(enabled));
  const uint16_t segment = bytes->segment(offset + first);
  if (segment == bytes->segment(offset + last)) {
    const size_t entry = master * segments_.size() + segment;
    const Grant& now = grants_[entry];
    Edge& edge = edges_[master * kAccessKinds + kind];
    if (kind == kWrite) {
      if (now.write != kJudge) {
        if (now.write == kTagged) mark(*bytes, offset, enabled, master, now.write_buffer);
        edge = {address + last + 1, now.write_buffer};
        return;
      }
    } else if (kind == kFetch) {
      if (fetch_[entry]) return;
    } else if (now.read == kFree ||
               (now.read == kTagged && holds(*bytes, first, last, enabled, now.read_buffer, offset))) {
      edge = {address + last + 1, now.read_buffer};
      return;
    }
  }
  judge(cycle, master, kind, address, enabled, *bytes);
}

Shadow::Bytes* Shadow::bytes_at(uint32_t address) {
  for (Bytes& bytes : memories_) {
    if (address - bytes.origin < bytes.size) return &bytes;
  }
  return nullptr;
}

// Whether all enabled bytes hold the value of `buffer` in its present lifetime.
bool Shadow::holds(const Bytes& bytes, uint32_t first, uint32_t last, uint64_t enabled,
                   uint16_t buffer, uint32_t offset) const {
  const uint32_t expected = lifetime_[buffer];
  uint32_t wrong = 0;
  for (uint32_t i = first; i <= last; ++i) {
    wrong |= static_cast<uint32_t>(enabled >> i & 1U) * ((bytes.tag[offset + i] >> 8) ^ expected);
  }
  return wrong == 0;
}

void Shadow::mark(Bytes& bytes, uint32_t offset, uint64_t enabled, uint32_t master,
                  uint16_t buffer) {
  const uint32_t tag = lifetime_[buffer] << 8 | (master + 1);
  for (uint64_t rest = enabled; rest; rest &= rest - 1) {
    bytes.tag[offset + static_cast<uint32_t>(__builtin_ctzll(rest))] = tag;
  }
  const uint16_t op = active_[master];
  const uint32_t destination = op == kNone ? kNoWord : table_.operators[op].destination;
  if (destination == kNoWord) return;
  const Span& copied = table_.buffers[destination].span;
  if (table_.buffers[buffer].span.origin - copied.origin < copied.size) {
    moved_[master] += static_cast<uint64_t>(__builtin_popcountll(enabled));
  }
}

}  // namespace shadow
