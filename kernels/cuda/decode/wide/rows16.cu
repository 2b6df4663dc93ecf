#include "kernels/cuda/decode/wide/instance.cuh"

template struct nmc::decode::wide::WideInstance<16>;
