// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "Vtop.h"
#include "monitor.h"
#include "protocol.h"
#include "svdpi.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#else
#include "verilated_vcd_c.h"
#endif

namespace recorder {
namespace {

constexpr uint64_t kDumpsBetweenChecks = 1024;

// What TRACE events say about one device.
struct Device {
  std::vector<uint32_t> under_way;
  uint64_t runs = 0;
};

// Names of the operators, by model and number; states of the devices, by ordinal.
std::vector<std::map<uint32_t, std::string>> names;
std::map<uint32_t, Device> devices;
// Where the wanted operator's first run is.
enum class Wanted { kAhead, kUnderWay, kJustEnded, kOver } progress = Wanted::kAhead;
uint32_t wanted_model = 0;
uint32_t wanted_number = 0;

const std::string& name_of(const Device& device, uint32_t number) {
  static const std::string unknown = "?";
  if (names.empty()) return unknown;
  const auto& model = names[(device.runs ? device.runs - 1 : 0) % names.size()];
  const auto found = model.find(number);
  return found == model.end() ? unknown : found->second;
}

// The operators under way, "" if there is none; the middle of what exceeds `size` is left out.
std::string text_of(const Device& device, size_t size) {
  std::string text;
  for (const uint32_t number : device.under_way) {
    if (!text.empty()) text += '+';
    text += name_of(device, number);
  }
  if (text.size() <= size) return text;
  const size_t head = (size - 2) / 2;
  return text.substr(0, head) + ".." + text.substr(text.size() - (size - 2 - head));
}

void watch_wanted(const Device& device, uint32_t what, uint32_t number) {
  if (number != wanted_number || device.runs != wanted_model + 1) return;
  if (what == console::kOperatorBegin && progress == Wanted::kAhead) progress = Wanted::kUnderWay;
  if (what == console::kOperatorEnd && progress == Wanted::kUnderWay) progress = Wanted::kJustEnded;
}

void follow(Device& device, uint32_t ordinal, uint32_t word) {
  const uint32_t what = console::event_of(word);
  const uint32_t number = console::operator_of(word);
  auto& under_way = device.under_way;
  if (what == console::kRunBegin || what == console::kRunEnd) under_way.clear();
  device.runs += what == console::kRunBegin;
  if (console::device_of(word) != ordinal) return;
  if (what == console::kOperatorBegin) under_way.push_back(number);
  if (what == console::kOperatorEnd) {
    under_way.erase(std::remove(under_way.begin(), under_way.end(), number), under_way.end());
  }
  watch_wanted(device, what, number);
}

// Lines of a word and its values; see `recording.py`.
Settings read_settings(const char* path) {
  Settings read;
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (word == "first") file >> read.first;
    if (word == "last") file >> read.last;
    if (word == "limit") file >> read.limit;
    if (word == "wanted") file >> wanted_model >> wanted_number;
    read.only_wanted |= word == "wanted";
    if (word != "operator") continue;
    size_t model = 0;
    uint32_t number = 0;
    file >> model >> number >> std::ws;
    if (names.size() <= model) names.resize(model + 1);
    std::getline(file, names[model][number]);
  }
  return read;
}

}  // namespace

#if VM_TRACE_FST
struct Recorder::File : VerilatedFstC {
  std::string path;
};
#else
struct Recorder::File : VerilatedVcdC {
  std::string path;
};
#endif

Recorder::Recorder(Vtop& top, const char* waves, const char* settings)
    : file_(new File), settings_(read_settings(settings)) {
  file_->path = waves;
  top.trace(file_.get(), 99);
  file_->open(waves);
  Verilated::addExitCb([](void* self) { static_cast<Recorder*>(self)->close(); }, this);
}

Recorder::~Recorder() { close(); }

void Recorder::close() {
  if (closed_) return;
  closed_ = true;
  file_->close();
  std::ofstream("recorded.txt") << begun_ << ' ' << ended_ << ' ' << full_ << '\n';
}

void Recorder::dump(uint64_t time) {
  const uint64_t cycle = monitor::log().cycle;
  if (full_ || cycle < settings_.first || cycle > settings_.last || !wanted_now()) return;
  file_->dump(time);
  if (dumps_++ == 0) begun_ = cycle;
  ended_ = cycle;
  if (dumps_ % kDumpsBetweenChecks == 0) check_size();
}

// The edge at which the operator ends is the last one recorded.
bool Recorder::wanted_now() {
  if (!settings_.only_wanted) return true;
  if (progress == Wanted::kJustEnded) {
    progress = Wanted::kOver;
    return true;
  }
  return progress == Wanted::kUnderWay;
}

void Recorder::check_size() {
  std::error_code unknown;
  const uint64_t size = std::filesystem::file_size(file_->path, unknown);
  full_ = !unknown && size >= settings_.limit;
}

}  // namespace recorder

// Called from the SystemVerilog, atoll_operator_name.sv.
extern "C" void atoll_name_operator(unsigned ordinal, unsigned word, unsigned size,
                                    svBitVecVal* text) {
  using namespace recorder;
  Device& device = devices[ordinal];
  follow(device, ordinal, word);
  const std::string name = text_of(device, size);
  std::fill(text, text + size / sizeof(svBitVecVal), 0U);
  for (size_t i = 0; i < name.size(); ++i) {
    const auto character = static_cast<unsigned char>(name[name.size() - 1 - i]);
    text[i / 4] |= static_cast<svBitVecVal>(character) << (8 * (i % 4));
  }
}
