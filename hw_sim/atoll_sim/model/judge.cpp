// SPDX-License-Identifier: Apache-2.0
#include "judge.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "backdoor.h"
#include "monitor.h"

namespace judge {
const char* Judge::load(const std::string& folder) {
  sample_ = folder + "/sample.bin";
  if (!read_task(folder + "/task.txt")) return "task.txt";
  if (!read_expected(folder + "/expected.bin")) return "expected.bin";
  return backdoor::load_image((folder + "/image.bin").c_str()) ? nullptr : "image.bin";
}

bool Judge::read_task(const std::string& path) {
  std::ifstream file(path);
  std::string line, what;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> what;
    words >> limit_;
    if (what != "cycles" || words.fail()) return false;
  }
  return limit_ != 0;
}

bool Judge::read_expected(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<uint32_t, 3> head;
  while (file.read(reinterpret_cast<char*>(head.data()), sizeof head)) {
    Expected record{head[0], head[1], std::vector<uint8_t>(head[2])};
    if (!file.read(reinterpret_cast<char*>(record.bytes.data()), head[2])) return false;
    expected_.push_back(std::move(record));
  }
  return file.eof() && file.gcount() == 0;
}

bool Judge::go_on(uint32_t& request) {
  const monitor::Log& log = monitor::log();
  if (!monitor::watcher().findings().empty()) return end("finding", 0);
  if (log.cycle >= limit_) return end("limit", 0);
  for (; seen_ < log.events.size(); ++seen_) {
    const record::Event& event = log.events[seen_];
    switch (event.kind) {
      case record::kExit: return end(event.value || finished_ ? "exit" : "early", event.value);
      case record::kTrap: return end("trap", event.value);
      case record::kRests: return end("limit", event.value);
      case record::kResult:
        if (event.value) return end("status", event.value);
        break;
      case record::kTrace:
        if (!answer(event.value, request)) return false;
        break;
      default: break;
    }
  }
  return true;
}

bool Judge::answer(uint32_t word, uint32_t& request) {
  switch (console::event_of(word)) {
    case console::kOperatorEnd: return compare(console::operator_of(word));
    case console::kReady:
      if (!asked_ && !backdoor::load_image(sample_.c_str())) return end("sample", 0);
      request = asked_ ? console::kLeave : console::kRun;
      asked_ = true;
      return true;
    case console::kRunBegin: request = console::kNone; return true;
    case console::kRunEnd: finished_ = true; return compare(record::kAfterRun);
    default: return true;
  }
}

bool Judge::compare(uint32_t op) {
  for (const Expected& expected : expected_) {
    if (expected.op != op) continue;
    std::vector<uint8_t> found(expected.bytes.size());
    if (!backdoor::peek(expected.address, found.size(), found.data())) continue;
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] == expected.bytes[i]) continue;
      op_ = op;
      address_ = expected.address + static_cast<uint32_t>(i);
      return end("bytes", 0);
    }
  }
  return true;
}

bool Judge::end(const char* stop, uint32_t value) {
  stop_ = stop;
  value_ = value;
  return false;
}

void Judge::print() const {
  std::printf("{\"stop\": \"%s\", \"value\": %" PRIu32 ", \"operator\": %" PRIu32
              ", \"address\": %" PRIu32 ", \"cycle\": %" PRIu64 ", \"finding\": \"",
              stop_, value_, op_, address_, monitor::log().cycle);
  const auto& findings = monitor::watcher().findings();
  if (!findings.empty()) {
    std::array<uint8_t, sizeof(shadow::Finding)> bytes;
    std::memcpy(bytes.data(), &findings.front(), bytes.size());
    for (uint8_t byte : bytes) std::printf("%02x", byte);
  }
  std::printf("\"}\n");
}

}  // namespace judge
