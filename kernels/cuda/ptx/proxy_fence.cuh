// Ordinary writes to shared memory before what the asynchronous units (wgmma, copies) read of them.
#pragma once

namespace nmc::ptx {

// By every thread that wrote, before a barrier with those that go on.
__device__ __forceinline__ void fence_async_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace nmc::ptx
