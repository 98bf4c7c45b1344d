/* SPDX-License-Identifier: Apache-2.0 */
// Records waveforms of the model, for the cycles or the operator that a file asks for.
#pragma once

#include <cstdint>
#include <memory>

class Vtop;

namespace recorder {

struct Settings {
  uint64_t first = 0;       // cycle
  uint64_t last = ~0ULL;    // cycle, included
  uint64_t limit = ~0ULL;   // bytes of the file
  bool only_wanted = false; // record nothing but the wanted operator's first run
};

class Recorder {
 public:
  // Opens `waves`, as `settings` says; the model must be built for it.
  Recorder(Vtop& top, const char* waves, const char* settings);
  ~Recorder();
  void dump(uint64_t time);
  // Closes the file, and writes to `recorded.txt` the first and last cycle, and whether it is full.
  // Happens by itself at the end, and when a failed assertion ends the process.
  void close();

 private:
  struct File;
  bool wanted_now();
  void check_size();

  std::unique_ptr<File> file_;
  Settings settings_;
  uint64_t begun_ = 0;
  uint64_t ended_ = 0;
  uint64_t dumps_ = 0;
  bool full_ = false;
  bool closed_ = false;
};

}  // namespace recorder
