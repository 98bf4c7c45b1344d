// SPDX-License-Identifier: Apache-2.0
#include "memory_map.h"

#include <cstring>
#include <fstream>
#include <string>

#include "chip.h"

namespace chip {
namespace {

Map only;

// A window as window_t has it, its lower word first.
struct Window {
  uint32_t last;
  uint32_t first;
};

const Strap* find(const std::string& name) {
  for (const Strap& strap : kStraps) {
    if (name == strap.name) return &strap;
  }
  return nullptr;
}

// The first windows of the memory map are the memories.
bool add_memory(const Shape& shape, const Window& window) {
  const uint32_t size = window.last - window.first + 1;
  only.memories.push_back({shape, window.first, size});
  return size <= shape.room;
}

}  // namespace

bool load_map(const char* path, Vtop& top) {
  only.masters = kMasters;
  std::ifstream file(path);
  std::string name;
  uint32_t number = 0;
  size_t set = 0;
  Window window;
  for (const Clock& clock : kClocks) {
    uint64_t half_period = 0;
    if (!(file >> name >> half_period) || name != clock.name) return false;
    only.half_periods.push_back(half_period);
  }
  while (file >> name >> std::dec >> number >> std::hex >> window.first >> window.last) {
    const Strap* strap = find(name);
    if (!strap || number >= strap->windows) return false;
    std::memcpy(static_cast<Window*>(strap->data(top)) + number, &window, sizeof window);
    if (strap == kStraps && number < std::size(kShapes) && !add_memory(kShapes[number], window)) {
      return false;
    }
    ++set;
  }
  size_t wanted = 0;
  for (const Strap& strap : kStraps) wanted += strap.windows;
  return file.eof() && set == wanted && only.memories.size() == std::size(kShapes);
}

const Map& map() { return only; }

}  // namespace chip
