// SPDX-License-Identifier: Apache-2.0
#include "monitor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "backdoor.h"
#include "memory_map.h"
#include "zeros.h"

namespace monitor {
namespace {

// Touched bytes of one memory: one bit per byte, and where the set bits lie.
class Touched {
 public:
  explicit Touched(const chip::Memory& memory) : memory_(memory), bits_(memory.size / 8 + 1) {}

  // Mark the bytes that `mask` names, counted from `offset`, a multiple of 8.
  void mark(uint32_t offset, uint64_t mask) {
    const auto size = static_cast<unsigned>(__builtin_popcountll(mask));
    moved_ += size;
    heat_[offset / record::kHeatBytes] += size;
    uint32_t at = offset / 8;
    first_ = std::min(first_, at);
    bits_[at] |= static_cast<uint8_t>(mask);
    while (mask >>= 8) bits_[++at] |= static_cast<uint8_t>(mask);
    last_ = std::max(last_, at);
  }

  // Append what was moved to `counts`, if anything was, and forget it.
  void count(std::vector<record::Count>& counts, record::Count row) {
    if (moved_ == 0) return;
    row.memory = memory_.origin;
    row.bytes = moved_;
    counts.push_back(row);
    moved_ = 0;
  }

  // Count there from now on what is moved in each `kHeatBytes`.
  void heat(uint64_t* bins) { heat_ = bins; }

  // Append the runs of marked bytes to `spans` and forget them.
  void flush(std::vector<record::Span>& spans, uint32_t phase, uint32_t master, uint32_t kind) {
    if (first_ > last_) return;
    uint64_t start = 0;
    bool inside = false;
    for (uint64_t i = first_; i <= last_ + 1ULL; ++i) {
      const uint8_t bits = i <= last_ ? bits_[i] : 0;
      if (bits) bits_[i] = 0;  // what is zero may take no memory yet
      if (bits == (inside ? 0xff : 0)) continue;  // nothing begins or ends here
      for (uint64_t at = 8 * i; at < 8 * i + 8; ++at) {
        const bool set = bits >> (at % 8) & 1;
        if (set && !inside) start = at;
        if (!set && inside) {
          spans.push_back({phase, master, kind, memory_.origin + static_cast<uint32_t>(start),
                           memory_.origin + at});
        }
        inside = set;
      }
    }
    first_ = UINT32_MAX;
    last_ = 0;
  }

 private:
  const chip::Memory& memory_;
  shadow::Zeros<uint8_t> bits_;
  uint32_t first_ = UINT32_MAX;
  uint32_t last_ = 0;
  uint64_t moved_ = 0;
  uint64_t* heat_ = nullptr;
};

struct Account {
  std::vector<Touched> touched;
  uint64_t accesses = 0;
  uint64_t last = 0;
};

using Accounts = std::vector<std::array<Account, record::kAccessKinds>>;

// What all masters move in each `kHeatBytes` of the memories, by memory and kind. Pages that nobody
// touches take no room.
struct Free {
  void operator()(uint64_t* bins) const { std::free(bins); }
};
std::vector<std::array<std::unique_ptr<uint64_t, Free>, record::kAccessKinds>> heat;
uint32_t runs = 0;  // begun
bool counts = false;

size_t bins_of(const chip::Memory& memory) { return memory.size / record::kHeatBytes + 1; }

void begin_heat(Accounts& accounts) {
  heat.clear();
  for (size_t number = 0; number < chip::map().memories.size(); ++number) {
    const size_t size = bins_of(chip::map().memories[number]);
    auto& kinds = heat.emplace_back();
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      kinds[kind].reset(static_cast<uint64_t*>(std::calloc(size, sizeof(uint64_t))));
      for (auto& account : accounts) account[kind].touched[number].heat(kinds[kind].get());
    }
  }
}

Accounts make_accounts() {
  Accounts made(chip::map().masters);
  for (auto& kinds : made) {
    for (Account& account : kinds) {
      for (const chip::Memory& memory : chip::map().memories) account.touched.emplace_back(memory);
    }
  }
  begin_heat(made);
  return made;
}

Accounts& accounts() {
  static Accounts made = make_accounts();
  return made;
}

// Move what was counted since the begin of the run into the log, if that was asked for.
void end_heat() {
  if (!counts) return;
  counts = false;
  for (size_t number = 0; number < heat.size(); ++number) {
    const chip::Memory& memory = chip::map().memories[number];
    const auto& kinds = heat[number];
    for (size_t bin = 0; bin < bins_of(memory); ++bin) {
      const uint64_t read = kinds[record::kRead].get()[bin];
      const uint64_t written = kinds[record::kWrite].get()[bin];
      const uint32_t address = memory.origin + static_cast<uint32_t>(bin) * record::kHeatBytes;
      if (read || written) log().heat.push_back({address, runs - 1, read, written});
    }
  }
}

// Number of the memory that holds `address`, or that of all memories: registers.
size_t memory_of(uint32_t address) {
  const auto& memories = chip::map().memories;
  size_t found = 0;
  while (found < memories.size() && address - memories[found].origin >= memories[found].size) {
    ++found;
  }
  return found;
}

}  // namespace

Log& log() {
  static Log only;
  return only;
}

shadow::Shadow& watcher() {
  static shadow::Shadow only;
  return only;
}

namespace {
std::unique_ptr<device_rules::Watch> watch;
}

device_rules::Watch* devices_watch() { return watch.get(); }

void forget() {
  log() = Log{};
  accounts() = make_accounts();
  begin_heat(accounts());  // the first `accounts()` has ended what `make_accounts` began
  runs = 0;
  counts = false;
  watch.reset();
  watcher() = shadow::Shadow{};
}

bool hold_against(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> packed{std::istreambuf_iterator<char>(file), {}};
  std::vector<uint32_t> words(packed.size() / sizeof(uint32_t));
  std::memcpy(words.data(), packed.data(), words.size() * sizeof(uint32_t));
  watcher().look_with(backdoor::peek);
  if (!watcher().load(words.data(), words.size())) return false;
  watch = std::make_unique<device_rules::Watch>(watcher());
  return true;
}

void saw_lines(uint64_t lines) {
  Log& now = log();
  for (uint64_t changed = lines ^ now.high; changed != 0; changed &= changed - 1) {
    const auto line = static_cast<uint32_t>(__builtin_ctzll(changed));
    now.lines.push_back({now.cycle - 1, line, static_cast<uint32_t>(lines >> line & 1)});
  }
  now.high = lines;
}

void close_phase() {
  Log& now = log();
  for (uint32_t master = 0; master < accounts().size(); ++master) {
    for (uint32_t kind = 0; kind < record::kAccessKinds; ++kind) {
      Account& account = accounts()[master][kind];
      if (account.accesses == 0) continue;
      for (Touched& touched : account.touched) {
        touched.count(now.counts, {.phase = now.phase,
                                   .master = master,
                                   .kind = kind,
                                   .memory = 0,
                                   .accesses = account.accesses,
                                   .bytes = 0,
                                   .last = account.last});
        touched.flush(now.spans, now.phase, master, kind);
      }
      account.accesses = 0;
    }
  }
  ++now.phase;
}

}  // namespace monitor

// Called from the SystemVerilog, atoll_monitor.sv and atoll_doorbell.sv.
extern "C" {

constexpr unsigned kListAlignment = 64;

void atoll_saw_event(unsigned kind, unsigned value);

void atoll_saw_access(unsigned master, unsigned kind, unsigned address,
                      unsigned long long bytes) {
  const size_t memory = monitor::memory_of(address);
  if (memory == chip::map().memories.size()) return;
  monitor::Account& account = monitor::accounts()[master][kind];
  ++account.accesses;
  account.last = monitor::log().cycle;
  account.touched[memory].mark(address - chip::map().memories[memory].origin, bytes);
  shadow::Shadow& watcher = monitor::watcher();
  if (watcher.loaded()) watcher.access(monitor::log().cycle, master, kind, address, bytes);
}

// An engine is about to read at `address`. If it thereby goes on with another operator by itself, log
// that, and return the two words of TRACE that tell it, else 0: the end is in the upper half.
unsigned long long atoll_goes_on(unsigned master, unsigned address) {
  const shadow::Shadow& watcher = monitor::watcher();
  if (address % kListAlignment != 0 || !watcher.loaded()) return 0;
  const shadow::Succession* found = watcher.succession(master, address);
  if (!found) return 0;
  atoll_saw_event(record::kTrace, found->ended);
  atoll_saw_event(record::kTrace, found->begun);
  return static_cast<unsigned long long>(found->ended) << 32 | found->begun;
}

void atoll_saw_blocked(unsigned master, unsigned kind, unsigned address,
                       unsigned long long bytes) {
  shadow::Shadow& watcher = monitor::watcher();
  if (!watcher.loaded()) return;
  const unsigned first = bytes ? static_cast<unsigned>(__builtin_ctzll(bytes)) : 0;
  const unsigned last = bytes ? 63U - static_cast<unsigned>(__builtin_clzll(bytes)) : 0;
  watcher.refused(monitor::log().cycle, master, kind, address + first, last - first + 1);
}

void atoll_saw_trap(unsigned master) {
  monitor::Log& log = monitor::log();
  log.events.push_back({log.cycle, record::kTrap, master});
}

void atoll_saw_event(unsigned kind, unsigned value) {
  monitor::Log& log = monitor::log();
  if (kind == record::kUart) {
    log.text.push_back(static_cast<char>(value));
    return;
  }
  log.events.push_back({log.cycle, kind, value});
  if (kind != record::kTrace) return;
  monitor::close_phase();
  shadow::Shadow& watcher = monitor::watcher();
  const uint32_t event = console::event_of(value);
  if (event == console::kRunBegin || event == console::kRunEnd) monitor::end_heat();
  if (event == console::kRunBegin && monitor::runs++ < (watcher.loaded() ? watcher.models() : 1)) {
    monitor::begin_heat(monitor::accounts());
    monitor::counts = true;
  }
  if (device_rules::Watch* watch = monitor::devices_watch()) watch->look(log.cycle);
  if (watcher.loaded()) watcher.trace(log.cycle, value);
}

}  // extern "C"

// Called from the SystemVerilog, atoll_device_monitor.sv and the monitors beside it. What is not held
// against a contract may work at any time.
extern "C" {

unsigned atoll_device_wrote(unsigned master, unsigned offset, unsigned value) {
  device_rules::Watch* watch = monitor::devices_watch();
  return !watch || watch->wrote(monitor::log().cycle, master, offset, value);
}

unsigned atoll_device_answered(unsigned master, unsigned write, unsigned offset, unsigned value,
                               unsigned failed, unsigned unanswered, unsigned held) {
  device_rules::Watch* watch = monitor::devices_watch();
  const auto& accounts = monitor::accounts()[master];
  const uint64_t last = std::max(accounts[record::kRead].last, accounts[record::kWrite].last);
  return !watch || watch->answered(monitor::log().cycle, master, write, offset, value, failed,
                                   {unanswered, held != 0}, last);
}

unsigned atoll_device_line(unsigned master, unsigned high, unsigned unanswered, unsigned held) {
  device_rules::Watch* watch = monitor::devices_watch();
  return !watch || watch->changed_line(monitor::log().cycle, master, high, {unanswered, held != 0});
}

void atoll_device_asks(unsigned master) {
  if (device_rules::Watch* watch = monitor::devices_watch()) watch->asks(monitor::log().cycle, master);
}

// The adapters of the ports rely on requests that hold: without anybody to tell, this is the end.
void atoll_device_wavers(unsigned master, unsigned channel) {
  device_rules::Watch* watch = monitor::devices_watch();
  if (watch) return watch->wavers(monitor::log().cycle, master, channel);
  std::fprintf(stderr, "device %u changes or withdraws a request that was not accepted (A7)\n", master);
  std::abort();
}

void atoll_device_reset(unsigned master) {
  if (device_rules::Watch* watch = monitor::devices_watch()) watch->reset(monitor::log().cycle, master);
}

void atoll_unit_rests(unsigned master, unsigned called, unsigned taken) {
  monitor::Log& log = monitor::log();
  log.events.push_back({log.cycle, record::kRests, master});
  shadow::Shadow& watcher = monitor::watcher();
  if (!watcher.loaded()) return;
  watcher.broke(log.cycle, master, shadow::kUnitRests, taken ? 0 : 1, 0, called);
}

}  // extern "C"

// Called from Python, monitors.py. Pointers hold until the simulation goes on.
extern "C" {

uint64_t atoll_cycle() { return monitor::log().cycle; }

void atoll_close_phase() { monitor::close_phase(); }

size_t atoll_events(const record::Event** first) {
  *first = monitor::log().events.data();
  return monitor::log().events.size();
}

size_t atoll_counts(const record::Count** first) {
  *first = monitor::log().counts.data();
  return monitor::log().counts.size();
}

size_t atoll_spans(const record::Span** first) {
  *first = monitor::log().spans.data();
  return monitor::log().spans.size();
}

size_t atoll_lines(const record::Line** first) {
  *first = monitor::log().lines.data();
  return monitor::log().lines.size();
}

size_t atoll_heat(const record::Heat** first) {
  monitor::end_heat();
  *first = monitor::log().heat.data();
  return monitor::log().heat.size();
}

size_t atoll_occasions(const record::Occasion** first) {
  device_rules::Watch* watch = monitor::devices_watch();
  *first = watch ? watch->occasions().data() : nullptr;
  return watch ? watch->occasions().size() : 0;
}

void atoll_end_devices() {
  if (device_rules::Watch* watch = monitor::devices_watch()) watch->end(monitor::log().cycle);
}

shadow::Shadow* atoll_shadow_of_model() { return &monitor::watcher(); }

size_t atoll_text(const char** first) {
  *first = monitor::log().text.data();
  return monitor::log().text.size();
}

}  // extern "C"
