// Models whose sizes divide well, badly and not at all.
#pragma once

#include <string>
#include <vector>

#include "runtime/model/description.h"

namespace nmc::plan {

struct Geometry {
  std::string name;
  ModelDescription model;
};

inline ModelDescription small_model() {
  ModelDescription m;
  m.architecture = "cohere2_moe";
  m.vocab = 512;
  m.hidden = 128;
  m.heads = 4;
  m.kv_heads = 2;
  m.head_dim = 32;
  m.dense_width = 256;
  m.expert_width = 32;
  m.experts = 8;
  m.experts_per_token = 2;
  m.max_context = 512;
  m.layers = {{false, true, 0}, {true, true, 16}, {true, false, 0}};
  return m;
}

inline std::vector<Geometry> geometries() {
  std::vector<Geometry> all{{"small", small_model()}};
  ModelDescription m = small_model();
  m.shared_experts = 2;
  m.tied_head = false;
  all.push_back({"shared experts, own head", m});

  m = small_model();
  m.layers = {{false, true, 0}, {false, true, 7}};
  m.experts = m.experts_per_token = m.expert_width = 0;
  all.push_back({"dense only", m});

  m = small_model();
  m.hidden = 88;  // 11 groups
  m.vocab = 333;
  m.heads = 3;
  m.kv_heads = 1;
  m.head_dim = 20;
  m.dense_width = 50;
  m.expert_width = 19;
  m.experts = 13;
  m.experts_per_token = 5;
  all.push_back({"nothing divides", m});

  m = small_model();
  m.heads = m.kv_heads = 3;
  m.head_dim = 6;  // 18 rows of a KV head: an 8-row group straddles two heads
  m.layers = {{true, true, 3}, {false, false, 0}, {true, true, 0}};
  all.push_back({"heads straddle groups", m});

  m = small_model();
  m.hidden = 8;
  m.heads = m.kv_heads = 1;
  m.head_dim = 2;
  m.expert_width = m.dense_width = 1;
  m.experts = m.experts_per_token = 1;
  m.vocab = 3;
  all.push_back({"as small as it gets", m});
  return all;
}

}  // namespace nmc::plan
