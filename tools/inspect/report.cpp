#include "tools/inspect/report.h"

#include <algorithm>

#include "runtime/base/text.h"
#include "runtime/model/config.h"

namespace nmc {
namespace {

const char* layout_name(TensorLayout layout) {
  return layout == TensorLayout::kVector ? "vector" : "tiled";
}

const char* order_name(RowOrder order) {
  switch (order) {
    case RowOrder::kNatural:
      return "natural";
    case RowOrder::kGateUp:
      return "gate_up";
    case RowOrder::kQkv:
      return "qkv";
  }
  return "";
}

std::string row(const char* name, const std::string& value) {
  return format("  %-12s ", name) + value + "\n";
}

std::string n(int64_t value) {
  return std::to_string(value);
}

std::string layers_line(const ModelDescription& m) {
  auto sparse =
      std::count_if(m.layers.begin(), m.layers.end(), [](const auto& l) { return l.sparse; });
  auto dense = static_cast<int64_t>(m.layers.size()) - sparse;
  std::string line = n(static_cast<int64_t>(m.layers.size())) + " of hidden size " + n(m.hidden);
  if (dense > 0) line += ", " + n(dense) + " dense of width " + n(m.dense_width);
  if (sparse > 0) line += ", " + n(sparse) + " with experts";
  return line;
}

std::string attention_line(const ModelDescription& m) {
  int64_t rope = 0, global = 0, window = 0;
  for (const LayerDescription& l : m.layers) {
    rope += l.rope;
    global += l.window == 0;
    window = std::max(window, l.window);
  }
  std::string line = n(m.heads) + " heads, " + n(m.kv_heads) + " for keys and values, of " +
                     n(m.head_dim) + "; " + n(global) + " layers see everything";
  if (window > 0) {
    line += ", " + n(static_cast<int64_t>(m.layers.size()) - global) + " the last " + n(window) +
            " tokens";
  }
  return line + format("; RoPE in %lld, theta %g", static_cast<long long>(rope), m.rope_theta);
}

std::string experts_line(const ModelDescription& m) {
  std::string line = n(m.experts) + " of width " + n(m.expert_width) + ", " +
                     n(m.experts_per_token) + " per token, ";
  if (m.router == RouterKind::kSoftmax)
    line += "softmax";
  else
    line += m.renormalize ? "sigmoid, renormalised" : "sigmoid";
  if (m.shared_experts == 0) return line;
  return line + "; " + n(m.shared_experts) + " shared, " +
         (m.shared_combine == SharedCombine::kSum ? "added" : "averaged");
}

std::string tokens_line(const ModelDescription& m) {
  std::string line = n(m.vocab) + " in the vocabulary";
  if (m.bos_token >= 0) line += ", bos " + n(m.bos_token);
  for (int32_t id : m.eos_tokens) line += ", eos " + n(id);
  return line;
}

std::string model_text(const ModelDescription& m) {
  bool sparse =
      std::any_of(m.layers.begin(), m.layers.end(), [](const auto& l) { return l.sparse; });
  std::string text = row("architecture", m.architecture);
  text += row("parameters", human_count(static_cast<double>(m.parameters())) +
                                ", of which a token reads " +
                                human_count(static_cast<double>(m.active_parameters())));
  text += row("context", n(m.max_context) + " tokens");
  text += row("layers", layers_line(m));
  text += row("attention", attention_line(m));
  if (sparse) text += row("experts", experts_line(m));
  text += row("norm",
              format("%s, epsilon %g", m.norm == NormKind::kRms ? "RMS" : "LayerNorm", m.norm_eps));
  text += row("head", std::string(m.tied_head ? "the embedding" : "its own matrix") +
                          format(", logits times %g", m.logit_scale));
  return text + row("tokens", tokens_line(m));
}

std::string shape(const TensorEntry& t) {
  std::string text = t.layout == TensorLayout::kVector ? "[" : "[" + std::to_string(t.rows) + ", ";
  if (t.count > 1) text.insert(1, std::to_string(t.count) + ", ");
  return text + std::to_string(t.cols) + "]";
}

std::string hex(uint64_t checksum) {
  return format("%016llx", static_cast<unsigned long long>(checksum));
}

std::string tensors_text(const std::vector<TensorEntry>& tensors) {
  size_t width = 4;
  for (const TensorEntry& t : tensors) width = std::max(width, t.name.size());
  std::string text = "tensors, in the order in which a step streams them:\n" +
                     format("  %-*s  %-18s  %-6s  %-7s  %7s  %13s  %8s\n", static_cast<int>(width),
                            "name", "shape", "layout", "rows", "section", "offset", "size");
  for (const TensorEntry& t : tensors) {
    text += format("  %-*s  %-18s  %-6s  %-7s  %7u  %13llu  %8s\n", static_cast<int>(width),
                   t.name.c_str(), shape(t).c_str(), layout_name(t.layout), order_name(t.order),
                   t.section, static_cast<unsigned long long>(t.offset),
                   human_bytes(static_cast<double>(t.bytes())).c_str());
  }
  return text;
}

Json tensor_json(const TensorEntry& t) {
  return {{"name", t.name},
          {"layout", layout_name(t.layout)},
          {"row_order", order_name(t.order)},
          {"row_block", t.row_block},
          {"section", t.section},
          {"count", t.count},
          {"rows", t.rows},
          {"cols", t.cols},
          {"padded_rows", t.padded_rows()},
          {"padded_cols", t.padded_cols()},
          {"offset", t.offset},
          {"bytes", t.bytes()},
          {"xxh3", hex(t.checksum)}};
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string report_text(const ModelFile& file) {
  const Header& h = file.header();
  std::string text = printable(file.path().string()) + ": " +
                     human_bytes(static_cast<double>(h.file_bytes)) + ", format version " +
                     std::to_string(kFormatVersion) + "\n";
  text += model_text(h.model);
  text += "provenance:\n";
  for (const auto& [key, value] : h.provenance.items())
    text += "  " + printable(key) + ": " + printable(dump_json(value)) + "\n";
  text += "embedded files:\n";
  for (const auto& [name, f] : h.files)
    text += "  " + printable(name) + ", " + human_bytes(static_cast<double>(f.bytes)) + "\n";
  return text + tensors_text(h.tensors);
}

Json report_json(const ModelFile& file) {
  const Header& h = file.header();
  Json json{{"path", file.path().string()},
            {"format_version", kFormatVersion},
            {"file_bytes", h.file_bytes},
            {"parameters", h.model.parameters()},
            {"active_parameters", h.model.active_parameters()},
            {"model", description_to_json(h.model)},
            {"provenance", h.provenance},
            {"files", Json::object()},
            {"tensors", Json::array()}};
  for (const auto& [name, f] : h.files)
    json["files"][name] = {{"offset", f.offset}, {"bytes", f.bytes}, {"xxh3", hex(f.checksum)}};
  for (const TensorEntry& t : h.tensors) json["tensors"].push_back(tensor_json(t));
  return json;
}

}  // namespace nmc
