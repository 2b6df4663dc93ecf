#include "runtime/text/dialect/hermes_parser.h"

namespace nmc {
namespace {

enum HermesMarker {
  kThink,
  kEndThink,
  kCallOpens,
  kCallCloses,
  kFunction,
  kFunctionCloses,
  kParameter,
  kParameterCloses,
  kTurnOver
};

constexpr std::string_view kCallTag = "<tool_call>";

}  // namespace

HermesParser::HermesParser(StartMode start, const DialectOptions& options)
    : mode_(start == StartMode::kReasoning ? Mode::kReasoning : Mode::kAnswer),
      writer_(options),
      calls_(&writer_),
      tagged_(&writer_, options) {}

bool HermesParser::knows(std::string_view text) {
  return text == "<think>" || text == "</think>" || text == kCallTag || text == "</tool_call>" ||
         text == "<|im_end|>" || text == "<|endoftext|>";
}

std::span<const MarkerParser::Marker> HermesParser::markers() const {
  static constexpr Marker kReasoning[] = {
      {"</think>", kEndThink}, {"<|im_end|>", kTurnOver}, {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kOpening[] = {{"<think>", kThink},
                                        {"</think>", kEndThink},
                                        {kCallTag, kCallOpens},
                                        {"<|im_end|>", kTurnOver},
                                        {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kAnswer[] = {
      {kCallTag, kCallOpens}, {"<|im_end|>", kTurnOver}, {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kCall[] = {{"</tool_call>", kCallCloses},
                                     {kCallTag, kCallOpens},
                                     {"<|im_end|>", kTurnOver},
                                     {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kCallStart[] = {{"</tool_call>", kCallCloses},
                                          {kCallTag, kCallOpens},
                                          {"<function=", kFunction},
                                          {"<|im_end|>", kTurnOver},
                                          {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kTagged[] = {
      {"</tool_call>", kCallCloses},    {kCallTag, kCallOpens},      {"<function=", kFunction},
      {"</function>", kFunctionCloses}, {"<parameter=", kParameter}, {"<|im_end|>", kTurnOver},
      {"<|endoftext|>", kTurnOver}};
  static constexpr Marker kValue[] = {
      {"</parameter>", kParameterCloses}, {"<|im_end|>", kTurnOver}, {"<|endoftext|>", kTurnOver}};
  switch (mode_) {
    case Mode::kReasoning:
      return kReasoning;
    case Mode::kAnswer:
      if (answered_) return kAnswer;
      return kOpening;
    case Mode::kCallStart:
      return kCallStart;
    case Mode::kCall:
      return kCall;
    case Mode::kTagged:
      if (tagged_.in_value()) return kValue;
      return kTagged;
    case Mode::kNothing:
      break;
  }
  return {};
}

void HermesParser::answer(std::string_view text, std::vector<DialectEvent>* out) {
  answer_.add(text, out);
  answered_ |= !answer_.blank();
}

// Looks for the bracket that makes an opening tag a call.
void HermesParser::start_call(std::string_view text, std::vector<DialectEvent>* out) {
  size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  opening_ += text.substr(0, first);
  text.remove_prefix(first);
  if (text.empty()) return;
  if (text[0] == '{' || text[0] == '[') {
    leave(false, out);
    mode_ = Mode::kCall;
  } else {
    mode_ = Mode::kAnswer;
    answer(opening_, out);
  }
  opening_.clear();
  on_text(text, out);
}

void HermesParser::on_text(std::string_view text, std::vector<DialectEvent>* out) {
  switch (mode_) {
    case Mode::kReasoning:
      reasoning_.add(text, out);
      break;
    case Mode::kAnswer:
      answer(text, out);
      break;
    case Mode::kCallStart:
      start_call(text, out);
      break;
    case Mode::kCall:
      calls_.feed(text, out);
      break;
    case Mode::kTagged:
      tagged_.text(text, out);
      break;
    case Mode::kNothing:
      break;
  }
}

// Closes the block at work. An opening tag that waits for its call leaves the answer open: the
// answer goes on if no call comes.
void HermesParser::leave(bool keep_blanks, std::vector<DialectEvent>* out) {
  switch (mode_) {
    case Mode::kReasoning:
      reasoning_.end(keep_blanks, out);
      break;
    case Mode::kAnswer:
    case Mode::kCallStart:
      answer_.end(keep_blanks, out);
      break;
    case Mode::kCall:
      calls_.end_block(out);
      break;
    case Mode::kTagged:
      tagged_.end_block(false, out);
      break;
    case Mode::kNothing:
      break;
  }
}

// False: the marker is none of those between which a call stands in tags.
bool HermesParser::on_tag(int id, std::vector<DialectEvent>* out) {
  switch (id) {
    case kFunction:
      if (mode_ == Mode::kCallStart) {
        leave(false, out);
        opening_.clear();
        mode_ = Mode::kTagged;
      }
      tagged_.open_function(out);
      return true;
    case kParameter:
      tagged_.open_parameter();
      return true;
    case kParameterCloses:
      tagged_.close_parameter(out);
      return true;
    case kFunctionCloses:
      tagged_.close_function(out);
      return true;
    default:
      if (mode_ == Mode::kTagged && id == kCallCloses) tagged_.end_block(true, out);
      return false;
  }
}

void HermesParser::on_marker(int id, std::vector<DialectEvent>* out) {
  if (on_tag(id, out)) return;
  if (mode_ == Mode::kCallStart && id != kTurnOver) {
    // A tag right after an opening tag: there was no call, so both may be text.
    answer(opening_, out);
    opening_.clear();
    mode_ = Mode::kAnswer;
    if (id == kCallCloses) {
      answer("</tool_call>", out);
      return;
    }
  }
  if (id == kCallOpens && mode_ == Mode::kAnswer) {
    opening_ = kCallTag;
    mode_ = Mode::kCallStart;
    return;
  }
  leave(false, out);
  switch (id) {
    case kThink:
      mode_ = Mode::kReasoning;
      break;
    case kEndThink:
    case kCallCloses:
      mode_ = Mode::kAnswer;
      break;
    case kCallOpens:
      opening_ = kCallTag;
      mode_ = Mode::kCallStart;
      break;
    default:
      mode_ = Mode::kNothing;
      break;
  }
}

void HermesParser::on_end(std::string_view fragment, bool cut, std::vector<DialectEvent>* out) {
  if (mode_ == Mode::kCallStart) {
    // The call had just begun when the output ended: there is nothing to show of it.
    mode_ = Mode::kAnswer;
  } else if (mode_ != Mode::kCall && mode_ != Mode::kTagged) {
    on_text(fragment, out);
  }
  leave(cut, out);
  mode_ = Mode::kNothing;
}

}  // namespace nmc
