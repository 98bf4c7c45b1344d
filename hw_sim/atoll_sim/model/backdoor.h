/* SPDX-License-Identifier: Apache-2.0 */
// The chip's memories from outside, in the order of their addresses, in no simulated time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backdoor {

// Find the arrays of all banks, and fill rams with a pattern, roms with what erased flash reads.
// Returns the name of a memory that the model lacks, or null.
const char* open();

// Fill all memories again, as at the start.
void fill();

// Copy bytes out of or into one memory. False, and nothing done, if they are not all inside it.
bool peek(uint32_t address, size_t size, uint8_t* to);
bool poke(uint32_t address, size_t size, const uint8_t* from);

// Write the records (address, size, bytes; little-endian words) of a file. False if it is not
// such a file or some record does not fit.
bool load_image(const char* path);

}  // namespace backdoor
