// Kernels that may start before the one ahead of them in the stream is done (programmatic stream
// serialization). Without that attribute at the launch both do nothing.
#pragma once

namespace nmc::ptx {

// Until all kernels ahead have finished and what they wrote can be seen. Every kernel must call it:
// the one behind relies on that to be behind all of them.
__device__ __forceinline__ void wait_for_kernels_ahead() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start as soon as all CTAs have come here and there is room.
__device__ __forceinline__ void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace nmc::ptx
