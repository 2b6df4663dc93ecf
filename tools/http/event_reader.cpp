#include "tools/http/event_reader.h"

namespace nmc {

Status EventReader::feed(std::string_view bytes, const std::function<bool(const Json&)>& on_event) {
  constexpr size_t kMaxLine = 16u << 20;
  for (char c : bytes) {
    if (c != '\n') {
      if (line_.size() + data_.size() >= kMaxLine)
        return io_error("an event of the answer is too long");
      line_ += c;
      continue;
    }
    if (line_.ends_with('\r')) line_.pop_back();
    const std::string line = std::move(line_);
    line_.clear();
    if (line.starts_with("data:")) {
      if (!data_.empty()) data_ += '\n';
      data_ += line.substr(line.starts_with("data: ") ? 6 : 5);
    }
    if (!line.empty() || data_.empty()) continue;
    const std::string data = std::move(data_);
    data_.clear();
    done_ |= data == "[DONE]";
    if (data == "[DONE]") continue;
    NMC_ASSIGN(const Json event, parse_json(data, "an event of the answer"));
    if (!on_event(event)) return {};
  }
  return {};
}

}  // namespace nmc
