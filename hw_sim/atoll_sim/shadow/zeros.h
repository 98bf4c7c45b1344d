/* SPDX-License-Identifier: Apache-2.0 */
// An array that is zero at first, and takes no memory where nothing is written.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace shadow {

template <typename T>
class Zeros {
 public:
  explicit Zeros(size_t count) : items_(nullptr, Unmap{count * sizeof(T)}) { clear(); }

  T& operator[](size_t index) { return items_.get()[index]; }
  const T& operator[](size_t index) const { return items_.get()[index]; }

  // Make all of it zero again.
  void clear() {
    constexpr int kLazily = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;
    const size_t bytes = items_.get_deleter().bytes;
    items_.reset();
    void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kLazily, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    items_.reset(static_cast<T*>(made));
  }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(T* items) const { munmap(items, bytes); }
  };

  std::unique_ptr<T, Unmap> items_;
};

}  // namespace shadow
