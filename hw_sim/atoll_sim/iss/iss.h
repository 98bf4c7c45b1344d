/* SPDX-License-Identifier: Apache-2.0 */
// The cores and memories of a run.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "counted_cache.h"
#include "data_cache.h"
#include "instruction_class.h"
#include "instruction_needs.h"
#include "protection.h"

constexpr size_t kBlocks = 1 << 14;

struct Window {
  uint32_t first;
  uint32_t last;
};

// A memory that a core sees elsewhere than the bus has it.
struct View {
  uint64_t seen;  // where the core sees the first byte
  uint32_t origin;
  uint32_t size;
  bool hides;  // the core does not see it where the bus has it
};

// Functions of unicorn.h.
struct Engine {
  int (*stop)(void* engine) = nullptr;
  int (*read)(void* engine, int id, void* value) = nullptr;
  int (*write)(void* engine, int id, const void* value) = nullptr;
};

// Instructions that lie one after the other: how many, of which classes, and what they cost.
struct Counts {
  std::array<uint32_t, kClasses> ran{};
  uint32_t instructions = 0;
  uint32_t cycles = 0;
};

// Bytes of the bus, how often a core read and wrote there, and the lines of its data cache that came in and
// became dirty.
struct Touched {
  uint32_t first;
  uint32_t size;
  std::array<uint64_t, 4> counts{};
};

// Code between two jumps, as it was translated.
struct Block {
  uint32_t address = 0;
  uint32_t size = 0;
  Counts counts;
  uint32_t phase = UINT32_MAX;  // in which its fetches were last told
  bool conditional = false;     // it has IT instructions
  uint32_t floats = 0;          // its first instruction on floating-point registers, or its end
  uint32_t missing = 0;         // likewise that the core does not have
};

// Why an access was not made, or an instruction not run; core.py has the same.
enum Why : uint32_t { kFirewall, kNotAligned, kProtected, kFloatsOff, kMissing };

// Bytes that will be as they were before an access that was not made.
struct Undo {
  uint8_t* at;
  std::array<uint8_t, 16> bytes;
  uint32_t size;
};

// One core; native.py has the same fields up to `lines`.
struct Core {
  uint64_t time = 0;          // its cycles since reset was released
  uint64_t deadline = 0;      // it stops at the first block from then on
  uint64_t instructions = 0;  // retired
  uint32_t refused = 0;       // 0, or 1 + the kind of the access that was kept back
  uint32_t size = 0;          // of that access
  uint64_t address = 0;       // likewise, as the core sees it
  uint32_t why = kFirewall;  // of what was refused
  uint32_t aligned = 0;      // it traps on every misaligned access
  uint32_t floats = 0;       // it runs instructions on floating-point registers
  uint32_t until = 0;        // where it has to stop within the block, or 0
  std::array<uint64_t, kClasses> ran{};  // instructions of each class, and what else costs
  uint64_t lines = 0;                    // that came into its instruction cache, where these are counted

  uint64_t clock = 1;  // hertz
  uint64_t host_clock = 1;
  uint32_t master = 0;
  uint32_t expected = 0;  // where the latest block ends
  Engine engine;
  Encoding encoding = kThumb;
  uint32_t extensions = 0;  // bits of Needs that it has
  Protection protection;
  std::vector<int> registers;    // Unicorn's numbers
  std::vector<Undo> undo;        // latest last
  std::vector<uint32_t> before;  // registers as they were, if the core ran on
  bool conditional = false;  // the latest block has instructions in IT blocks
  std::vector<View> views;
  std::array<std::vector<Window>, 2> windows;  // by read, write
  std::array<Window, 2> latest{};              // where the latest access was right
  std::array<uint32_t, kClasses> costs{};
  std::vector<Block> blocks = std::vector<Block>(kBlocks);
  std::shared_ptr<DataCache> cache;  // others may have the same one
  uint32_t line = 0;               // bytes of a line of its instruction cache; 0: these are not counted
  std::vector<uint32_t> held;      // which line is at each place of it
  std::vector<Touched> touched;
  std::optional<CountedCache> counted;  // its data cache, where its lines are counted

  // Its time, in cycles of the host.
  uint64_t host_time() const { return clock == host_clock ? time : time * host_clock / clock; }
  // Which byte of the bus the core sees at an address, if it sees one there.
  std::optional<uint32_t> on_bus(uint64_t address) const;
  bool reaches(uint32_t first, uint32_t last, bool writes);
};

struct Memory {
  uint32_t origin;
  uint32_t size;
  uint8_t* bytes;
};

extern std::vector<Memory> memories;
extern std::vector<std::unique_ptr<Core>> cores;
extern std::vector<std::unique_ptr<DataCache>> npu_caches;

// Call `function` with the data cache of each accelerator, then of each core: one of several more than once.
template <class Function>
void each_cache(Function function) {
  for (const auto& cache : npu_caches) function(*cache);
  for (const auto& core : cores) {
    if (core->cache) function(*core->cache);
  }
}

// Where the host has bytes of one memory, or nullptr.
uint8_t* bytes_at(uint32_t address, size_t size);

// A core makes an access that it may make: it goes through its cache, and others keep what was there.
void through_caches(Core& core, uint32_t address, uint32_t size, bool writes, const void* value);
