// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <algorithm>
#include <iterator>

namespace device_rules {
namespace {

using shadow::Device;
using shadow::Register;

constexpr uint32_t kAnyRead = 0, kAnyWrite = 1;

bool means(const Register& row, uint32_t action, uint32_t offset, uint32_t value) {
  return row.action == action && row.offset == offset && (value & row.mask) == row.value;
}

}  // namespace

Watch::Watch(shadow::Shadow& shadow) : shadow_(shadow) {
  const shadow::Table& table = shadow.table();
  states_.resize(table.masters.size());
  std::vector<bool> counted(states_.size());
  for (const Device& device : table.devices) {
    State& state = states_[device.master];
    state.device = &device;
    state.enabled = device.enabled;
  }
  for (const Register& row : table.registers) {
    states_[row.master].registers.push_back(row);
    states_[row.master].clears |= row.action == shadow::kClear;
    states_[row.master].ends |= row.action == shadow::kDone;
    if (row.action == shadow::kCompleted) counted[row.master] = true;
  }
  for (const Device& device : table.devices) {
    const bool interrupts = device.interrupt != shadow::kNothing;
    const bool falls = device.interrupt == shadow::kLevel && states_[device.master].clears;
    const bool meets[] = {true, interrupts, falls, interrupts, true, false, false, counted[device.master], true};
    for (uint32_t rule = 1; rule <= std::size(meets); ++rule) {
      if (meets[rule - 1]) occasions_.push_back({device.master, rule, 0});
    }
  }
}

Watch::State* Watch::find(uint32_t master) {
  return master < states_.size() && states_[master].device ? &states_[master] : nullptr;
}

bool Watch::wrote(uint64_t cycle, uint32_t master, uint32_t offset, uint32_t value) {
  State* state = find(master);
  if (!state) return true;
  look(cycle, *state);
  meet(cycle, *state, offset, value);
  return state->working;
}

// Clearing and aborting come first: what they write may be to a register that also starts.
void Watch::meet(uint64_t cycle, State& state, uint32_t offset, uint32_t value) {
  bool cleared = false, aborted = false, started = false, neutral = false;
  for (const Register& row : state.registers) {
    cleared |= means(row, shadow::kClear, offset, value);
    aborted |= means(row, shadow::kAbort, offset, value);
    neutral |= means(row, shadow::kNeutral, offset, value);
    started |= means(row, shadow::kStart, offset, value);
    if (row.action == shadow::kEnable && row.offset == offset) {
      state.enabled = (value & row.mask) == row.value;
      state.may_fall = true;
    }
    if (row.action == shadow::kCount && row.offset == offset) state.given = value;
  }
  if (cleared) {
    judge_missing(state);
    state.may_fall = true;
    if (state.high && !(state.device->queued && state.working)) {
      state.cleared = cycle;
      met(state, 3);
    }
  } else if (aborted) {
    if (state.working) broke(cycle, state, shadow::kNoEnd, 0, offset, static_cast<uint32_t>(cycle - state.started));
    state.may_fall = true;
  } else if (started && !neutral) {
    state.given += state.device->queued;
    if (!state.working || state.device->queued) state.started = cycle;
    met(state, 9);
    state.fresh = false;
    state.working = state.owed = state.may_fall = true;
    state.cleared = state.polled = 0;
  }
}

bool Watch::answered(uint64_t cycle, uint32_t master, bool write, uint32_t offset, uint32_t value,
                     bool failed, Traffic traffic, uint64_t last_access) {
  State* found = find(master);
  if (!found) return true;
  State& state = *found;
  look(cycle, state);
  bool known = false, barred = false;
  for (const Register& row : state.registers) {
    if (row.action == shadow::kNoRead || row.action == shadow::kNoWrite) {
      barred |= row.offset == offset && (row.action == shadow::kNoWrite) == write;
      continue;
    }
    const bool asked = row.action == shadow::kStart && state.device->queued;
    known |= row.offset == offset && !asked;
    if (write || failed) continue;
    const bool right = (value & row.mask) == row.value;
    if (row.offset != offset) continue;
    if (row.action == shadow::kFixed || (row.action == shadow::kReset && state.fresh)) met(state, 5);
    if (row.action == shadow::kFixed && !right) {
      broke(cycle, state, shadow::kBadRegister, kAnyRead, offset, value);
    }
    if (row.action == shadow::kReset && state.fresh && !right) {
      broke(cycle, state, shadow::kBadReset, kAnyRead, offset, value);
    }
    const bool busy = row.action == shadow::kBusy && !state.fresh && (value & row.value) != 0;
    if (busy && !right) broke(cycle, state, shadow::kBusyAndDone, kAnyRead, offset, value);
    if (row.action == shadow::kCompleted && !state.fresh) met(state, 8);
    if (row.action == shadow::kCompleted && !state.fresh && value > state.given) {
      broke(cycle, state, shadow::kTooMany, kAnyRead, offset, value);
    }
    if (row.action != shadow::kDone || !right || !state.working) continue;
    const bool interrupts = state.device->interrupt != shadow::kNothing && state.enabled;
    if (interrupts && state.owed && !state.high) {
      state.polled = cycle;
      state.polled_late = static_cast<uint32_t>(cycle - std::max(last_access, state.started));
    }
    finish(cycle, state, offset, traffic);
  }
  if (barred) {
    met(state, 5);
    if (!failed) broke(cycle, state, shadow::kWronglyTaken, write ? kAnyWrite : kAnyRead, offset, value);
  } else if (failed && known) {
    broke(cycle, state, shadow::kRefused, write ? kAnyWrite : kAnyRead, offset, value);
  }
  return state.working;
}

// The accelerator says that it is done.
void Watch::finish(uint64_t cycle, State& state, uint32_t offset, Traffic traffic) {
  // Into a queue the host may have put something since then.
  if (state.device->queued && cycle - state.started < state.device->patience) return;
  state.working = false;
  met(state, 1);
  if (traffic.unanswered) {
    broke(cycle, state, shadow::kEarly, kAnyRead, offset, traffic.unanswered);
  } else if (traffic.held) {
    broke(cycle, state, shadow::kEarly, kAnyWrite, offset, 1);
  }
}

bool Watch::changed_line(uint64_t cycle, uint32_t master, bool high, Traffic traffic) {
  State* found = find(master);
  if (!found) return true;
  State& state = *found;
  look(cycle, state);
  state.high = high;
  if (high) {
    met(state, 4);
    if (state.owed) met(state, 2);
    if (!state.owed) {
      broke(cycle, state, shadow::kNoWork, 0, 0, 0);
    } else if (!state.enabled) {
      broke(cycle, state, shadow::kNotEnabled, 0, 0, 0);
    }
    state.owed = state.may_fall = false;
    state.polled = 0;
    if (state.working) finish(cycle, state, 0, traffic);
  } else {
    const bool level = state.device->interrupt == shadow::kLevel;
    if (level && state.clears && !state.may_fall) broke(cycle, state, shadow::kFell, 0, 0, 0);
    state.cleared = 0;
  }
  return state.working;
}

void Watch::asks(uint64_t cycle, uint32_t master) {
  if (const State* state = find(master)) broke(cycle, *state, shadow::kUnasked, 0, 0, 0);
}

void Watch::wavers(uint64_t cycle, uint32_t master, uint32_t channel) {
  if (const State* state = find(master)) broke(cycle, *state, shadow::kWavers, 0, 0, channel);
}

void Watch::reset(uint64_t, uint32_t master) {
  State* state = find(master);
  if (!state) return;
  State begun;
  begun.device = state->device;
  begun.registers = state->registers;
  begun.clears = state->clears;
  begun.ends = state->ends;
  begun.enabled = state->device->enabled;
  *state = begun;
}

void Watch::look(uint64_t cycle) {
  for (State& state : states_) {
    if (state.device) look(cycle, state);
  }
}

void Watch::look(uint64_t cycle, State& state) {
  const bool level = state.device->interrupt == shadow::kLevel;
  const uint32_t patience = state.device->patience;
  if (level && state.cleared && cycle > state.cleared + patience) {
    broke(state.cleared + patience, state, shadow::kStays, 0, 0, patience);
    state.cleared = 0;
  }
}

// The host takes an interrupt back that has not come.
void Watch::judge_missing(State& state) {
  if (!state.polled) return;
  broke(state.polled, state, shadow::kNoInterrupt, 0, 0, state.polled_late);
  state.polled = 0;
  state.owed = false;
}

void Watch::end(uint64_t cycle) {
  for (State& state : states_) {
    if (!state.device) continue;
    look(cycle, state);
    if (state.working && state.ends) {
      broke(cycle, state, shadow::kNoEnd, 0, 0, static_cast<uint32_t>(cycle - state.started));
    }
  }
}

void Watch::met(const State& state, uint32_t rule) {
  const uint32_t master = state.device->master;
  for (record::Occasion& each : occasions_) {
    each.count += each.master == master && each.rule == rule;
  }
}

void Watch::broke(uint64_t cycle, const State& state, shadow::Rule rule, uint32_t kind,
                  uint32_t offset, uint32_t number) {
  shadow_.broke(cycle, state.device->master, rule, kind, state.device->origin + offset, number);
}

}  // namespace device_rules
