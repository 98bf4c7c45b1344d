// SPDX-License-Identifier: Apache-2.0
// The data caches of cores and accelerators, between each other and as Python sees them (native.py).
#include <cstring>

#include "backdoor.h"
#include "iss.h"

void through_caches(Core& core, uint32_t address, uint32_t size, bool writes, const void* value) {
  if (core.cache && writes) core.cache->store(address, size, value);
  if (core.cache && !writes) core.cache->load(address, size);
  if (core.cache || !writes) return;
  each_cache([&](DataCache& other) { other.take_in(address, size); });
}

namespace {

// Clean, or invalidate, the line of an address; others take in what is in memory before.
void maintain(DataCache& cache, uint32_t address, bool cleans) {
  if (!cleans) {
    cache.invalidate(address);
    return;
  }
  each_cache([&](DataCache& other) {
    if (&other != &cache) other.take_in(address, 1);
  });
  cache.clean(address);
  each_cache([&](DataCache& other) {
    if (&other != &cache) other.written(address, 1);
  });
}

}  // namespace

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
  if (core->cache) maintain(*core->cache, address, cleans != 0);
}

// Write bytes to memory as somebody without a cache would.
void atoll_iss_poke(uint32_t address, uint32_t size, const uint8_t* bytes) {
  each_cache([&](DataCache& cache) { cache.take_in(address, size); });
  std::memcpy(bytes_at(address, size), bytes, size);
  each_cache([&](DataCache& cache) { cache.written(address, size); });
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
  each_cache([](DataCache& cache) { cache.take_in_all(); });
}

void atoll_iss_engine_wrote(uint32_t address, uint32_t size) {
  each_cache([&](DataCache& cache) { cache.written(address, size); });
}

// Give an accelerator a data cache; return its number.
uint32_t atoll_iss_npu_cache(uint32_t line, int write_back, uint32_t seed) {
  npu_caches.push_back(std::make_unique<DataCache>(line, write_back != 0, seed));
  return static_cast<uint32_t>(npu_caches.size() - 1);
}

// It works on a memory, of which it holds what nobody stored.
void atoll_iss_npu_cover(uint32_t number, uint32_t origin, uint32_t size, uint8_t* view) {
  npu_caches[number]->cover(origin, size, bytes_at(origin, size), view);
}

void atoll_iss_npu_cache_on(uint32_t number) { npu_caches[number]->turn_on(false); }

void atoll_iss_npu_maintain(uint32_t number, uint32_t address, int cleans) {
  maintain(*npu_caches[number], address, cleans != 0);
}

// The accelerator reads bytes of one memory, or writes them.
void atoll_iss_npu_load(uint32_t number, uint32_t address, uint32_t size, uint8_t* bytes) {
  npu_caches[number]->load(address, size);
  std::memcpy(bytes, bytes_at(address, size), size);
  npu_caches[number]->overlay(address, size, bytes, false);
}

void atoll_iss_npu_store(uint32_t number, uint32_t address, uint32_t size, const uint8_t* bytes) {
  npu_caches[number]->store(address, size, bytes);
  uint8_t* view = npu_caches[number]->view_at(address, size);
  std::memcpy(view ? view : bytes_at(address, size), bytes, size);
}

int atoll_iss_peek(uint32_t address, size_t size, uint8_t* bytes) { return backdoor::peek(address, size, bytes); }

}  // extern "C"
