/* SPDX-License-Identifier: Apache-2.0 */
// The clocks of a chip: which of them has the next edge, and when.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "Vtop.h"
#include "chip.h"

namespace chip {

// Makes the edges; all clocks begin low, and rise first after half a cycle of their own.
class Clocks {
 public:
  // The map has been loaded.
  explicit Clocks(Vtop& top) {
    for (size_t i = 0; i < std::size(kClocks); ++i) {
      const uint64_t half_period = map().half_periods[i];
      clocks_[i] = {kClocks[i].wire(top), half_period, half_period};
    }
    find_next();
  }

  // Picoseconds from the beginning to the next edge.
  uint64_t next() const { return next_; }

  // Make all edges that are due then; true if the host's clock has one of them.
  bool toggle() {
    const bool host = clocks_.front().edge == next_;
    for (Running& clock : clocks_) {
      if (clock.edge != next_) continue;
      *clock.wire = !*clock.wire;
      clock.edge += clock.half_period;
    }
    find_next();
    return host;
  }

 private:
  struct Running {
    uint8_t* wire;
    uint64_t half_period;
    uint64_t edge;  // the next one
  };

  void find_next() {
    next_ = clocks_.front().edge;
    for (const Running& clock : clocks_) next_ = std::min(next_, clock.edge);
  }

  std::array<Running, std::size(kClocks)> clocks_;
  uint64_t next_ = 0;
};

}  // namespace chip
