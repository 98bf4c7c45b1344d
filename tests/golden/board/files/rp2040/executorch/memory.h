/* Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * The pools in which ExecuTorch has the tensors of a program that memory_planning.py has planned. */
#pragma once

#include <cstdint>

#include <executorch/runtime/core/hierarchical_allocator.h>

namespace atoll_pools {

/* Buffer n of a method lies in span n, whose `mem_id` was n + 1 while it was planned. Nothing else may
 * lie there while the method is loaded. */
inline ::executorch::runtime::Span<uint8_t> planned_memory[] = {
    {reinterpret_cast<uint8_t *>(static_cast<uintptr_t>(0x20002080)), 253824}, /* arena */
};

/* Return what a MemoryManager takes. */
inline ::executorch::runtime::HierarchicalAllocator planned_allocator() {
  return ::executorch::runtime::HierarchicalAllocator({planned_memory, 1});
}

}  // namespace atoll_pools
