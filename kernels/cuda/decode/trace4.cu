#include "kernels/cuda/decode/instance.cuh"

template struct nmc::decode::Instance<4, true>;
