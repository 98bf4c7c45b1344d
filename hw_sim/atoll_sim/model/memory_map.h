/* SPDX-License-Identifier: Apache-2.0 */
// Where the memories of this chip lie, and what its devices reach: set when the simulation begins.
//
// The map's file has a line for each clock, the host's first, with the picoseconds of half a cycle,
// then one for each window of each strap, in hexadecimal; none is inside a window whose last byte is
// below its first:
//   CLOCK N
//   STRAP NUMBER FIRST LAST
#pragma once

#include <cstdint>
#include <vector>

class Vtop;

namespace chip {

// A clock that the top level takes.
struct Clock {
  const char* name;
  uint8_t* (*wire)(Vtop&);
};

// A memory as it is built.
struct Shape {
  uint32_t room;        // bytes of its banks
  uint32_t word_bytes;  // of a bank, moved per cycle
  uint32_t banks;
  bool writable;
  const char* instance;
};

// An input of the top level that takes windows.
struct Strap {
  const char* name;
  uint32_t windows;
  void* (*data)(Vtop&);
};

// A memory where this chip has it.
struct Memory : Shape {
  uint32_t origin;
  uint32_t size;
};

struct Map {
  std::vector<uint64_t> half_periods;  // picoseconds of half a cycle of each clock
  uint32_t masters = 0;                // cores and accelerators
  std::vector<Memory> memories;
};

// Read the map and set the straps; false if the file is damaged or of another chip.
bool load_map(const char* path, Vtop& top);

const Map& map();

}  // namespace chip
