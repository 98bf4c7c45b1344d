/* SPDX-License-Identifier: Apache-2.0 */
// What a core's PMP or MPU lets through.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

enum Right : uint32_t { kMayRead = 1, kMayWrite = 2, kMayRun = 4 };

// Addresses from `first` to `last`, and what may be done there.
struct Span {
  uint32_t first;
  uint32_t last;
  uint32_t rights;
};

struct Protection {
  std::vector<Span> spans;  // the first one that has an address decides
  uint32_t otherwise = 7;   // rights where there is none
  bool whole = false;       // an aligned access must not reach from one span into another

  bool on() const { return !spans.empty() || otherwise != 7; }

  bool permits(uint32_t first, uint32_t last, Right right) {
    Span& known = latest[right >> 1];
    if (known.rights && first >= known.first && last <= known.last) return true;
    Span found{0, UINT32_MAX, otherwise};
    for (const Span& span : spans) {
      if (span.last < first) {
        found.first = std::max(found.first, span.last + 1);
      } else if (span.first > first) {
        found.last = std::min(found.last, span.first - 1);
      } else {
        found = {std::max(found.first, span.first), std::min(found.last, span.last), span.rights};
        break;
      }
    }
    if (!(found.rights & right)) return false;
    known = found;
    const bool split = !whole || (first & (last - first)) != 0;  // a misaligned access is several
    return last <= found.last || (split && permits(found.last + 1, last, right));
  }

  // The first address before `end` from which nothing can be fetched, or `end`.
  uint32_t refuses_fetch(uint32_t first, uint32_t end) {
    if (!on() || (first < end && permits(first, end - 1, kMayRun))) return end;
    for (; first < end; first += 2) {
      if (!permits(first, first + 1, kMayRun)) return first;
    }
    return end;
  }

  void set(std::vector<Span> fresh, uint32_t rights, bool whole_accesses) {
    spans = std::move(fresh);
    otherwise = rights;
    whole = whole_accesses;
    latest = {};
  }

 private:
  std::array<Span, 3> latest{};  // where the latest access of each kind was right
};
