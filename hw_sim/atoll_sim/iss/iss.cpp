// The part of an instruction-set simulator that runs for every block and every load and store.
//
// Unicorn calls the hooks below; their signatures are those of its unicorn.h. They count time, hold each
// access against what the core reaches, and tell the monitor, as atoll_monitor.sv does in RTL.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "backdoor.h"
#include "iss.h"
#include "memory_map.h"
#include "monitor.h"

extern "C" {
void atoll_saw_access(unsigned master, unsigned kind, unsigned address, unsigned long long bytes);
void atoll_saw_blocked(unsigned master, unsigned kind, unsigned address, unsigned long long bytes);
}

namespace {

// UC_MEM_WRITE, UC_MEM_WRITE_UNMAPPED and UC_MEM_WRITE_PROT
constexpr bool is_write(int type) { return type == 17 || type == 20 || type == 22; }
constexpr uint32_t kBeat = 8;

chip::Map shape;

// An IT instruction.
bool begins_condition(uint32_t half) { return half >> 8 == 0xbf && half & 0xf; }

// In an IT block, Unicorn 2.1 leaves the state of the access's instruction behind, and the next block would
// begin under its condition.
void forget_condition(const Core& core, void* engine) {
  constexpr int kCpsr = 3;
  constexpr uint32_t kIt = 0x0600fc00;
  uint32_t cpsr = 0;
  core.engine.read(engine, kCpsr, &cpsr);
  if ((cpsr & kIt) == 0) return;
  cpsr &= ~kIt;
  core.engine.write(engine, kCpsr, &cpsr);
}

// Count what lies from `first` up to `end`.
void count(const Core& core, uint32_t first, uint32_t end, uint32_t& instructions, uint32_t& cycles) {
  while (first < end) {
    const uint8_t* at = bytes_at(first, 2);
    const uint32_t half = at ? at[0] | at[1] << 8 : 0;
    const bool thumb = core.encoding == kThumb;
    const bool whole = thumb ? half >> 11 >= 0x1d : (half & 3) == 3;
    const uint32_t next = whole && bytes_at(first, 4) ? at[2] | at[3] << 8 : 0;
    ++instructions;
    cycles += core.costs[thumb ? class_of_thumb(half, next) : class_of(half | next << 16, core.encoding)];
    first += whole ? 4 : 2;
  }
}

bool has_conditions(uint32_t first, uint32_t end) {
  while (first < end) {
    const uint8_t* at = bytes_at(first, 2);
    const uint32_t half = at ? at[0] | at[1] << 8 : 0;
    if (begins_condition(half)) return true;
    first += half >> 11 >= 0x1d ? 4 : 2;
  }
  return false;
}

void tell_fetches(const Core& core, uint32_t first, uint32_t end) {
  for (uint32_t at = first & ~3U; at < end; at += 4) {
    atoll_saw_access(core.master, record::kFetch, at & ~(kBeat - 1), 0xfU << (at % kBeat));
  }
}

}  // namespace

std::vector<Memory> memories;
std::vector<std::unique_ptr<Core>> cores;

uint8_t* bytes_at(uint32_t address, size_t size) {
  for (const Memory& memory : memories) {
    const uint32_t offset = address - memory.origin;
    if (offset < memory.size && size <= memory.size - offset) return memory.bytes + offset;
  }
  return nullptr;
}

std::optional<uint32_t> Core::on_bus(uint64_t wide) const {
  if (wide >> 32) return std::nullopt;
  const uint32_t address = static_cast<uint32_t>(wide);
  bool hidden = false;
  for (const View& view : views) {
    if (address - view.seen < view.size) return address - view.seen + view.origin;
    hidden |= view.hides && address - view.origin < view.size;
  }
  return hidden ? std::nullopt : std::optional(address);
}

bool Core::reaches(uint32_t first, uint32_t last, bool writes) {
  if (first >= latest[writes].first && last <= latest[writes].last) return true;
  for (const Window& window : windows[writes]) {
    if (first < window.first || last > window.last) continue;
    latest[writes] = window;
    return true;
  }
  return false;
}

namespace chip {
const Map& map() { return shape; }
}  // namespace chip

namespace backdoor {

bool peek(uint32_t address, size_t size, uint8_t* to) {
  const uint8_t* from = bytes_at(address, size);
  if (from) std::memcpy(to, from, size);
  for (const auto& core : cores) {
    if (from && core->cache) core->cache->overlay(address, static_cast<uint32_t>(size), to, true);
  }
  return from || size == 0;
}

}  // namespace backdoor

// Called from Python, native.py.
extern "C" {

// Forget all earlier runs.
void atoll_iss_begin(uint32_t masters) {
  memories.clear();
  cores.clear();
  shape = chip::Map{};
  shape.masters = masters;
}

void atoll_iss_memory(uint32_t origin, uint32_t size, uint8_t* bytes) {
  memories.push_back({origin, size, bytes});
  chip::Memory memory{};
  memory.origin = origin;
  memory.size = size;
  shape.memories.push_back(memory);
}

// All memories are known: watch them, by this table if there is one.
int atoll_iss_watch(const uint32_t* words, size_t size) {
  monitor::forget();
  monitor::watcher().look_with(backdoor::peek);
  return size == 0 || monitor::watcher().load(words, size);
}

Core* atoll_iss_core(uint32_t master, const Engine* engine, const uint32_t* costs, int encoding) {
  cores.push_back(std::make_unique<Core>());
  Core& core = *cores.back();
  core.master = master;
  core.engine = *engine;
  core.encoding = static_cast<Encoding>(encoding);
  std::copy(costs, costs + kClasses, core.costs.begin());
  return &core;
}

void atoll_iss_clock(Core* core, uint64_t own, uint64_t host) {
  const uint64_t divisor = std::gcd(own, host);
  core->clock = own / divisor;
  core->host_clock = host / divisor;
}

void atoll_iss_window(Core* core, uint32_t first, uint32_t last, int writes) {
  core->windows[writes != 0].push_back({first, last});
}

// The core sees `size` bytes elsewhere than at `origin`, or there too.
void atoll_iss_view(Core* core, uint32_t seen, uint32_t origin, uint32_t size, int hides) {
  core->views.push_back({seen, origin, size, hides != 0});
}

// The core left its block before the instruction at `where`.
void atoll_iss_left(Core* core, uint64_t where) {
  const uint32_t nowhere = where >> 32 ? core->expected : static_cast<uint32_t>(where);
  const uint32_t address = core->on_bus(where).value_or(nowhere);
  uint32_t instructions = 0, cycles = 0;
  count(*core, address, core->expected, instructions, cycles);
  core->instructions -= instructions;
  core->time -= cycles;
  core->expected = address;
  monitor::log().cycle = core->host_time();
}

void atoll_iss_at(uint64_t cycle) { monitor::log().cycle = cycle; }

// An engine's accesses to `size` bytes, in beats of `beat` bytes, 8 to 64.
void atoll_iss_engine(uint32_t master, uint32_t kind, uint32_t address, uint32_t size, uint32_t beat) {
  for (uint32_t done = 0; done < size;) {
    const uint32_t at = address + done;
    const uint32_t bytes = std::min(size - done, beat - at % beat);
    atoll_saw_access(master, kind, at - at % kBeat, (~0ULL >> (64 - bytes)) << at % kBeat);
    done += bytes;
  }
}

// UC_HOOK_BLOCK
void atoll_iss_block(void* engine, uint64_t address, uint32_t size, void* user) {
  Core& core = *static_cast<Core*>(user);
  if (core.time >= core.deadline) {
    core.engine.stop(engine);
    return;
  }
  if (core.cache) core.cache->step();
  const uint32_t seen = static_cast<uint32_t>(address);
  const uint32_t at = core.on_bus(seen).value_or(seen);
  Block& block = core.blocks[at / 2 % kBlocks];
  if (block.address != at || block.size != size) {
    block = Block{.address = at, .size = size};
    count(core, at, at + size, block.instructions, block.cycles);
    block.conditional = core.encoding == kThumb && has_conditions(at, at + size);
  }
  if (at != core.expected) core.time += core.costs[kTaken];
  monitor::log().cycle = core.host_time();
  if (block.phase != monitor::log().phase) {
    block.phase = monitor::log().phase;
    tell_fetches(core, at, at + size);
  }
  core.instructions += block.instructions;
  core.time += block.cycles;
  core.expected = at + size;
  core.conditional = block.conditional;
}

// UC_HOOK_MEM_READ and UC_HOOK_MEM_WRITE
void atoll_iss_access(void* engine, int type, uint64_t where, int size, int64_t value, void* user) {
  Core& core = *static_cast<Core*>(user);
  const bool writes = is_write(type);
  const std::optional<uint32_t> found = core.on_bus(where);
  const uint32_t address = found.value_or(static_cast<uint32_t>(where));
  const uint32_t last = address + static_cast<uint32_t>(size) - 1;
  const uint32_t bytes = (1U << size) - 1;
  const uint32_t inside = address % kBeat;
  if (core.conditional) forget_condition(core, engine);
  if (found && core.reaches(address, last, writes)) {
    atoll_saw_access(core.master, writes, address - inside, bytes << inside);
    through_caches(core, address, static_cast<uint32_t>(size), writes, &value);
    return;
  }
  atoll_saw_blocked(core.master, writes, address - inside, bytes << inside);
  core.refused = writes ? 2 : 1;
  core.address = where;
  core.size = static_cast<uint32_t>(size);
  const uint8_t* old = writes && core.cache ? core.cache->view_at(address, core.size) : nullptr;
  if (writes && !old) old = bytes_at(address, core.size);
  core.undo_size = old ? core.size : 0;
  if (old) std::memcpy(core.undo, old, core.size);
  core.engine.stop(engine);
}

// UC_HOOK_MEM_READ_INVALID and UC_HOOK_MEM_WRITE_INVALID: the access is not made.
bool atoll_iss_invalid(void* engine, int type, uint64_t where, int size, int64_t value, void* user) {
  const Core& core = *static_cast<Core*>(user);
  if (core.refused == 0) atoll_iss_access(engine, type, where, size, value, user);
  return false;
}

}  // extern "C"
