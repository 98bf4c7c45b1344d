/* SPDX-License-Identifier: Apache-2.0 */
// Runs one sample without Python and stops at the first thing that is wrong.
//
// The folder of a trial holds image.bin and sample.bin, records as backdoor.h has them;
// expected.bin, records (operator, address, size, bytes) that must be there when that operator
// ends, or for operator record::kAfterRun when the run does; and task.txt:
//   cycles N   stop after so many
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace judge {

class Judge {
 public:
  // Read the folder and load the image. Returns what is wrong, or null.
  const char* load(const std::string& folder);

  // Look at what has happened; false at the end. `request` is what the console's REQUEST reads.
  bool go_on(uint32_t& request);

  // Write the verdict as one JSON object to standard output.
  void print() const;

 private:

  struct Expected {
    uint32_t op;
    uint32_t address;
    std::vector<uint8_t> bytes;
  };

  bool read_task(const std::string& path);
  bool read_expected(const std::string& path);
  bool answer(uint32_t word, uint32_t& request);
  bool compare(uint32_t op);
  bool end(const char* stop, uint32_t value);

  std::string sample_;
  std::vector<Expected> expected_;
  uint64_t limit_ = 0;
  size_t seen_ = 0;
  bool asked_ = false;
  bool finished_ = false;
  const char* stop_ = "";
  uint32_t value_ = 0;   // status, exit status or master
  uint32_t op_ = 0;      // where bytes differ
  uint32_t address_ = 0;
};

}  // namespace judge
