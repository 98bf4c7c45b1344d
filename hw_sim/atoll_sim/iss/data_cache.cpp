// SPDX-License-Identifier: Apache-2.0
#include "data_cache.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr int kNothing = 0xc5;         // what lines hold that were never filled
constexpr uint32_t kMostBlocks = 512;  // between two moments at which all dirty lines leave

uint32_t next_random(uint32_t state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ state << 5;
}

}  // namespace

DataCache::DataCache(uint32_t line, bool write_back, uint32_t seed)
    : line_(line), write_back_(write_back), random_(seed) {}

void DataCache::cover(uint32_t origin, uint32_t size, uint8_t* memory, uint8_t* view) {
  std::memcpy(view, memory, size);
  areas_.push_back({origin, size, memory, view, std::vector<State>((size + line_ - 1) / line_, kInvalid)});
}

DataCache::State& DataCache::Line::state() const { return area->states[first / size]; }

DataCache::Area* DataCache::area_at(uint32_t address, uint32_t size) {
  for (Area& area : areas_) {
    const uint32_t offset = address - area.origin;
    if (offset < area.size && size <= area.size - offset) return &area;
  }
  return nullptr;
}

template <class Function>
void DataCache::each_line(uint32_t address, uint32_t size, Function function) {
  Area* area = area_at(address, size);
  if (!area || size == 0) return;
  const uint32_t offset = address - area->origin, end = offset + size;
  for (uint32_t first = offset / line_ * line_; first < end; first += line_) {
    function(Line{area, first, std::min(line_, area->size - first), line_});
  }
}

void DataCache::fill(const Line& line) {
  if (line.state() != kInvalid) return;
  std::memcpy(line.area->view + line.first, line.area->memory + line.first, line.bytes);
  if (on_) line.state() = kClean;
}

void DataCache::write_back_line(const Line& line, State after) {
  if (line.state() != kDirty) return;
  std::memcpy(line.area->memory + line.first, line.area->view + line.first, line.bytes);
  line.state() = after;
}

void DataCache::turn_on(bool forgotten) {
  on_ = true;
  for (Area& area : areas_) {
    if (forgotten) continue;
    std::fill(area.states.begin(), area.states.end(), kClean);
    std::memset(area.view, kNothing, area.size);
  }
}

void DataCache::load(uint32_t address, uint32_t size) {
  each_line(address, size, [this](const Line& line) { fill(line); });
}

void DataCache::store(uint32_t address, uint32_t size, const void* value) {
  each_line(address, size, [this](const Line& line) {
    fill(line);
    if (on_ && write_back_) line.state() = kDirty;
  });
  Area* area = on_ && write_back_ ? nullptr : area_at(address, size);
  if (area) std::memcpy(area->memory + (address - area->origin), value, size);
}

void DataCache::clean(uint32_t address) {
  each_line(address, 1, [this](const Line& line) { write_back_line(line, kClean); });
}

void DataCache::invalidate(uint32_t address) {
  each_line(address, 1, [](const Line& line) { line.state() = kInvalid; });
}

void DataCache::take_in_all() {
  for (const Area& area : areas_) take_in(area.origin, area.size);
}

void DataCache::take_in(uint32_t address, uint32_t size) {
  each_line(address, size, [this](const Line& line) { fill(line); });
}

void DataCache::written(uint32_t address, uint32_t size) {
  if (random_ == 0) return;
  each_line(address, size, [this](const Line& line) { write_back_line(line, kInvalid); });
}

void DataCache::step() {
  if (random_ == 0 || left_-- != 0) return;
  evict_all();
  random_ = next_random(random_);
  left_ = random_ % kMostBlocks;
}

void DataCache::evict_all() {
  for (const Area& area : areas_) {
    each_line(area.origin, area.size, [this](const Line& line) { write_back_line(line, kInvalid); });
  }
}

void DataCache::overlay(uint32_t address, uint32_t size, uint8_t* bytes, bool dirty_only) const {
  for (const Area& area : areas_) {
    for (uint32_t done = 0; done < size; ++done) {
      const uint32_t offset = address + done - area.origin;
      if (offset >= area.size) continue;
      const State state = area.states[offset / line_];
      if (state == kDirty || (state == kClean && !dirty_only)) bytes[done] = area.view[offset];
    }
  }
}

uint8_t* DataCache::view_at(uint32_t address, uint32_t size) {
  Area* area = area_at(address, size);
  return area ? area->view + (address - area->origin) : nullptr;
}
