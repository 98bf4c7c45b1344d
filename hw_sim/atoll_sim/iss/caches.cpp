// SPDX-License-Identifier: Apache-2.0
// The data caches of the cores, between each other and as Python sees them (native.py).
#include <cstring>

#include "backdoor.h"
#include "iss.h"

void through_caches(Core& core, uint32_t address, uint32_t size, bool writes, const void* value) {
  if (core.cache && writes) core.cache->store(address, size, value);
  if (core.cache && !writes) core.cache->load(address, size);
  if (core.cache || !writes) return;
  for (const auto& other : cores) {
    if (other->cache) other->cache->take_in(address, size);
  }
}

extern "C" {

// Give a core a data cache, which is off; with a seed other than 0 its dirty lines leave at odd moments.
void atoll_iss_cache(Core* core, uint32_t line, int write_back, uint32_t seed) {
  core->cache = std::make_shared<DataCache>(line, write_back != 0, seed);
}

// Give a core the data cache that another one has.
void atoll_iss_share_cache(Core* core, const Core* other) { core->cache = other->cache; }

void atoll_iss_cover(Core* core, uint32_t origin, uint32_t size, uint8_t* view) {
  core->cache->cover(origin, size, bytes_at(origin, size), view);
}

void atoll_iss_cache_on(Core* core, int forgotten) { core->cache->turn_on(forgotten != 0); }

// The core cleans or invalidates the line of an address.
void atoll_iss_maintain(Core* core, uint32_t address, int cleans) {
  if (core->counted) core->counted->maintain(address, cleans != 0);
  if (!core->cache) return;
  if (!cleans) {
    core->cache->invalidate(address);
    return;
  }
  for (const auto& other : cores) {
    if (other->cache && other->cache != core->cache) other->cache->take_in(address, 1);
  }
  core->cache->clean(address);
}

// Store bytes as `core` would.
void atoll_iss_store(Core* core, uint32_t address, uint32_t size, const uint8_t* bytes) {
  through_caches(*core, address, size, true, bytes);
  uint8_t* view = core->cache->view_at(address, size);
  std::memcpy(view ? view : bytes_at(address, size), bytes, size);
}

// Load bytes as `core` would.
void atoll_iss_load(const Core* core, uint32_t address, uint32_t size, uint8_t* bytes) {
  std::memcpy(bytes, bytes_at(address, size), size);
  core->cache->overlay(address, size, bytes, false);
}

// An engine is about to run a list; it wrote there.
void atoll_iss_engine_begins() {
  for (const auto& core : cores) {
    if (core->cache) core->cache->take_in_all();
  }
}

void atoll_iss_engine_wrote(uint32_t address, uint32_t size) {
  for (const auto& core : cores) {
    if (core->cache) core->cache->written(address, size);
  }
}

int atoll_iss_peek(uint32_t address, size_t size, uint8_t* bytes) { return backdoor::peek(address, size, bytes); }

}  // extern "C"
