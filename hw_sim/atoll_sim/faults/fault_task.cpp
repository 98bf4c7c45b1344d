// SPDX-License-Identifier: Apache-2.0
#include "fault_task.h"

#include <fstream>
#include <sstream>

namespace faults {
namespace {

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

bool read_task(const char* path, Task& task) {
  std::ifstream file(path);
  for (std::string line, word; std::getline(file, line);) {
    std::istringstream in(line);
    in >> word;
    if (word == "image") in >> task.image;
    if (word == "limit") in >> task.limit;
    if (word == "input") {
      std::string hex;
      uint32_t address;
      in >> address >> hex;
      task.inputs.push_back({address, from_hex(hex)});
    }
    if (word == "output") {
      size_t size;
      uint32_t address;
      in >> address >> size;
      task.outputs.push_back({address, std::vector<uint8_t>(size)});
    }
    if (word == "fault") {
      Fault fault;
      in >> fault.kind >> fault.offset >> fault.where >> fault.what;
      task.faults.push_back(fault);
    }
    if (!in) return false;
  }
  return file.eof() && !task.image.empty();
}

}  // namespace faults
