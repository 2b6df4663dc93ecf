#include "tools/eval/logits.h"

#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/json.h"

namespace nmc {
namespace {

std::span<const uint8_t> as_bytes(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

Result<LogitsFile> LogitsFile::create(const std::filesystem::path& path,
                                      std::span<const int64_t> lengths, int64_t vocab) {
  Json header = Json::object();
  std::vector<uint64_t> ends = {0};  // relative to the data
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto bytes = static_cast<uint64_t>(lengths[i] * vocab) * sizeof(float);
    Json& tensor = header["logits." + std::to_string(i)];
    tensor["dtype"] = "F32";
    tensor["shape"] = {lengths[i], vocab};
    tensor["data_offsets"] = {ends.back(), ends.back() + bytes};
    ends.push_back(ends.back() + bytes);
  }
  // Spaces may follow the JSON; they align the data.
  std::string text = dump_json(header);
  text.resize(align_up(text.size(), 8), ' ');
  std::vector<uint8_t> head(sizeof(uint64_t) + text.size());
  store_le<uint64_t>(head.data(), text.size());
  std::copy(text.begin(), text.end(), head.begin() + sizeof(uint64_t));

  NMC_ASSIGN(AtomicFile file, AtomicFile::create(path));
  NMC_TRY(file.write_at(0, head));
  std::vector<uint64_t> offsets;
  for (size_t i = 0; i < lengths.size(); ++i) offsets.push_back(head.size() + ends[i]);
  return LogitsFile(std::move(file), std::move(offsets), vocab);
}

Status LogitsFile::write(size_t sequence, int64_t first, std::span<const float> rows) {
  const uint64_t offset = static_cast<uint64_t>(first * vocab_) * sizeof(float);
  return file_.write_at(offsets_[sequence] + offset, as_bytes(rows));
}

}  // namespace nmc
