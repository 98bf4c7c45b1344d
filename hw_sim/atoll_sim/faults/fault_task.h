/* SPDX-License-Identifier: Apache-2.0 */
// What the runs of a campaign are: an image, its inputs and outputs, and the faults; see task.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace faults {

struct Fault {
  std::string kind;
  uint64_t offset = 0;  // cycles from the beginning of the run
  uint32_t where = 0;   // master, memory, line or address
  uint64_t what = 0;    // response, cycles or bit
};

struct Bytes {
  uint32_t address;
  std::vector<uint8_t> data;
};

struct Task {
  std::string image;
  uint64_t limit = 0;
  std::vector<Bytes> inputs;
  std::vector<Bytes> outputs;
  std::vector<Fault> faults;
};

// Read a task. False if the file is none.
bool read_task(const char* path, Task& task);

}  // namespace faults
