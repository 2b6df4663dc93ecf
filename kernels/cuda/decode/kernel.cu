// Compiles the default build of the decode kernel with the library.
#include "kernels/cuda/decode/kernel.cuh"

namespace nmc::decode {

template __global__ void decode_kernel<DefaultConfig>(const __grid_constant__ Params);

}  // namespace nmc::decode
