// SPDX-License-Identifier: Apache-2.0
// Runs firmware under hardware faults, one after another, in one process and without Python.
//
//   model TASK --map FILE   a line for each fault on standard output; faults/task.py has both formats

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "backdoor.h"
#include "chip.h"
#include "clocks.h"
#include "fault_task.h"
#include "protocol.h"
#include "verilated.h"

namespace {

using faults::Bytes;
using faults::Fault;
using faults::Task;

constexpr int kAttempts = 3;

// What the firmware reported since the last look.
struct Seen {
  bool ready = false;
  bool begun = false;
  bool ended = false;
  bool left = false;
  bool reported = false;
  int32_t status = 0;
};

Seen seen;

class Chip {
 public:
  Chip() : top_(randomised(context_), "") {}
  ~Chip() { top_.final(); }

  // Load the memory map; false if it is damaged.
  bool load(const char* map) {
    if (!chip::load_map(map, top_)) return false;
    chip::power_up(top_);
    clocks_.reset(new chip::Clocks(top_));
    return true;
  }

  Vtop& top() { return top_; }
  uint64_t cycle() const { return cycle_; }

  void tick() {
    for (int edges = 0; edges < 2;) {
      context_.time(clocks_->next());
      edges += clocks_->toggle();
      top_.eval();
    }
    ++cycle_;
  }

  void heal() {
    top_.fault_hang_i = top_.fault_read_i = top_.fault_write_i = 0;
    top_.fault_stall_i = 0;
    top_.fault_mute_i = 0;
    settle();
  }

  // Let what was set be seen before the next edge of the clock, by registers and assertions alike.
  void settle() { top_.eval(); }

  // Reset the chip; memories keep what they have.
  void reset(uint64_t cycles) {
    top_.rst_ni = 0;
    top_.request_i = console::kNone;
    settle();
    for (uint64_t i = 0; i < cycles; ++i) tick();
    top_.rst_ni = 1;
    settle();
    seen = {};
  }

 private:
  // What is not reset begins with random values, of a fixed seed.
  static VerilatedContext* randomised(VerilatedContext& context) {
    Verilated::threadContextp(&context);
    context.randReset(2);
    context.randSeed(1);
    return &context;
  }

  VerilatedContext context_;
  Vtop top_;
  std::unique_ptr<chip::Clocks> clocks_;
  uint64_t cycle_ = 0;
};

// Let `fault` befall the chip.
void befall(Chip& chip, const Fault& fault) {
  Vtop& top = chip.top();
  const uint32_t bit = 1U << (fault.where & 31U);
  if (fault.kind == "read") top.fault_read_i = bit;
  if (fault.kind == "write") top.fault_write_i = bit;
  if (fault.kind == "read" || fault.kind == "write") top.fault_resp_i = fault.what & 3U;
  if (fault.kind == "stall") top.fault_stall_i = bit;
  if (fault.kind == "mute") top.fault_mute_i = bit;
  if (fault.kind == "hang") top.fault_hang_i = bit;
  chip.settle();
  if (fault.kind == "reset") chip.reset(fault.what);
  if (fault.kind == "flip") {
    uint8_t byte = 0;
    backdoor::peek(fault.where, 1, &byte);
    byte ^= static_cast<uint8_t>(1U << fault.what);
    backdoor::poke(fault.where, 1, &byte);
  }
}

// Cycles of the longest start of the chip up to a run; what it may take before one is known.
uint64_t longest_start = 100'000'000;
bool started_before = false;

// Follows one run of the network to its end, whatever that is.
class Attempt {
 public:
  Attempt(Chip& chip, const Task& task, const Fault* fault)
      : chip_(chip), task_(task), fault_(fault) {}

  // "returned STATUS", "restarted 0", "left 0" or "hung 0".
  std::string run() {
    const uint64_t started = chip_.cycle();
    uint64_t last = started + task_.limit + longest_start;
    seen = {.ready = seen.ready};
    while (chip_.cycle() < last) {
      if (fault_ && begun_) suffer();
      chip_.tick();
      if (chip_.top().fault_reset_o) heal();
      if (seen.left) return "left 0";
      if (seen.ended) return "returned " + std::to_string(seen.status);
      if (seen.ready && asked_) return "restarted 0";
      if (seen.ready) ask();
      if (seen.begun && !begun_) {
        begin();
        // A fault may have the chip start once more.
        longest_start = started_before ? std::max(longest_start, begun_ - started) : begun_ - started;
        started_before = true;
        last = begun_ + task_.limit + longest_start;
      }
      if (seen.reported) note_report();
    }
    return "hung 0";
  }

  bool fired() const { return fired_; }

  // Cycles since the run began, 0 if it did not, and the longest time without a report in it.
  uint64_t ran() const { return begun_ ? chip_.cycle() - begun_ : 0; }
  uint64_t longest() const { return longest_; }

 private:
  void ask() {
    for (const Bytes& input : task_.inputs) {
      backdoor::poke(input.address, input.data.size(), input.data.data());
    }
    chip_.top().request_i = console::kRun;
    seen.ready = false;
    asked_ = true;
  }

  void begin() {
    chip_.top().request_i = console::kNone;
    begun_ = reported_ = chip_.cycle();
  }

  void note_report() {
    if (begun_) longest_ = std::max(longest_, chip_.cycle() - reported_);
    reported_ = chip_.cycle();
    seen.reported = false;
  }

  // A restart of the chip ends what has befallen it.
  void heal() {
    chip_.heal();
    fault_ = nullptr;
  }

  void suffer() {
    const uint64_t passed = chip_.cycle() - begun_;
    if (passed == fault_->offset) {
      befall(chip_, *fault_);
      fired_ = fault_->kind != "read" && fault_->kind != "write";
    }
    fired_ |= chip_.top().fault_fired_o != 0;
    if (fault_->kind == "stall" && fault_->what && passed == fault_->offset + fault_->what) {
      chip_.heal();
    }
  }

  Chip& chip_;
  const Task& task_;
  const Fault* fault_;
  bool asked_ = false;
  bool fired_ = false;
  uint64_t begun_ = 0;
  uint64_t reported_ = 0;
  uint64_t longest_ = 0;
};

void print_outputs(const Task& task) {
  for (const Bytes& output : task.outputs) {
    std::vector<uint8_t> bytes(output.data.size());
    backdoor::peek(output.address, bytes.size(), bytes.data());
    for (const uint8_t byte : bytes) std::printf("%02x", byte);
  }
}

// A fault in a fresh chip, then runs until one returns, without another fault.
void suffer(Chip& chip, const Task& task, const Fault& fault) {
  backdoor::fill();
  backdoor::load_image(task.image.c_str());
  chip.heal();
  chip.reset(record::kResetCycles);
  Attempt first(chip, task, &fault);
  std::string end = first.run();
  std::printf("answer %d %s %llu %llu ", first.fired(), end.c_str(),
              static_cast<unsigned long long>(first.ran()),
              static_cast<unsigned long long>(first.longest()));
  print_outputs(task);
  chip.heal();
  const bool flipped = fault.kind == "flip";
  if (flipped) backdoor::load_image(task.image.c_str());
  const int attempts = end == "returned 0" && !flipped ? 0 : kAttempts;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (end != "restarted 0") chip.reset(record::kResetCycles);
    end = Attempt(chip, task, nullptr).run();
    if (end.rfind("returned", 0) == 0) break;
  }
  std::printf(" %s ", end.c_str());
  print_outputs(task);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

// Called from the SystemVerilog, atoll_doorbell.sv.
extern "C" void atoll_saw_event(unsigned kind, unsigned value) {
  if (kind == record::kExit) seen.left = true;
  if (kind == record::kResult) seen.status = static_cast<int32_t>(value);
  if (kind != record::kTrace) return;
  const uint32_t event = console::event_of(value);
  seen.reported = true;
  seen.ready |= event == console::kReady;
  seen.begun |= event == console::kRunBegin;
  seen.ended |= event == console::kRunEnd;
}

int main(int argc, char** argv) {
  Task task;
  if (argc != 4 || !faults::read_task(argv[1], task)) {
    std::fprintf(stderr, "usage: model TASK --map FILE\n");
    return 1;
  }
  Chip chip;
  if (!chip.load(argv[3])) {
    std::fprintf(stderr, "cannot load '%s'\n", argv[3]);
    return 1;
  }
  if (const char* missing = backdoor::open()) {
    std::fprintf(stderr, "the model lacks memory '%s'\n", missing);
    return 1;
  }
  for (const Fault& fault : task.faults) suffer(chip, task, fault);
  return 0;
}
