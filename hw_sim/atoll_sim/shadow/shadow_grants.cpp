// SPDX-License-Identifier: Apache-2.0
// What each master may do with a segment now, by what it is running and which buffers live.
#include "shadow.h"

namespace shadow {

// Write down what each master may do with `segment` without a closer look.
void Shadow::grant(uint16_t segment) {
  for (uint32_t master = 0; master < table_.masters.size(); ++master) {
    const Claim found = claim(master, segment);
    Grant made{found.read, found.write, kJudge, kJudge};
    const auto good = [&](uint16_t buffer, uint16_t busy) {
      return buffer != kNone && busy == kNone && aligned(table_.buffers[buffer]);
    };
    const auto mode = [&](uint16_t buffer) {
      const bool tagged = table_.buffers[buffer].kind == kWorkspace;
      return tagged && !(idle_host(master) && is_port(buffer)) ? kTagged : kFree;
    };
    if (good(found.read, found.busy_read) && !found.shared) made.read = mode(found.read);
    if (good(found.write, found.busy_write) && found.clobbered == kNone && !found.shared) {
      made.write = mode(found.write);
    }
    grants_[master * segments_.size() + segment] = made;
  }
}

Shadow::Claim Shadow::claim(uint32_t master, uint16_t segment) const {
  Claim found;
  for (uint16_t buffer : segments_[segment].buffers) {
    const Buffer& covering = table_.buffers[buffer];
    const bool own = covering.owner == master;
    switch (covering.kind) {
      case kCode:
      case kInbox: if (own) found.read = buffer; break;
      case kData:
      case kStack: if (own) found.read = found.write = buffer; break;
      case kConstant:
        if (table_.right(active_[master], buffer) & kReads) found.read = buffer;
        break;
      case kHeap:
        if (table_.right(active_[master], buffer)) found.read = found.write = buffer;
        break;
      case kWorkspace: claim_workspace(master, buffer, found); break;
      default: break;
    }
  }
  if (const uint16_t pool = segments_[segment].pool; pool != kNone) {
    if (!(table_.pools[pool].readers >> master & 1)) found.read = kNone;
    if (!(table_.pools[pool].writers >> master & 1)) found.write = kNone;
  }
  if (found.write == kNone) return found;
  for (uint16_t buffer : segments_[segment].buffers) {
    const Buffer& other = table_.buffers[buffer];
    const bool live = other.kind == kConstant || life_[buffer] == Life::kLive;
    const bool port = !inside_ && idle_host(master) && other.ports;
    if (buffer != found.write && live && other.kind <= kConstant && !port &&
        !declared(master, found.write, buffer)) {
      found.clobbered = buffer;
    }
  }
  return found;
}

// What is read beats what is only written: its value is the one that must be there.
void Shadow::claim_workspace(uint32_t master, uint16_t buffer, Claim& found) const {
  if (idle_host(master) && table_.buffers[buffer].ports) {
    found.read = found.write = buffer;
    return;
  }
  if (life_[buffer] != Life::kLive) return;
  const uint8_t rights = table_.right(active_[master], buffer);
  const bool better = found.read == kNone ||
                      !(table_.right(active_[master], found.read) & kReads);
  if (rights && ((rights & kReads) || found.read == kNone) && better) {
    found.read = buffer;
    found.busy_read = busy(master, buffer, kWrites);
  }
  if (rights & kWrites) {
    found.write = buffer;
    found.busy_write = busy(master, buffer, kReads | kWrites);
    found.shared = shared(master, buffer);
  }
}

// An operator under way on another master that has one of `rights` to `buffer`. Parts of one
// operator share what both of them only write.
uint16_t Shadow::busy(uint32_t master, uint16_t buffer, uint8_t rights) const {
  const bool result = table_.right(active_[master], buffer) == kWrites;
  for (uint32_t other = 0; other < active_.size(); ++other) {
    const uint8_t theirs = table_.right(active_[other], buffer);
    const bool together = result && theirs == kWrites &&
                          table_.parts_of_one(active_[master], active_[other]);
    if (other != master && (theirs & rights) && !together) return active_[other];
  }
  return kNone;
}

// Whether another part of the operator under way on `master` writes `buffer` meanwhile.
bool Shadow::shared(uint32_t master, uint16_t buffer) const {
  for (uint32_t other = 0; other < active_.size(); ++other) {
    if (other != master && table_.parts_of_one(active_[master], active_[other]) &&
        (table_.right(active_[other], buffer) & kWrites)) {
      return true;
    }
  }
  return false;
}

// Whether a byte with this tag is of another part's doing; parts write bytes of their own.
bool Shadow::written_by_other(uint32_t master, uint16_t buffer, uint32_t tag) const {
  const uint32_t writer = tag & 0xff;
  return tag >> 8 == lifetime_[buffer] && writer != 0 && writer != master + 1;
}

// Whether what runs on `master` may put bytes of `written` over bytes of `read`.
bool Shadow::declared(uint32_t master, uint16_t written, uint16_t read) const {
  if (active_[master] == kNone) return false;
  const Operator& op = table_.operators[active_[master]];
  for (uint32_t i = 0; i < op.overlap_count; ++i) {
    const uint32_t* pair = &table_.lists[op.overlaps + 2 * i];
    if (pair[0] == written && pair[1] == read) return true;
  }
  return false;
}

}  // namespace shadow
