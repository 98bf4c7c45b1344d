/* SPDX-License-Identifier: Apache-2.0 */
// The data cache of a core: lines between the core's view of memory and memory itself.
//
// It is as unkind as a cache may be. Whenever another device writes, it has taken in the old bytes before;
// what the core stored it either keeps for ever, or writes back at odd moments, also right after another
// device wrote there.
#pragma once
#include <cstdint>
#include <vector>

class DataCache {
 public:
  DataCache(uint32_t line, bool write_back, uint32_t seed);

  // It works on a memory; `view` is what the core sees of it, as many bytes.
  void cover(uint32_t origin, uint32_t size, uint8_t* memory, uint8_t* view);

  // From now on it keeps lines; unless `forgotten`, they hold what nobody stored.
  void turn_on(bool forgotten);

  // The core is about to load, or to store `value`.
  void load(uint32_t address, uint32_t size);
  void store(uint32_t address, uint32_t size, const void* value);

  // What the core does to the line of an address.
  void clean(uint32_t address);
  void invalidate(uint32_t address);

  // Memory is about to change elsewhere than through this cache.
  void take_in_all();
  void take_in(uint32_t address, uint32_t size);
  // Another device wrote.
  void written(uint32_t address, uint32_t size);
  // The core begins a block of instructions.
  void step();

  // Put over `bytes`, read from memory, what is dirty, or all that is there.
  void overlay(uint32_t address, uint32_t size, uint8_t* bytes, bool dirty_only) const;

  // What the core would see, or nullptr where it does not work.
  uint8_t* view_at(uint32_t address, uint32_t size);

 private:
  enum State : uint8_t { kInvalid, kClean, kDirty };
  struct Area {
    uint32_t origin;
    uint32_t size;
    uint8_t* memory;
    uint8_t* view;
    std::vector<State> states;
  };
  struct Line {
    Area* area;
    uint32_t first;  // offset of its first byte
    uint32_t bytes;  // less than a line at a memory's end
    State& state() const;
    uint32_t size;
  };

  template <class Function>
  void each_line(uint32_t address, uint32_t size, Function function);
  Area* area_at(uint32_t address, uint32_t size);
  void fill(const Line& line);
  void write_back_line(const Line& line, State after);
  void evict_all();

  uint32_t line_;
  bool write_back_;
  bool on_ = false;  // while it is off, every access is one of memory
  uint32_t random_;  // 0: dirty lines stay
  uint32_t left_ = 0;
  std::vector<Area> areas_;
};
