#include "runtime/text/dialect/call_writer.h"

#include "runtime/base/json.h"
#include "runtime/base/text.h"

namespace nmc {

CallWriter::CallWriter(const DialectOptions& options)
    : enabled_(options.tools), make_id_(options.make_id) {
  if (make_id_) return;
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  random_.seed(seed);
}

std::string CallWriter::new_id() {
  static constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string id;
  if (make_id_) {
    id = make_id_();
  } else {
    std::uniform_int_distribution<size_t> letter(0, kLetters.size() - 1);
    id = "call_";
    for (int i = 0; i < 24; ++i) id += kLetters[letter(random_)];
  }
  // A caller's generator may repeat itself; clients tell calls apart by their ids.
  while (!ids_.insert(id).second) id += "_" + std::to_string(ids_.size());
  return id;
}

void CallWriter::push(DialectEvent event, std::vector<DialectEvent>* out) const {
  event.index = index_;
  if (enabled_) out->push_back(std::move(event));
}

void CallWriter::begin(std::string name, std::string model_id, std::vector<DialectEvent>* out) {
  open_ = true;
  ++index_;
  arguments_.clear();
  DialectEvent event;
  event.kind = DialectEvent::Kind::kCallBegin;
  event.id = new_id();
  event.name = valid_utf8(name);
  event.model_id = valid_utf8(model_id);
  push(std::move(event), out);
}

void CallWriter::arguments(std::string_view text, std::vector<DialectEvent>* out) {
  std::string joined = std::move(partial_) + std::string(text);
  size_t whole = complete_utf8_prefix(joined);
  partial_ = joined.substr(whole);
  joined.resize(whole);
  if (joined.empty()) return;
  arguments_ += joined;
  DialectEvent event;
  event.kind = DialectEvent::Kind::kCallArguments;
  event.text = std::move(joined);
  push(std::move(event), out);
}

void CallWriter::end(bool closed, std::vector<DialectEvent>* out) {
  if (arguments_.empty() && closed) arguments("{}", out);
  partial_.clear();
  DialectEvent event;
  event.kind = DialectEvent::Kind::kCallEnd;
  auto parsed = parse_json(arguments_, "arguments");
  event.complete = closed && parsed.ok() && parsed->is_object();
  push(std::move(event), out);
  open_ = false;
}

}  // namespace nmc
