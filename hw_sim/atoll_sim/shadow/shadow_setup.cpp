// SPDX-License-Identifier: Apache-2.0
// Takes a contract and cuts the memories into segments.
#include <algorithm>

#include "shadow.h"

namespace shadow {

bool Shadow::load(const uint32_t* words, size_t count) {
  Peek peek = peek_;
  *this = Shadow();
  peek_ = peek;
  if (!table_.unpack(words, count) || !make_segments()) return false;
  restart();
  loaded_ = !table_.pools.empty();
  return true;
}

void Shadow::restart() {
  inside_ = false;
  run_ = model_ = running_ = ended_ = 0;
  latest_ = kNone;
  for (Bytes& bytes : memories_) bytes.tag.clear();
  starting_.assign(table_.masters.size(), 1);
  active_.assign(table_.masters.size(), kNone);
  moved_.assign(table_.masters.size(), 0);
  edges_.assign(table_.masters.size() * kAccessKinds, Edge());
  life_.assign(table_.buffers.size(), Life::kUnborn);
  lifetime_.assign(table_.buffers.size(), 0);
  born_.assign(1, kNone);
  for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    if (is_state(buffer)) bear(buffer);
  }
  grants_.assign(table_.masters.size() * segments_.size(), Grant{kNone, kNone, kJudge, kJudge});
  fetch_.assign(table_.masters.size() * segments_.size(), 0);
  for (size_t segment = 0; segment < segments_.size(); ++segment) {
    for (uint16_t buffer : segments_[segment].buffers) {
      const Buffer& found = table_.buffers[buffer];
      if (found.kind == kCode) fetch_[found.owner * segments_.size() + segment] = 1;
    }
  }
  filling_.assign(table_.filled.size(), 1);
  for (const Filled& each : table_.filled) {
    if (each.code != kNoWord) let_fetch(each.code, 0);
  }
  refresh_all();
}

// Whether fetches from a core's code need no closer look.
void Shadow::let_fetch(uint32_t code, uint8_t free) {
  const auto [first, last] = spans_[code];
  const uint32_t owner = table_.buffers[code].owner;
  for (size_t segment = first; segment <= last; ++segment) {
    fetch_[owner * segments_.size() + segment] = free;
  }
}

void Shadow::Bytes::cover(uint32_t first, uint32_t end, uint16_t segment) {
  for (uint32_t at = first; at < end;) {
    const uint32_t of_page = std::min(kPage, size - at / kPage * kPage);
    const uint32_t count = std::min(end - at, of_page - at % kPage);
    page[at / kPage] = count == of_page ? segment : kNone;
    if (count < of_page) std::fill(&apart[at], &apart[at] + count, segment);
    at += count;
  }
}

void Shadow::cut(const Bytes& bytes, std::vector<uint32_t>& cuts) const {
  cuts.push_back(0);
  const auto mark = [&](const Span& span) {
    const uint32_t offset = span.origin - bytes.origin;
    if (span.size == 0 || offset >= bytes.size) return;
    cuts.push_back(offset);
    if (span.size < bytes.size - offset) cuts.push_back(offset + span.size);
  };
  for (const Buffer& buffer : table_.buffers) mark(buffer.span);
  for (const Pool& pool : table_.pools) mark(pool.span);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

bool Shadow::make_segments() {
  spans_.assign(table_.buffers.size(), {kNone, 0});
  for (const Span& memory : table_.memories) {
    Bytes bytes(memory.origin, memory.size);
    std::vector<uint32_t> cuts;
    cut(bytes, cuts);
    const auto end_of = [&](size_t i) { return i + 1 < cuts.size() ? cuts[i + 1] : memory.size; };
    for (size_t i = 0; i < cuts.size(); ++i) {
      bytes.cover(cuts[i], end_of(i), static_cast<uint16_t>(segments_.size()));
      segments_.push_back({memory.origin + cuts[i], memory.origin + (end_of(i) - 1), kNone, {}});
    }
    memories_.push_back(std::move(bytes));
  }
  if (segments_.size() >= kNone) return false;
  for (size_t number = 0; number < segments_.size(); ++number) {
    Segment& segment = segments_[number];
    const auto covers = [&](const Span& span) {
      return segment.start - span.origin < span.size;
    };
    for (size_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
      if (!covers(table_.buffers[buffer].span)) continue;
      segment.buffers.push_back(static_cast<uint16_t>(buffer));
      auto& [first, last] = spans_[buffer];
      first = std::min(first, static_cast<uint16_t>(number));
      last = static_cast<uint16_t>(number);
    }
    for (size_t pool = 0; pool < table_.pools.size(); ++pool) {
      if (covers(table_.pools[pool].span)) segment.pool = static_cast<uint16_t>(pool);
    }
  }
  return true;
}

}  // namespace shadow
