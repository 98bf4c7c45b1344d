// SPDX-License-Identifier: Apache-2.0
// The part of an instruction-set simulator that runs for every block and every load and store.
//
// Unicorn calls the hooks below; their signatures are those of its unicorn.h. They count time, hold each
// access against what the core reaches, and tell the monitor, as atoll_monitor.sv does in RTL.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
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

// The instruction at an address of the bus: its first half word, the second if it has one, and its bytes.
struct Fetched {
  uint32_t first = 0;
  uint32_t second = 0;
  uint32_t size = 2;
  uint32_t word() const { return first | second << 16; }
};

Fetched fetched(const Core& core, uint32_t address) {
  Fetched found;
  const uint8_t* at = bytes_at(address, 2);
  found.first = at ? at[0] | at[1] << 8 : 0;
  const bool whole = core.encoding == kThumb ? found.first >> 11 >= 0x1d : (found.first & 3) == 3;
  if (!whole) return found;
  found.size = 4;
  if (bytes_at(address, 4)) found.second = at[2] | at[3] << 8;
  return found;
}

// Count what lies from `first` up to `end`.
Counts count(const Core& core, uint32_t first, uint32_t end) {
  Counts found;
  while (first < end) {
    const Fetched each = fetched(core, first);
    ++found.instructions;
    const bool thumb = core.encoding == kThumb;
    ++found.ran[thumb ? class_of_thumb(each.first, each.second) : class_of(each.word(), core.encoding)];
    if (!thumb) found.ran[kShifted] += further_bits(each.word(), core.encoding);
    first += each.size;
  }
  found.cycles = std::inner_product(found.ran.begin(), found.ran.end(), core.costs.begin(), 0U);
  return found;
}

// Count lines that the instruction cache lacks.
void fetch(Core& core, uint32_t first, uint32_t end) {
  for (uint32_t line = first / core.line; line <= (end - 1) / core.line; ++line) {
    uint32_t& held = core.held[line % core.held.size()];
    core.lines += held != line;
    held = line;
  }
}

// Count an access of the spans that are watched.
void touch(Core& core, uint32_t address, uint32_t size, bool writes) {
  CountedCache::Moved moved;
  if (core.counted) moved = core.counted->access(address, size, writes);
  for (Touched& each : core.touched) {
    if (address - each.first >= each.size) continue;
    ++each.counts[writes];
    each.counts[2] += moved.in;
    each.counts[3] += moved.out;
    return;
  }
}

// Find out what else a block has.
void look_at(const Core& core, Block& block) {
  const uint32_t end = block.address + block.size;
  const bool thumb = core.encoding == kThumb;
  block.floats = block.missing = end;
  for (uint32_t at = block.address; at < end;) {
    const Fetched each = fetched(core, at);
    block.conditional |= thumb && begins_condition(each.first);
    const uint32_t needs = thumb ? needs_of_thumb(each.first, each.second) : needs_of(each.word(), core.encoding);
    if (needs & kFloats && block.floats == end) block.floats = at;
    if (needs & ~core.extensions && block.missing == end) block.missing = at;
    at += each.size;
  }
}

// Where in a block the core has to stop, or its end.
uint32_t stops_at(Core& core, const Block& block, uint32_t seen) {
  const uint32_t end = block.address + block.size;
  uint32_t stop = std::min(block.missing, core.floats ? end : block.floats);
  core.why = !core.floats && stop == block.floats ? kFloatsOff : kMissing;
  if (core.protection.on()) {
    const uint32_t closed = core.protection.refuses_fetch(seen, seen + block.size) - seen + block.address;
    if (closed < stop) core.why = kProtected;
    stop = std::min(stop, closed);
  }
  return stop;
}

// Whether the core traps on a misaligned access of the instruction that it is at.
bool has_to_be_aligned(const Core& core, void* engine, uint32_t address, uint32_t size) {
  const bool thumb = core.encoding == kThumb;
  const uint32_t most = thumb ? std::min(size, 4U) : size;
  if ((address & (most - 1)) == 0) return false;
  if (core.aligned) return true;
  uint64_t pc = 0;
  core.engine.read(engine, core.registers.back(), &pc);
  const Fetched at = fetched(core, core.on_bus(pc & ~1ULL).value_or(static_cast<uint32_t>(pc)));
  if (!thumb) return needs_of(at.word(), core.encoding) & kAtomics;
  const uint32_t part = address >> 29;  // of the address map: 2, 5 and 6 are devices, 7 is the system
  return always_aligned_thumb(at.first, at.second) || part == 2 || part >= 5;
}

// Remember what a store will overwrite.
void keep(Core& core, uint32_t address, uint32_t size) {
  uint8_t* old = core.cache ? core.cache->view_at(address, size) : nullptr;
  if (!old) old = bytes_at(address, size);
  if (!old) return;
  core.undo.push_back({.at = old, .bytes = {}, .size = size});
  std::memcpy(core.undo.back().bytes.data(), old, size);
}

// Do not make an access; the core stops, in a block with IT instructions at its end.
void refuse(Core& core, void* engine, uint64_t where, uint32_t address, uint32_t size, bool writes, Why why) {
  core.refused = writes ? 2 : 1;
  core.why = why;
  core.address = where;
  core.size = size;
  if (writes) keep(core, address, size);
  if (core.conditional) {
    for (const int number : core.registers) {
      core.before.push_back(0);
      core.engine.read(engine, number, &core.before.back());
    }
  }
  core.engine.stop(engine);
}

// Fill whole pages with a pattern; a large memory shares the pages of one file until it writes them.
void fill(uint8_t* bytes, size_t size, uint8_t pattern) {
  constexpr size_t kShared = size_t{2} << 20;
  constexpr size_t kLarge = size_t{64} << 20;
  FILE* const file = size < kLarge ? nullptr : std::tmpfile();
  if (file) {
    const std::vector<uint8_t> block(kShared, pattern);
    bool whole = std::fwrite(block.data(), 1, kShared, file) == kShared && std::fflush(file) == 0;
    for (; whole && size >= kShared; bytes += kShared, size -= kShared) {
      void* const at = mmap(bytes, kShared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fileno(file), 0);
      whole = at != MAP_FAILED;
    }
    std::fclose(file);
  }
  std::memset(bytes, pattern, size);
}

void tell_fetches(const Core& core, uint32_t first, uint32_t end) {
  for (uint32_t at = first & ~3U; at < end; at += 4) {
    atoll_saw_access(core.master, record::kFetch, at & ~(kBeat - 1), 0xfU << (at % kBeat));
  }
}

}  // namespace

std::vector<Memory> memories;
std::vector<std::unique_ptr<Core>> cores;
std::vector<std::unique_ptr<DataCache>> npu_caches;

uint8_t* bytes_at(uint32_t address, size_t size) {
  for (const Memory& memory : memories) {
    const uint32_t offset = address - memory.origin;
    if (offset < memory.size && size <= memory.size - offset) return memory.bytes + offset;
  }
  return nullptr;
}

std::optional<uint32_t> Core::on_bus(uint64_t address) const {
  bool hidden = address >> 32;
  for (const View& view : views) {
    if (address - view.seen < view.size) return static_cast<uint32_t>(address - view.seen) + view.origin;
    hidden |= view.hides && address - view.origin < view.size;
  }
  return hidden ? std::nullopt : std::optional(static_cast<uint32_t>(address));
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
  if (from) each_cache([&](const DataCache& cache) { cache.overlay(address, static_cast<uint32_t>(size), to, true); });
  return from || size == 0;
}

}  // namespace backdoor

// Called from Python, native.py.
extern "C" {

// Forget all earlier runs.
void atoll_iss_begin(uint32_t masters) {
  memories.clear();
  cores.clear();
  npu_caches.clear();
  shape = chip::Map{};
  shape.masters = masters;
}

void atoll_iss_memory(uint32_t origin, uint32_t size, uint8_t* bytes, uint32_t pattern) {
  memories.push_back({origin, size, bytes});
  fill(bytes, size, static_cast<uint8_t>(pattern));
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

// The watchdog restarted the chip: its start-up code runs again.
void atoll_iss_restart() {
  npu_caches.clear();
  if (monitor::watcher().loaded()) monitor::watcher().restart();
}

Core* atoll_iss_core(uint32_t master, const Engine* engine, const uint32_t* costs, int encoding,
                     uint32_t extensions, const int* registers, uint32_t count_of_registers) {
  cores.push_back(std::make_unique<Core>());
  Core& core = *cores.back();
  core.master = master;
  core.engine = *engine;
  core.encoding = static_cast<Encoding>(encoding);
  core.extensions = extensions;
  core.registers.assign(registers, registers + count_of_registers);
  std::copy(costs, costs + kClasses, core.costs.begin());
  return &core;
}

// Hold the core's accesses against spans, of which the first that has an address decides.
void atoll_iss_protect(Core* core, const Span* spans, uint32_t number, uint32_t otherwise, int whole) {
  core->protection.set({spans, spans + number}, otherwise, whole != 0);
}

// An access was refused: undo what the core did since.
void atoll_iss_undo(Core* core, void* engine) {
  for (; !core->undo.empty(); core->undo.pop_back()) {
    const Undo& last = core->undo.back();
    std::memcpy(last.at, last.bytes.data(), last.size);
  }
  for (size_t each = 0; each < core->before.size(); ++each) {
    const uint32_t pc = each + 1 == core->before.size() && core->encoding == kThumb;
    const uint32_t value = core->before[each] | pc;
    core->engine.write(engine, core->registers[each], &value);
  }
  core->before.clear();
  core->refused = 0;
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
void atoll_iss_view(Core* core, uint64_t seen, uint32_t origin, uint32_t size, int hides) {
  core->views.push_back({seen, origin, size, hides != 0});
}

// From now on, count lines that come into the core's instruction cache, which has one place for each.
void atoll_iss_fetches(Core* core, uint32_t size, uint32_t line) {
  core->line = line;
  core->held.assign(size / line, UINT32_MAX);
}

// From now on, count accesses of these spans; the first that has an address counts.
void atoll_iss_touches(Core* core, const uint32_t* spans, uint32_t number) {
  core->touched.clear();
  for (uint32_t each = 0; each < 2 * number; each += 2) core->touched.push_back({spans[each], spans[each + 1]});
}

// What was counted of each of these spans.
void atoll_iss_touched(const Core* core, uint64_t* counts) {
  for (const Touched& each : core->touched) counts = std::copy_n(each.counts.begin(), each.counts.size(), counts);
}

// From now on, count lines of the core's data cache; it works on spans that follow.
void atoll_iss_lines(Core* core, uint32_t line, uint32_t ways, uint32_t sets, int write_back) {
  core->counted.emplace(line, ways, sets, write_back != 0);
}

void atoll_iss_lines_of(Core* core, uint32_t first, uint32_t last) { core->counted->cover(first, last); }

// The core left its block before the instruction at `where`.
void atoll_iss_left(Core* core, uint64_t where) {
  const uint32_t nowhere = where >> 32 ? core->expected : static_cast<uint32_t>(where);
  const uint32_t address = core->on_bus(where).value_or(nowhere);
  const Counts left = count(*core, address, core->expected);
  core->instructions -= left.instructions;
  core->time -= left.cycles;
  for (size_t each = 0; each < kClasses; ++each) core->ran[each] -= left.ran[each];
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
  for (const auto& cache : npu_caches) cache->step();
  const uint32_t seen = static_cast<uint32_t>(address);
  const uint32_t at = core.on_bus(address).value_or(seen);
  Block& block = core.blocks[at / 2 % kBlocks];
  if (block.address != at || block.size != size) {
    block = Block{.address = at, .size = size};
    block.counts = count(core, at, at + size);
    look_at(core, block);
  }
  if (const uint32_t stop = stops_at(core, block, seen); stop != at + size) {
    core.until = stop - at + seen;
    core.engine.stop(engine);
    return;
  }
  if (at != core.expected) {
    core.time += core.costs[kTaken];
    ++core.ran[kTaken];
  }
  if (core.line) fetch(core, at, at + size);
  monitor::log().cycle = core.host_time();
  if (block.phase != monitor::log().phase) {
    block.phase = monitor::log().phase;
    tell_fetches(core, at, at + size);
  }
  core.instructions += block.counts.instructions;
  core.time += block.counts.cycles;
  for (size_t each = 0; each < kClasses; ++each) core.ran[each] += block.counts.ran[each];
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
  if (core.refused) {
    if (writes) keep(core, address, static_cast<uint32_t>(size));
    return;
  }
  if (has_to_be_aligned(core, engine, static_cast<uint32_t>(where), static_cast<uint32_t>(size))) {
    refuse(core, engine, where, address, static_cast<uint32_t>(size), writes, kNotAligned);
    return;
  }
  if (core.protection.on()) {
    const uint32_t first = static_cast<uint32_t>(where);
    if (!core.protection.permits(first, first + static_cast<uint32_t>(size) - 1, writes ? kMayWrite : kMayRead)) {
      refuse(core, engine, where, address, static_cast<uint32_t>(size), writes, kProtected);
      return;
    }
  }
  if (found && core.reaches(address, last, writes)) {
    atoll_saw_access(core.master, writes, address - inside, bytes << inside);
    touch(core, address, static_cast<uint32_t>(size), writes);
    through_caches(core, address, static_cast<uint32_t>(size), writes, &value);
    return;
  }
  atoll_saw_blocked(core.master, writes, address - inside, bytes << inside);
  refuse(core, engine, where, address, static_cast<uint32_t>(size), writes, kFirewall);
}

// UC_HOOK_MEM_READ_INVALID and UC_HOOK_MEM_WRITE_INVALID: the access is not made.
bool atoll_iss_invalid(void* engine, int type, uint64_t where, int size, int64_t value, void* user) {
  const Core& core = *static_cast<Core*>(user);
  if (core.refused == 0) atoll_iss_access(engine, type, where, size, value, user);
  return false;
}

}  // extern "C"
