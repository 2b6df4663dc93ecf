#include "server/api/logprobs.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/text.h"

namespace nmc::api {
namespace {

// JSON knows no infinity.
double finite(float logprob) {
  return std::max(-9999.0, static_cast<double>(logprob));
}

Json entry(const Tokenizer& tokenizer, int32_t token, float logprob) {
  std::string_view bytes = tokenizer.token_bytes(token);
  Json list = Json::array();
  for (char c : bytes) list.push_back(static_cast<unsigned char>(c));
  return {{"token", valid_utf8(bytes)}, {"logprob", finite(logprob)}, {"bytes", std::move(list)}};
}

}  // namespace

Json chat_logprobs(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens) {
  Json content = Json::array();
  for (const GeneratedToken& t : tokens) {
    Json item = entry(tokenizer, t.token, t.logprob);
    item["top_logprobs"] = Json::array();
    for (const TokenLogprob& top : t.top) {
      item["top_logprobs"].push_back(entry(tokenizer, top.token, top.logprob));
    }
    content.push_back(std::move(item));
  }
  return {{"content", std::move(content)}};
}

Json completion_logprobs(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens,
                         int64_t* offset) {
  Json names = Json::array(), logprobs = Json::array(), tops = Json::array(),
       offsets = Json::array();
  for (const GeneratedToken& t : tokens) {
    std::string name = valid_utf8(tokenizer.token_bytes(t.token));
    Json top = Json::object();
    for (const TokenLogprob& p : t.top) {
      top[valid_utf8(tokenizer.token_bytes(p.token))] = finite(p.logprob);
    }
    const bool known = !std::isnan(t.logprob);
    if (known) top[name] = finite(t.logprob);
    offsets.push_back(std::max<int64_t>(0, *offset));
    *offset += count_characters(name);
    names.push_back(std::move(name));
    logprobs.push_back(known ? Json(finite(t.logprob)) : Json());
    tops.push_back(known ? std::move(top) : Json());
  }
  return {{"tokens", std::move(names)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace nmc::api
