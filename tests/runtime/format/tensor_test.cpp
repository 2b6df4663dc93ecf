// Which tensors a model has, in which order, and where their rows come from.
#include "runtime/format/tensor.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/runtime/format/small_model.h"
#include "tests/runtime/model/north_config.h"

namespace nmc {
namespace {

std::vector<std::string> names(const ModelDescription& m, uint32_t section) {
  std::vector<std::string> out;
  for (const TensorSpec& t : expected_tensors(m))
    if (t.section == section) out.push_back(t.name);
  return out;
}

TensorSpec find(const ModelDescription& m, const std::string& name) {
  for (const TensorSpec& t : expected_tensors(m))
    if (t.name == name) return t;
  ADD_FAILURE() << name;
  return {};
}

TEST(Tensors, NamesInStreamOrder) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(north(), 0), (Names{"layers.0.norm", "layers.0.qkv", "layers.0.gate_up",
                                      "layers.0.o", "layers.0.down"}));
  EXPECT_EQ(names(north(), 48),
            (Names{"layers.48.norm", "layers.48.router", "layers.48.qkv",
                   "layers.48.experts.gate_up", "layers.48.o", "layers.48.experts.down"}));
  EXPECT_EQ(names(north(), 49), (Names{"final_norm", "embedding"}));
  EXPECT_TRUE(names(north(), 50).empty());
  EXPECT_EQ(names(small_model(), 1),
            (Names{"layers.1.norm", "layers.1.router", "layers.1.qkv", "layers.1.experts.gate_up",
                   "layers.1.shared.gate_up", "layers.1.o", "layers.1.experts.down",
                   "layers.1.shared.down"}));
  ModelDescription untied = north();
  untied.tied_head = false;
  EXPECT_EQ(names(untied, 49), (Names{"final_norm", "head"}));
  EXPECT_EQ(names(untied, 50), Names{"embedding"});
}

TEST(Tensors, ShapesOfNorth) {
  TensorSpec qkv = find(north(), "layers.7.qkv");
  EXPECT_EQ(qkv.order, RowOrder::kQkv);
  EXPECT_EQ(qkv.row_block, 4u);
  EXPECT_EQ(qkv.rows, 5120u);
  EXPECT_EQ(qkv.cols, 2048u);
  TensorSpec up = find(north(), "layers.7.experts.gate_up");
  EXPECT_EQ(up.order, RowOrder::kGateUp);
  EXPECT_EQ(up.count, 128u);
  EXPECT_EQ(up.rows, 1536u);
  EXPECT_EQ(up.bytes(), 128u * 1536 * 2048 * 2);
  TensorSpec o = find(north(), "layers.7.o");
  EXPECT_EQ(o.rows, 2048u);
  EXPECT_EQ(o.cols, 4096u);
  EXPECT_EQ(find(north(), "layers.7.norm").layout, TensorLayout::kVector);
}

TEST(Tensors, EveryParameterIsInTheFileOnce) {
  ModelDescription untied = small_model();
  untied.tied_head = false;
  for (const ModelDescription& m : {north(), small_model(), one_layer_model(), untied}) {
    uint64_t values = 0;
    for (const TensorSpec& t : expected_tensors(m)) values += t.count * t.rows * t.cols;
    EXPECT_EQ(values, m.parameters());
  }
}

TEST(Tensors, PaddingOfOddShapes) {
  TensorSpec down = find(small_model(), "layers.1.experts.down");  // 3 of [72, 5]
  EXPECT_EQ(down.padded_rows(), 72u);
  EXPECT_EQ(down.padded_cols(), 64u);
  EXPECT_EQ(down.matrix_bytes(), 72u * 64 * 2);
  EXPECT_EQ(down.bytes(), 3u * 72 * 64 * 2);
  TensorSpec norm = find(small_model(), "layers.1.norm");
  EXPECT_EQ(norm.padded_rows(), 1u);
  EXPECT_EQ(norm.padded_cols(), 72u);
  EXPECT_EQ(norm.bytes(), 144u);
}

TEST(RowSource, NorthsFirstBlockHoldsFourDimsOfEachHead) {
  ModelDescription m = north();
  TensorSpec qkv = find(m, "layers.0.qkv");
  for (int64_t block : {0, 1, 31}) {
    for (int64_t kv = 0; kv < 4; ++kv) {
      for (int64_t in = 0; in < 40; ++in) {
        int64_t row = kv * 1280 + block * 40 + in, dim = block * 4 + in % 4;
        RowSource s = row_source(qkv, m, row);
        int64_t head = in / 4;
        EXPECT_EQ(s.part, head < 8 ? 0 : head == 8 ? 1 : 2) << row;
        EXPECT_EQ(s.row, (head < 8 ? kv * 8 + head : kv) * 128 + dim) << row;
      }
    }
  }
}

TEST(RowSource, GateAndUpAlternate) {
  ModelDescription m = north();
  TensorSpec t = find(m, "layers.0.gate_up");
  for (int64_t i : {0, 1, 3071}) {
    RowSource gate = row_source(t, m, 2 * i), up = row_source(t, m, 2 * i + 1);
    EXPECT_EQ(gate.part, 0);
    EXPECT_EQ(gate.row, i);
    EXPECT_EQ(up.part, 1);
    EXPECT_EQ(up.row, i);
  }
}

struct Geometry {
  int64_t heads, kv_heads, head_dim;
};

TEST(RowSource, QkvIsABijectionForAnyGeometry) {
  for (Geometry g : {Geometry{32, 4, 128},
                     {4, 2, 6},
                     {1, 1, 2},
                     {3, 1, 10},
                     {5, 5, 8},
                     {6, 2, 20},
                     {7, 1, 14},
                     {64, 8, 64},
                     {12, 4, 96},
                     {30, 2, 80},
                     {9, 3, 256},
                     {2, 2, 4094}}) {
    ModelDescription m = one_layer_model();
    m.heads = g.heads;
    m.kv_heads = g.kv_heads;
    m.head_dim = g.head_dim;
    TensorSpec qkv = find(m, "layers.0.qkv");
    std::map<int, std::set<int64_t>> seen;
    for (int64_t row = 0; row < static_cast<int64_t>(qkv.rows); ++row) {
      RowSource s = row_source(qkv, m, row);
      EXPECT_TRUE(seen[s.part].insert(s.row).second);
      // A RoPE pair is two neighbouring rows, the even dim first.
      if (row % 2 == 0) {
        RowSource odd = row_source(qkv, m, row + 1);
        EXPECT_EQ(s.row % 2, 0);
        EXPECT_EQ(odd.part, s.part);
        EXPECT_EQ(odd.row, s.row + 1);
      }
    }
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(static_cast<int64_t>(seen[0].size()), m.q_width());
    EXPECT_EQ(*seen[0].rbegin(), m.q_width() - 1);
    for (int part : {1, 2}) {
      EXPECT_EQ(static_cast<int64_t>(seen[part].size()), m.kv_width());
      EXPECT_EQ(*seen[part].rbegin(), m.kv_width() - 1);
    }
  }
}

// The other way round: from a dim of a head to its stored row.
TEST(RowSource, QkvPlacesEveryDimOfEveryHead) {
  for (Geometry g : {Geometry{32, 4, 128}, {3, 1, 10}, {6, 2, 20}, {12, 4, 96}}) {
    ModelDescription m = one_layer_model();
    m.heads = g.heads;
    m.kv_heads = g.kv_heads;
    m.head_dim = g.head_dim;
    TensorSpec qkv = find(m, "layers.0.qkv");
    int64_t b = qkv.row_block, places = m.group() + 2;
    for (int64_t kv = 0; kv < m.kv_heads; ++kv) {
      for (int64_t place = 0; place < places; ++place) {
        for (int64_t d = 0; d < m.head_dim; ++d) {
          int64_t row = kv * places * m.head_dim + d / b * places * b + place * b + d % b;
          bool q = place < m.group();
          RowSource s = row_source(qkv, m, row);
          EXPECT_EQ(s.part, q ? 0 : place == m.group() ? 1 : 2);
          EXPECT_EQ(s.row, (q ? kv * m.group() + place : kv) * m.head_dim + d);
        }
      }
    }
  }
}

TEST(RowSource, BlocksAreWholeRowGroupsWhereverTheHeadAllowsIt) {
  ModelDescription m = one_layer_model();
  auto block = [&](Geometry g) {
    m.heads = g.heads;
    m.kv_heads = g.kv_heads;
    m.head_dim = g.head_dim;
    return qkv_row_block(m);
  };
  EXPECT_EQ(block({32, 4, 128}), 4u);  // 10 heads x 4
  EXPECT_EQ(block({8, 4, 64}), 2u);    // 4 heads x 2
  EXPECT_EQ(block({4, 4, 64}), 8u);    // 3 heads x 8
  EXPECT_EQ(block({4, 4, 20}), 2u);    // 8 does not divide 20
}

}  // namespace
}  // namespace nmc
