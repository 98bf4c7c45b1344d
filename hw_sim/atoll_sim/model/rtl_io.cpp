// SPDX-License-Identifier: Apache-2.0
// What RTL reads and prints: the linker sends Verilator's calls of fopen and printf here.
//
// A file that RTL reads by a relative name ($readmemh, $fopen) is looked for in the folders that
// the environment lists. One that $readmem does not find, or finds twice with other contents, ends
// the simulation. What RTL prints ($display, $warning, messages of Verilator's runtime) also goes
// to a file in the working folder, because the log has the output of others too.

#include <sys/stat.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" FILE* __real_fopen(const char* name, const char* mode);

namespace {

constexpr char kFolders[] = "ATOLL_RTL_FOLDERS";
constexpr char kSaid[] = "rtl.log";
constexpr char kMissing[] = "$readmem file not found";
constexpr char kEnd[] = "- :0: ";  // the bench ends the simulation, not RTL
constexpr int kNoFile = 86;  // status that Python knows, model/process.py
constexpr long kMost = 1 << 20;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_file(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

FILE* said() {
  static FILE* file = __real_fopen(kSaid, "w");
  return file;
}

[[noreturn]] void end(const std::string& why) {
  if (said()) {
    std::fputs(why.c_str(), said());
    std::fflush(said());
  }
  std::fflush(stdout);
  std::_Exit(kNoFile);
}

// The places of a file below the folders, from the first folder on.
std::vector<std::string> places(const std::string& name) {
  std::vector<std::string> found;
  const char* listed = std::getenv(kFolders);
  std::string folders = listed ? listed : "";
  for (size_t at = 0; at < folders.size();) {
    const size_t stop = std::min(folders.find('\n', at), folders.size());
    const std::string path = folders.substr(at, stop - at) + "/" + name;
    if (is_file(path)) found.push_back(path);
    at = stop + 1;
  }
  return found;
}

// Verilator prints with these formats; the programs around the model have others.
bool is_verilators(const char* format) {
  return !std::strcmp(format, "%s") || !std::strncmp(format, "%s: ", 4) ||
         !std::strncmp(format, "%s-%.*s", 7) || !std::strncmp(format, "- ", 2);
}

}  // namespace

extern "C" FILE* __wrap_fopen(const char* name, const char* mode) {
  const bool reads = mode[0] == 'r' && !std::strchr(mode, '+');
  if (!reads || name[0] == '/') return __real_fopen(name, mode);
  const std::vector<std::string> found = places(name);
  for (const std::string& other : found) {
    if (contents(other) != contents(found.front())) {
      end(std::string("%File: ") + name + "\n" + found.front() + "\n" + other + "\n");
    }
  }
  return __real_fopen(found.empty() ? name : found.front().c_str(), mode);
}

extern "C" int __wrap_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::vector<char> text(length > 0 ? length + 1 : 1);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  std::fputs(text.data(), stdout);
  if (!is_verilators(format) || !std::strncmp(text.data(), kEnd, sizeof kEnd - 1)) return length;
  if (std::strstr(text.data(), kMissing)) end(text.data());
  if (said() && std::ftell(said()) < kMost) {
    std::fputs(text.data(), said());
    std::fflush(said());
  }
  return length;
}
