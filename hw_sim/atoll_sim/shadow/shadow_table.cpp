// SPDX-License-Identifier: Apache-2.0
#include "shadow_table.h"

#include <cstring>
#include <numeric>
#include <type_traits>

namespace shadow {
namespace {

constexpr uint32_t kMostMasters = 32;
constexpr uint32_t kMostBuffers = 16000;  // cut memory into fewer segments than 16 bits can number

// Hands the words out: the head, then section by section a count and that many records.
class Reader {
 public:
  Reader(const uint32_t* words, size_t count) : next_(words), left_(count) {}

  template <typename Record>
  bool records(Record* to, size_t count) {
    static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(uint32_t) == 0);
    constexpr size_t words = sizeof(Record) / sizeof(uint32_t);
    if (count > left_ / words) return false;
    if (count) std::memcpy(to, next_, count * sizeof(Record));
    next_ += count * words;
    left_ -= count * words;
    return true;
  }

  template <typename Record>
  bool section(std::vector<Record>& to) {
    uint32_t count = 0;
    if (!records(&count, 1) || count > left_) return false;
    to.resize(count);
    return records(to.data(), count);
  }

  bool done() const { return left_ == 0; }

 private:
  const uint32_t* next_;
  size_t left_;
};

}  // namespace

bool Table::unpack(const uint32_t* words, size_t count) {
  *this = Table();
  Reader reader(words, count);
  Head head{};
  const bool whole = reader.records(&head, 1) && read(reader) && reader.done();
  host = head.host;
  if (!whole || head.magic != kMagic || head.version != kVersion || !sound()) return false;
  list_rights();
  return true;
}

bool Table::sound() const {
  const auto listed = [this](uint32_t first, uint64_t count) {
    return first <= lists.size() && count <= lists.size() - first;
  };
  if (masters.empty() || masters.size() > kMostMasters || host >= masters.size()) return false;
  if (models.empty() || buffers.size() + pools.size() > kMostBuffers) return false;
  if (operators.size() >= kNone) return false;
  for (uint32_t buffer : lists) {
    if (buffer >= buffers.size()) return false;
  }
  for (const Model& model : models) {
    if (model.first > operators.size() || model.count > operators.size() - model.first) {
      return false;
    }
  }
  for (const Buffer& buffer : buffers) {
    if (buffer.alignment == 0 || buffer.span.size == 0) return false;
    const bool own = buffer.kind >= kCode;
    if (buffer.owner >= (own ? masters.size() : models.size())) return false;
  }
  for (const Content& content : contents) {
    if (content.buffer >= buffers.size()) return false;
  }
  for (const Filled& each : filled) {
    if (each.writer >= masters.size()) return false;
    if (each.code != kNoWord && each.code >= buffers.size()) return false;
  }
  for (const Succession& each : successions) {
    if (each.master >= masters.size() || each.model >= models.size()) return false;
  }
  for (size_t number = 0; number < operators.size(); ++number) {
    const Operator& op = operators[number];
    const bool later = op.part > number && op.part < operators.size();
    if (op.part != kNoWord && !(later && operators[op.part].master != kNoWord)) return false;
    if (op.master == kNoWord) continue;
    if (op.master >= masters.size() || !listed(op.reads, op.read_count) ||
        !listed(op.writes, op.write_count) || !listed(op.overlaps, 2ULL * op.overlap_count)) {
      return false;
    }
    const bool copy = op.source != kNoWord;
    if (copy && (op.source >= buffers.size() || op.destination >= buffers.size())) return false;
  }
  return true;
}

void Table::list_rights() {
  rights.assign(operators.size() * buffers.size(), 0);
  whole.resize(operators.size());
  std::iota(whole.begin(), whole.end(), 0);
  for (size_t number = 0; number < operators.size(); ++number) {
    const Operator& op = operators[number];
    if (op.part != kNoWord) whole[op.part] = whole[number];
    if (op.master == kNoWord) continue;
    uint8_t* mine = &rights[number * buffers.size()];
    for (uint32_t i = 0; i < op.read_count; ++i) mine[lists[op.reads + i]] |= kReads;
    for (uint32_t i = 0; i < op.write_count; ++i) mine[lists[op.writes + i]] |= kWrites;
  }
}

}  // namespace shadow
