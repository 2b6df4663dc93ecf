// Tiny checkpoints, built by hand: names and shapes are spelled out here, not taken from the code
// under test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/bf16.h"
#include "runtime/base/json.h"
#include "runtime/format/model_file.h"

namespace nmc {

struct TestTensor {
  std::vector<uint64_t> shape;
  std::string bytes;
  std::string dtype = "BF16";
};
using TestTensors = std::map<std::string, TestTensor>;

// Any 16 bits, NaNs included: conversion must not look at values.
Bf16 test_value(const std::string& name, uint64_t index);
TestTensor test_tensor(const std::string& name, std::vector<uint64_t> shape);
TestTensor zeros(std::vector<uint64_t> shape);

// A dense and a sparse layer, 3 experts, shared experts; no size divides a tile.
Json small_config();
// Its tensors under their usual names, one per expert; the head is tied.
TestTensors small_tensors();

// The same weights in other layouts.
TestTensors with_prefix(const TestTensors& tensors, const std::string& from, const std::string& to);
TestTensors with_fused_experts(TestTensors tensors);             // transformers in memory
TestTensors with_stacked_experts(TestTensors tensors);           // MLX
TestTensors with_dtype(TestTensors tensors, const char* dtype);  // F32: exact; others: re-labelled

void write_text(const std::filesystem::path& path, const std::string& text);
void write_safetensors(const std::filesystem::path& path, const TestTensors& tensors);
// A new folder with config.json and model.safetensors.
std::filesystem::path write_checkpoint(const std::filesystem::path& folder, const Json& config,
                                       const TestTensors& tensors);
// A new folder with config.json, an index and one file per element.
std::filesystem::path write_shards(const std::filesystem::path& folder, const Json& config,
                                   const std::vector<TestTensors>& shards);

// Converts with `threads` threads; fails the test and throws when conversion fails.
ModelFile convert_ok(const std::filesystem::path& folder, size_t threads = 2, bool cast = false);
// The sentence of a conversion that must fail; "" when it succeeds.
std::string convert_error(const std::filesystem::path& folder, bool cast = false);

// Every stored byte of the weights, padding included.
std::string weights_of(const ModelFile& file);

}  // namespace nmc
