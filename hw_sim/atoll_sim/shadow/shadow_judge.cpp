// SPDX-License-Identifier: Apache-2.0
// A closer look at an access that no table entry allows: byte for byte, what is wrong with it.
#include "shadow.h"

namespace shadow {
namespace {

constexpr size_t kKept = 1000;  // findings with bytes of their own; the rest are only counted

}  // namespace

void Shadow::judge(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address,
                   uint64_t enabled, Bytes& bytes) {
  const uint32_t offset = address - bytes.origin;
  const uint16_t op = blamed(master);
  Edge& edge = edges_[master * kAccessKinds + kind];
  const uint32_t first = address + static_cast<uint32_t>(__builtin_ctzll(enabled));
  Edge next{first, run_past(master, kind, first)};
  bool any_right = false;
  bool any_value = false;
  bool any_input = false;
  Verdict verdicts[64];
  for (uint64_t rest = enabled; rest; rest &= rest - 1) {
    const uint32_t i = static_cast<uint32_t>(__builtin_ctzll(rest));
    const Claim mine = claim(master, bytes.segment(offset + i));
    const uint16_t buffer = kind == kWrite ? mine.write : kind == kRead ? mine.read : kNone;
    if (buffer != kNone) {
      any_right = true;
      next.buffer = buffer;
    } else if (next.buffer != kNone) {
      edge = {address + i, next.buffer};
    }
    verdicts[i] = judge_byte(master, kind, address + i, bytes, mine);
    const bool value = buffer != kNone && verdicts[i].rule == kRules;
    any_value |= value;
    any_input |= value && (table_.right(op, buffer) & kReads);
    next.next = address + i + 1;
  }
  edge = next;
  // What a whole beat shows beside the bytes that were asked for was not asked for.
  const bool beats = any_right && kind == kRead && table_.masters[master].beat > 1;
  for (uint32_t i = 0; i < 64; ++i) {
    const Verdict& verdict = verdicts[i];
    if (verdict.rule == kRules) continue;
    if (beats && claim(master, bytes.segment(offset + i)).read == kNone) continue;
    // Beside bytes that are there, a beat may show others that the operator's own result replaced.
    if (beats && any_value && verdict.rule == kOverwritten && table_.right(op, verdict.other)) {
      continue;
    }
    // Beside bytes that the operator reads, a beat may show its result, written or not.
    if (beats && any_input && !(table_.right(op, verdict.buffer) & kReads)) continue;
    uint32_t end = i + 1;
    while (end < 64 && verdicts[end].rule == verdict.rule &&
           verdicts[end].buffer == verdict.buffer) {
      ++end;
    }
    report(cycle, master, kind, address + i, end - i, verdict, op, false);
    i = end - 1;
  }
}

Shadow::Verdict Shadow::judge_byte(uint32_t master, uint32_t kind, uint32_t address, Bytes& bytes,
                                   const Claim& claim) {
  const uint32_t offset = address - bytes.origin;
  const uint16_t segment = bytes.segment(offset);
  const uint32_t tag = bytes.tag[offset];
  const bool others = claim.shared && written_by_other(master, claim.write, tag);
  if (kind == kRead && claim.read != kNone) {
    if (others && claim.read == claim.write) return {kUnderWay, claim.read, kNone, tag & 0xff};
    return judge_read(address, bytes, claim);
  }
  if (kind == kWrite && claim.write != kNone) {
    const Buffer& written = table_.buffers[claim.write];
    if (written.kind == kWorkspace) mark(bytes, offset, 1, master, claim.write);
    if (claim.clobbered != kNone) return {kClobber, claim.clobbered, claim.write};
    if (claim.busy_write != kNone) return {kUnderWay, claim.write, kNone};
    if (others) return {kUnderWay, claim.write, kNone, tag & 0xff};
    if (!aligned(written)) return {kMisaligned, claim.write, kNone};
    return {};
  }
  if (kind == kFetch && fetch_[master * segments_.size() + segment]) return {};
  if (kind == kFetch) {
    const uint16_t code = arriving(master, segment);
    if (code != kNone) return tag ? Verdict{} : Verdict{kUnwritten, code, kNone};
  }
  if (starting_up(master, kind, address, segment)) {
    const Filled* filled = kind == kWrite ? filling(master, address) : nullptr;
    if (filled && filled->code != kNoWord) bytes.tag[offset] = master + 1;
    return {};
  }
  return without_right(master, kind, address, segment, tag);
}

Shadow::Verdict Shadow::judge_read(uint32_t address, const Bytes& bytes,
                                   const Claim& claim) const {
  const Buffer& wanted = table_.buffers[claim.read];
  if (claim.busy_read != kNone) return {kUnderWay, claim.read, kNone};
  if (!aligned(wanted)) return {kMisaligned, claim.read, kNone};
  const bool port = is_port(claim.read) && running_ == 0;
  if (wanted.kind != kWorkspace || port) return {};
  return judge_value(claim.read, bytes.tag[address - bytes.origin]);
}

// Whether a byte with this tag holds the value of `buffer`, else whose it holds.
Shadow::Verdict Shadow::judge_value(uint16_t buffer, uint32_t tag) const {
  const uint32_t held = tag >> 8;
  if (held == lifetime_[buffer]) return {};
  const uint16_t other = holder(tag);
  const bool later = other != kNone && (held > lifetime_[buffer] ||
                                        (life_[other] == Life::kLive && held == lifetime_[other]));
  if (later) return {kOverwritten, buffer, other, tag & 0xff};
  return {kUnwritten, buffer, kNone};
}

Shadow::Verdict Shadow::without_right(uint32_t master, uint32_t kind, uint32_t address,
                                      uint16_t segment, uint32_t tag) const {
  if (kind == kFetch) {
    const Segment& at = segments_[segment];
    return {kNoCode, at.buffers.empty() ? kNone : at.buffers.front(), kNone};
  }
  const uint16_t past = run_past(master, kind, address);
  if (past != kNone) return {kPastEnd, past, kNone};
  if (below_stack(master, segment)) return {kStackLimit, segments_[segment + 1].buffers.front()};
  for (uint16_t buffer : segments_[segment].buffers) {
    if (table_.buffers[buffer].kind >= kCode) return in_fixed(master, kind, buffer);
  }
  const uint16_t pool = segments_[segment].pool;
  const uint32_t bit = 1U << master;
  uint16_t covering = kNone;
  for (uint16_t buffer : segments_[segment].buffers) {
    const bool constant = table_.buffers[buffer].kind == kConstant;
    if (constant || life_[buffer] == Life::kLive || covering == kNone) covering = buffer;
  }
  if (pool != kNone && !(table_.pools[pool].readers & bit)) return {kNoReach, covering, kNone};
  if (covering != kNone && table_.buffers[covering].kind == kConstant) {
    return {kind == kWrite ? kReadOnly : kWrongOperator, covering, kNone};
  }
  if (pool != kNone && kind == kWrite && !(table_.pools[pool].writers & bit)) {
    return {kReadOnly, covering, kNone};
  }
  return in_workspace(master, kind, segment, tag);
}

// Code, data and stacks have owners for good.
Shadow::Verdict Shadow::in_fixed(uint32_t master, uint32_t kind, uint16_t buffer) const {
  const Buffer& fixed = table_.buffers[buffer];
  const bool own = fixed.owner == master;
  if (fixed.kind == kStack) return {kForeignStack, buffer, kNone};
  if (fixed.kind == kBeyondStack) return {own ? kStackLimit : kForeignStack, buffer, kNone};
  return {own && kind == kWrite ? kReadOnly : kNoReach, buffer, kNone};
}

Shadow::Verdict Shadow::in_workspace(uint32_t master, uint32_t kind, uint16_t segment,
                                     uint32_t tag) const {
  const uint16_t op = active_[master];
  uint16_t covering = kNone;
  for (uint16_t buffer : segments_[segment].buffers) {
    const bool dead = life_[buffer] == Life::kDead;
    if (life_[buffer] == Life::kLive) {
      const uint8_t rights = kind == kWrite ? kReads | kWrites : kWrites;
      if (busy(master, buffer, rights) != kNone) return {kUnderWay, buffer, kNone};
      return {kind == kWrite && op != kNone ? kClobber : kWrongOperator, buffer, kNone};
    }
    const bool held = tag >> 8 == lifetime_[buffer] && tag != 0;
    if (kind == kRead && dead && (held || table_.right(op, buffer))) return {kStale, buffer, kNone};
    covering = buffer;
  }
  return {kNoBuffer, covering, kNone};
}

// The buffer whose end a row of accesses without a gap has run past, if `address` continues it.
uint16_t Shadow::run_past(uint32_t master, uint32_t kind, uint32_t address) const {
  const Edge& edge = edges_[master * kAccessKinds + kind];
  if (kind == kFetch || edge.buffer == kNone || edge.next != address) return kNone;
  const Buffer& buffer = table_.buffers[edge.buffer];
  return address - buffer.span.origin >= buffer.span.size ? edge.buffer : kNone;
}

// A core just under its own stack, where nothing is.
bool Shadow::below_stack(uint32_t master, uint16_t segment) const {
  if (!segments_[segment].buffers.empty() || segment + 1U >= segments_.size()) return false;
  const Segment& above = segments_[segment + 1];
  if (above.start != segments_[segment].end + 1 || above.buffers.empty()) return false;
  const Buffer& found = table_.buffers[above.buffers.front()];
  return found.kind >= kStack && found.owner == master;
}

// Before its first work, a core paints its stack; constants in RAM and code are filled.
bool Shadow::starting_up(uint32_t master, uint32_t kind, uint32_t address,
                         uint16_t segment) const {
  if (kind == kWrite && filling(master, address)) return true;
  if (!starting_[master]) return false;
  for (uint16_t buffer : segments_[segment].buffers) {
    const Buffer& fixed = table_.buffers[buffer];
    if (fixed.kind == kBeyondStack && fixed.owner == master) return true;
  }
  return false;
}

// What `master` may still fill at `address`.
const Filled* Shadow::filling(uint32_t master, uint32_t address) const {
  for (size_t number = 0; number < table_.filled.size(); ++number) {
    const Filled& each = table_.filled[number];
    const bool open = each.code == kNoWord ? starting_[master] : filling_[number];
    if (open && each.writer == master && address - each.span.origin < each.span.size) return &each;
  }
  return nullptr;
}

// The code of `master` in a segment that may still be on its way there.
uint16_t Shadow::arriving(uint32_t master, uint16_t segment) const {
  for (size_t number = 0; number < table_.filled.size(); ++number) {
    const Filled& each = table_.filled[number];
    if (each.code == kNoWord || !filling_[number]) continue;
    const auto [first, last] = spans_[each.code];
    if (table_.buffers[each.code].owner == master && first <= segment && segment <= last) {
      return static_cast<uint16_t>(each.code);
    }
  }
  return kNone;
}

void Shadow::refused(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address,
                     uint32_t size) {
  Verdict verdict{kNoReach, kNone, kNone};
  const Bytes* bytes = bytes_at(address);
  if (bytes) {
    const uint16_t segment = bytes->segment(address - bytes->origin);
    const Claim mine = claim(master, segment);
    const uint16_t buffer = kind == kWrite ? mine.write : kind == kRead ? mine.read : kNone;
    const bool fetch = kind == kFetch && fetch_[master * segments_.size() + segment];
    const bool right = buffer != kNone || fetch || starting_up(master, kind, address, segment);
    verdict = right ? Verdict{kBlocked, buffer, kNone}
                    : without_right(master, kind, address, segment, bytes->tag[address - bytes->origin]);
  }
  report(cycle, master, kind, address, size, verdict, blamed(master), true);
}

// What a device is busy with, else what began last if anything is under way.
uint16_t Shadow::blamed(uint32_t master) const {
  if (active_[master] != kNone) return active_[master];
  return running_ ? latest_ : kNone;
}

void Shadow::broke(uint64_t cycle, uint32_t master, Rule rule, uint32_t kind, uint32_t address,
                   uint32_t number) {
  report(cycle, master, kind, address, number, Verdict{rule}, blamed(master), false);
}

uint16_t Shadow::holder(uint32_t tag) const {
  return tag >> 8 < born_.size() ? born_[tag >> 8] : kNone;
}

void Shadow::report(uint64_t cycle, uint32_t master, uint32_t kind, uint32_t address,
                    uint32_t size, const Verdict& verdict, uint16_t op, bool refused) {
  ++total_;
  const auto number = [](uint16_t index) { return index == kNone ? 0U : index + 1U; };
  const auto key = std::make_tuple(verdict.rule, number(verdict.buffer), number(op), master);
  if (const auto known = known_.find(key); known != known_.end()) {
    ++findings_[known->second].count;
    return;
  }
  if (findings_.size() == kKept) return;
  known_[key] = findings_.size();
  findings_.push_back({.cycle = cycle,
                       .count = 1,
                       .rule = verdict.rule,
                       .master = master,
                       .kind = kind,
                       .address = address,
                       .size = size,
                       .buffer = number(verdict.buffer),
                       .other = number(verdict.other),
                       .op = number(op),
                       .run = run_,
                       .refused = refused,
                       .writer = verdict.writer,
                       .reserved = 0});
}

}  // namespace shadow
