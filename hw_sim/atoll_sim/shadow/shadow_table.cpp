#include "shadow_table.h"

#include <cstring>
#include <type_traits>

namespace shadow {
namespace {

constexpr uint32_t kMagic = 0x4c4f5441;  // "ATOL"
constexpr uint32_t kVersion = 4;
constexpr uint32_t kMostMasters = 32;
constexpr uint32_t kMostBuffers = 16000;  // cut memory into fewer segments than 16 bits can number

// Hands the words out, section by section: a count, then that many records.
class Reader {
 public:
  Reader(const uint32_t* words, size_t count) : next_(words), left_(count) {}

  bool word(uint32_t& to) {
    if (left_ == 0) return false;
    to = *next_++;
    --left_;
    return true;
  }

  template <typename Record>
  bool section(std::vector<Record>& to) {
    static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(uint32_t) == 0);
    constexpr size_t words = sizeof(Record) / sizeof(uint32_t);
    uint32_t count = 0;
    if (!word(count) || count > left_ / words) return false;
    to.resize(count);
    if (count) std::memcpy(to.data(), next_, count * sizeof(Record));
    next_ += count * words;
    left_ -= count * words;
    return true;
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
  uint32_t magic = 0, version = 0;
  const bool read = reader.word(magic) && reader.word(version) && reader.word(host) &&
                    reader.section(masters) && reader.section(memories) &&
                    reader.section(pools) && reader.section(buffers) && reader.section(models) &&
                    reader.section(operators) && reader.section(filled) &&
                    reader.section(contents) && reader.section(lists);
  if (!read || !reader.done() || magic != kMagic || version != kVersion || !sound()) return false;
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
  for (const Operator& op : operators) {
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
  for (size_t number = 0; number < operators.size(); ++number) {
    const Operator& op = operators[number];
    if (op.master == kNoWord) continue;
    uint8_t* mine = &rights[number * buffers.size()];
    for (uint32_t i = 0; i < op.read_count; ++i) mine[lists[op.reads + i]] |= kReads;
    for (uint32_t i = 0; i < op.write_count; ++i) mine[lists[op.writes + i]] |= kWrites;
  }
}

}  // namespace shadow
