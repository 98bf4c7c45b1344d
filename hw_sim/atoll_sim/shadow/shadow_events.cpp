// SPDX-License-Identifier: Apache-2.0
// Follows the firmware's events: which operators are under way, and which buffers live.
#include <algorithm>

#include "shadow.h"

namespace shadow {
namespace {

constexpr size_t kMostLifetimes = 1U << 23;  // a tag has 24 bits for them

// The checksum of zlib and Ethernet.
uint32_t crc32(const std::vector<uint8_t>& bytes) {
  uint32_t sum = 0xffffffff;
  for (uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (0xedb88320 & (0U - (sum & 1U)));
  }
  return ~sum;
}

}  // namespace

void Shadow::trace(uint64_t cycle, uint32_t word) {
  const uint32_t number = console::operator_of(word);
  switch (console::event_of(word)) {
    case console::kOperatorBegin: return begin_operator(number);
    case console::kOperatorEnd: return end_operator(cycle, number);
    case console::kReady: return end_filling(cycle, table_.host);
    case console::kRunBegin: return begin_run(cycle);
    case console::kRunEnd: return end_run(cycle);
    default: return;
  }
}

const Succession* Shadow::succession(uint32_t master, uint32_t address) const {
  for (const Succession& each : table_.successions) {
    if (each.address != address || each.master != master || each.model != model_) continue;
    const uint32_t before = table_.models[model_].first + console::operator_of(each.ended);
    return active_[master] == before ? &each : nullptr;
  }
  return nullptr;
}

void Shadow::begin_run(uint64_t cycle) {
  model_ = run_++ % table_.models.size();
  inside_ = true;
  end_filling(cycle, table_.host);
  running_ = 0;
  ended_ = 0;
  std::fill(active_.begin(), active_.end(), kNone);
  std::fill(life_.begin(), life_.end(), Life::kUnborn);
  const bool renumbered = born_.size() > kMostLifetimes;
  if (renumbered) {
    born_.resize(1);
    for (Bytes& bytes : memories_) bytes.tag.clear();
  }
  keep_states(renumbered);
  // What nobody reads comes last, so that it shows if it lies over an input that somebody reads.
  for (const bool unread : {false, true}) {
    for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
      const Buffer& input = table_.buffers[buffer];
      if (!(input.ports & kInput) || input.owner != model_) continue;
      if ((input.last == kNever) != unread) continue;
      bear(buffer);
      fill(buffer);
      if (unread) life_[buffer] = Life::kDead;
    }
  }
  check_constants(cycle);
  refresh_all();
}

// States live on, those of networks whose turn it is not, too.
void Shadow::keep_states(bool renumbered) {
  for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    if (!is_state(buffer)) continue;
    life_[buffer] = Life::kLive;
    if (!renumbered) continue;
    bear(buffer);
    fill(buffer);
  }
}

void Shadow::end_run(uint64_t cycle) {
  check_outputs(cycle);
  inside_ = false;
  running_ = 0;
  std::fill(active_.begin(), active_.end(), kNone);
  for (size_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    if (life_[buffer] == Life::kLive && !(table_.buffers[buffer].ports & (kOutput | kState))) {
      life_[buffer] = Life::kDead;
    }
  }
  refresh_all();
}

void Shadow::begin_operator(uint32_t number) {
  const Model& model = table_.models[model_];
  if (number >= model.count) return;
  const uint16_t index = static_cast<uint16_t>(model.first + number);
  const Operator& op = table_.operators[index];
  if (op.master == kNoWord) return;
  latest_ = index;
  for (uint16_t part = index; part != kNone; part = table_.next_part(part)) {
    const uint32_t master = table_.operators[part].master;
    starting_[master] = 0;
    running_ += active_[master] == kNone;
    active_[master] = part;
    moved_[master] = 0;
  }
  for (uint16_t part = index; part != kNone; part = table_.next_part(part)) begin_part(part);
  refresh_ports();
}

void Shadow::begin_part(uint16_t part) {
  const Operator& op = table_.operators[part];
  const auto touch = [&](uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint16_t buffer = static_cast<uint16_t>(table_.lists[first + i]);
      if (life_[buffer] == Life::kUnborn) bear(buffer);
    }
  };
  touch(op.reads, op.read_count);
  touch(op.writes, op.write_count);
  for (uint32_t i = 0; i < op.read_count; ++i) refresh(table_.lists[op.reads + i]);
  for (uint32_t i = 0; i < op.write_count; ++i) refresh(table_.lists[op.writes + i]);
}

void Shadow::end_operator(uint64_t cycle, uint32_t number) {
  const Model& model = table_.models[model_];
  if (number >= model.count) return;
  const uint16_t index = static_cast<uint16_t>(model.first + number);
  const Operator& op = table_.operators[index];
  if (op.master == kNoWord || active_[op.master] != index) return;
  keep_in_place(index);
  if (op.source != kNoWord) check_copy(cycle, index);
  for (uint16_t part = index; part != kNone; part = table_.next_part(part)) {
    uint16_t& active = active_[table_.operators[part].master];
    // The host that has started an engine may have run something else since then.
    if (active != part) continue;
    active = kNone;
    --running_;
    end_filling(cycle, table_.operators[part].master);
  }
  ++ended_;
  for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    bool changes = table_.buffers[buffer].last == index && life_[buffer] == Life::kLive;
    if (changes) life_[buffer] = Life::kDead;
    for (uint16_t part = index; part != kNone; part = table_.next_part(part)) {
      changes |= table_.right(part, buffer) != 0;
    }
    if (changes) refresh(buffer);
  }
  refresh_ports();
}

// A result in the very place of its operand need not be written where its values are the same.
void Shadow::keep_in_place(uint16_t index) {
  const Operator& op = table_.operators[index];
  for (uint32_t i = 0; i < op.overlap_count; ++i) {
    const uint32_t written = table_.lists[op.overlaps + 2 * i];
    const uint32_t read = table_.lists[op.overlaps + 2 * i + 1];
    const Span& to = table_.buffers[written].span;
    const Span& from = table_.buffers[read].span;
    Bytes* bytes = to.origin == from.origin ? bytes_at(to.origin) : nullptr;
    if (!bytes) continue;
    const uint32_t offset = to.origin - bytes->origin;
    const uint32_t count = std::min({to.size, from.size, bytes->size - offset});
    for (uint32_t at = offset; at < offset + count; ++at) {
      if (bytes->tag[at] >> 8 != lifetime_[read]) continue;
      bytes->tag[at] = lifetime_[written] << 8 | (op.master + 1);
    }
  }
}

void Shadow::check_copy(uint64_t cycle, uint16_t index) {
  const Operator& op = table_.operators[index];
  const Span& from = table_.buffers[op.source].span;
  const Span& to = table_.buffers[op.destination].span;
  uint32_t first = 0, wrong = 0;
  std::vector<uint8_t> source(to.size), destination(to.size);
  if (moved_[op.master] != to.size) {
    wrong = static_cast<uint32_t>(std::min<uint64_t>(moved_[op.master], kNoWord));
  } else if (peek_ && from.size == to.size && peek_(from.origin, from.size, source.data()) &&
             peek_(to.origin, to.size, destination.data())) {
    for (uint32_t i = to.size; i-- > 0;) {
      if (source[i] == destination[i]) continue;
      first = i;
      ++wrong;
    }
    if (wrong == 0) return;
  } else {
    return;
  }
  const Verdict verdict{kCopyDiffers, static_cast<uint16_t>(op.destination),
                        static_cast<uint16_t>(op.source)};
  report(cycle, op.master, kWrite, to.origin + first, wrong, verdict, index, false);
}

// The caller reads outputs, and inputs that stay mapped, when the run has ended. Nothing need have
// been written if an operator failed.
void Shadow::check_outputs(uint64_t cycle) {
  if (!inside_) return;
  const Model& model = table_.models[model_];
  uint32_t operators = 0;
  for (uint32_t i = 0; i < model.count; ++i) {
    operators += table_.operators[model.first + i].master != kNoWord;
  }
  for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    const Buffer& output = table_.buffers[buffer];
    const bool read = output.kind == kWorkspace && output.owner == model_ &&
                      (output.ports & kOutput) && life_[buffer] == Life::kLive;
    if (read) check_output(cycle, buffer, ended_ == operators);
  }
}

void Shadow::check_output(uint64_t cycle, uint16_t buffer, bool all_ended) {
  const Span& span = table_.buffers[buffer].span;
  const Bytes* bytes = bytes_at(span.origin);
  if (!bytes) return;
  const uint32_t offset = span.origin - bytes->origin;
  const uint32_t count = std::min(span.size, bytes->size - offset);
  Verdict found;
  uint32_t first = 0, wrong = 0;
  for (uint32_t i = count; i-- > 0;) {
    const Verdict verdict = judge_value(buffer, bytes->tag[offset + i]);
    if (verdict.rule == kRules || (verdict.rule == kUnwritten && !all_ended)) continue;
    found = verdict;
    first = i;
    ++wrong;
  }
  if (wrong) report(cycle, table_.host, kRead, span.origin + first, wrong, found, kNone, false);
}

// Constants are in their places before the first run, and nobody changes them.
void Shadow::check_constants(uint64_t cycle) {
  for (const Content& each : table_.contents) {
    const Buffer& constant = table_.buffers[each.buffer];
    std::vector<uint8_t> found(constant.span.size);
    if (constant.owner != model_ || !peek_) continue;
    if (!peek_(constant.span.origin, found.size(), found.data())) continue;
    if (crc32(found) == each.crc) continue;
    const Verdict verdict{kContent, static_cast<uint16_t>(each.buffer)};
    report(cycle, table_.host, kRead, constant.span.origin, constant.span.size, verdict, kNone,
           false);
  }
}

// `master` does its first work: it has written all that it fills, and its code is whole.
void Shadow::end_filling(uint64_t cycle, uint32_t master) {
  starting_[master] = 0;
  for (size_t number = 0; number < table_.filled.size(); ++number) {
    const Filled& each = table_.filled[number];
    if (each.code == kNoWord || each.writer != master || !filling_[number]) continue;
    filling_[number] = 0;
    let_fetch(each.code, 1);
    std::vector<uint8_t> found(each.size);
    if (!each.size || !peek_ || !peek_(each.span.origin, found.size(), found.data())) continue;
    if (crc32(found) == each.crc) continue;
    const Verdict verdict{kContent, static_cast<uint16_t>(each.code)};
    report(cycle, master, kRead, each.span.origin, each.size, verdict, kNone, false);
  }
}

// Start a lifetime of `buffer`: no byte of it is written yet.
void Shadow::bear(uint16_t buffer) {
  if (table_.buffers[buffer].kind != kWorkspace) return;
  life_[buffer] = Life::kLive;
  lifetime_[buffer] = static_cast<uint32_t>(born_.size());
  born_.push_back(buffer);
}

// Take all bytes of `buffer` as written by the caller.
void Shadow::fill(uint16_t buffer) {
  const Span& span = table_.buffers[buffer].span;
  Bytes* bytes = bytes_at(span.origin);
  if (!bytes) return;
  const uint32_t offset = span.origin - bytes->origin;
  const uint32_t count = std::min(span.size, bytes->size - offset);
  std::fill_n(&bytes->tag[offset], count, lifetime_[buffer] << 8);
}

void Shadow::refresh(uint16_t buffer) {
  const auto [first, last] = spans_[buffer];
  for (uint32_t segment = first; segment <= last; ++segment) grant(static_cast<uint16_t>(segment));
}

// The host may fill inputs and take outputs while nothing is under way.
void Shadow::refresh_ports() {
  for (uint16_t buffer = 0; buffer < table_.buffers.size(); ++buffer) {
    if (table_.buffers[buffer].ports) refresh(buffer);
  }
}

void Shadow::refresh_all() {
  for (size_t segment = 0; segment < segments_.size(); ++segment) {
    grant(static_cast<uint16_t>(segment));
  }
}

}  // namespace shadow
