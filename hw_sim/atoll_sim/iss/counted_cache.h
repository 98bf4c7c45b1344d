/* SPDX-License-Identifier: Apache-2.0 */
// What a data cache of a size takes in and makes dirty; it holds no bytes. In each set, the line that was
// used longest ago makes room.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

class CountedCache {
 public:
  // Lines that came in, and lines that became dirty: each of these leaves once, though perhaps later.
  struct Moved {
    uint32_t in = 0;
    uint32_t out = 0;
  };

  CountedCache(uint32_t line, uint32_t ways, uint32_t sets, bool write_back)
      : line_(line), ways_(ways), sets_(sets), write_back_(write_back), places_(size_t{ways} * sets) {}

  // It works on bytes of the bus, up to `last`.
  void cover(uint32_t first, uint32_t last) { covered_.push_back({first, last}); }

  Moved access(uint32_t address, uint32_t size, bool writes) {
    Moved moved;
    if (!covers(address)) return moved;
    for (uint32_t line = address / line_; line <= (address + size - 1) / line_; ++line) {
      Place* const first = set_of(line);
      Place* const end = first + ways_;
      Place* at = find(first, line);
      if (at == end) {
        if (writes && !write_back_) continue;
        *--at = {line, false};
        ++moved.in;
      }
      if (writes && write_back_ && !at->dirty) {
        at->dirty = true;
        ++moved.out;
      }
      std::rotate(first, at, at + 1);
    }
    return moved;
  }

  // The core cleans or invalidates the line of an address.
  void maintain(uint32_t address, bool cleans) {
    Place* const first = set_of(address / line_);
    Place* const at = find(first, address / line_);
    if (at == first + ways_) return;
    at->dirty = false;
    if (cleans) return;
    at->line = kNone;
    std::rotate(at, at + 1, first + ways_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Place {
    uint32_t line = kNone;
    bool dirty = false;
  };
  struct Span {
    uint32_t first;
    uint32_t last;
  };

  bool covers(uint32_t address) const {
    return std::ranges::any_of(covered_, [&](const Span& each) { return address >= each.first && address <= each.last; });
  }
  Place* set_of(uint32_t line) { return &places_[size_t{line % sets_} * ways_]; }
  Place* find(Place* first, uint32_t line) {
    return std::find_if(first, first + ways_, [&](const Place& each) { return each.line == line; });
  }

  uint32_t line_;
  uint32_t ways_;
  uint32_t sets_;
  bool write_back_;
  std::vector<Place> places_;  // of one set after another, the latest used first
  std::vector<Span> covered_;
};
