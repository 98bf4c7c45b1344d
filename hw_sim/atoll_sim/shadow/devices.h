/* SPDX-License-Identifier: Apache-2.0 */
// Holds each accelerator to what it promises at its registers, its interrupt and its ports to memory:
// the rules of docs/device-rules.md. What a register means, the contract's table says.
#pragma once

#include <cstdint>
#include <vector>

#include "shadow.h"

namespace device_rules {

// What is under way at an accelerator's ports to memory.
struct Traffic {
  uint32_t unanswered;  // requests that were taken and are not answered
  bool held;            // one is there that was not taken
};

class Watch {
 public:
  // Begin with what the contract of `shadow` says, which takes the findings.
  explicit Watch(shadow::Shadow& shadow);

  // Each returns whether the accelerator has work, without which it may ask for nothing.
  bool wrote(uint64_t cycle, uint32_t master, uint32_t offset, uint32_t value);
  bool answered(uint64_t cycle, uint32_t master, bool write, uint32_t offset, uint32_t value,
                bool failed, Traffic traffic, uint64_t last_access);
  bool changed_line(uint64_t cycle, uint32_t master, bool high, Traffic traffic);

  // It asks for something without work; it changes a request that was not taken.
  void asks(uint64_t cycle, uint32_t master);
  void wavers(uint64_t cycle, uint32_t master, uint32_t channel);

  // Its reset begins.
  void reset(uint64_t cycle, uint32_t master);

  // The firmware told something: see which lines should have fallen.
  void look(uint64_t cycle);

  // The simulation is over: see who still works.
  void end(uint64_t cycle);

  // How often each rule that has occasions of its own could have been broken.
  const std::vector<record::Occasion>& occasions() const { return occasions_; }

 private:
  struct State {
    const shadow::Device* device = nullptr;
    std::vector<shadow::Register> registers;
    bool fresh = true;       // nothing was started since reset
    bool working = false;
    bool enabled = false;    // its interrupt is
    bool owed = false;       // it was started, and has not raised its interrupt since
    bool high = false;       // the line is
    bool may_fall = false;   // something since its rise lets it
    bool clears = false;     // there is a way to take the interrupt back
    bool ends = false;       // the host reads that it is done
    uint64_t started = 0;
    uint64_t cleared = 0;    // the line was high then, and still is; 0: nothing is owed
    uint64_t polled = 0;     // the host read that it is done, and no interrupt had come; 0: no such
    uint32_t polled_late = 0;  // cycles from its last access to memory to that
    uint32_t given = 0;      // commands, of this list or since reset
  };

  State* find(uint32_t master);
  void meet(uint64_t cycle, State& state, uint32_t offset, uint32_t value);
  void finish(uint64_t cycle, State& state, uint32_t offset, Traffic traffic);
  void look(uint64_t cycle, State& state);
  void judge_missing(State& state);
  void met(const State& state, uint32_t rule);
  void broke(uint64_t cycle, const State& state, shadow::Rule rule, uint32_t kind,
             uint32_t offset, uint32_t number);

  shadow::Shadow& shadow_;
  std::vector<State> states_;
  std::vector<record::Occasion> occasions_;
};

}  // namespace device_rules
