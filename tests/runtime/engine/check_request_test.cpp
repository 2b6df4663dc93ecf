#include "runtime/engine/check_request.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nmc {
namespace {

std::string sampling_error(const SamplingParams& params) {
  return check_sampling(params).message();
}

TEST(CheckRequest, SamplingOutOfRangeIsNamed) {
  EXPECT_NE(sampling_error({.top_p = 0}).find("top_p"), std::string::npos);
  EXPECT_NE(sampling_error({.temperature = NAN}).find("temperature"), std::string::npos);
  EXPECT_NE(sampling_error({.min_p = 2}).find("min_p"), std::string::npos);
  EXPECT_NE(sampling_error({.top_k = -1}).find("top_k"), std::string::npos);
  EXPECT_NE(sampling_error({.frequency_penalty = 2.1}).find("frequency_penalty"),
            std::string::npos);
  EXPECT_NE(sampling_error({.presence_penalty = NAN}).find("presence_penalty"), std::string::npos);
  EXPECT_NE(sampling_error({.repetition_penalty = 0}).find("repetition_penalty"),
            std::string::npos);
  EXPECT_NE(sampling_error({.logit_bias = {{1, 101}}}).find("logit_bias"), std::string::npos);
  std::vector<TokenBias> many(kMaxLogitBias + 1);
  EXPECT_NE(sampling_error({.logit_bias = many}).find("logit_bias"), std::string::npos);
}

TEST(CheckRequest, TokensOutsideTheVocabularyAreNamed) {
  auto error = [](GenerationRequest r) {
    if (r.prompt.empty()) r.prompt = {1};
    return check_request(r, 90, 100).message();
  };
  GenerationRequest fine;
  EXPECT_EQ(error(fine), "");
  GenerationRequest prompt, bias, stop, trigger, min;
  prompt.prompt = {90};
  EXPECT_NE(error(prompt).find("prompt holds token id 90"), std::string::npos);
  bias.sampling.logit_bias = {{-1, 0}};
  EXPECT_NE(error(bias).find("logit_bias"), std::string::npos);
  stop.stop_tokens = {95};
  EXPECT_NE(error(stop).find("stop_tokens"), std::string::npos);
  trigger.grammar_trigger = 5;
  EXPECT_NE(error(trigger).find("grammar_trigger"), std::string::npos);
  min.max_tokens = 5;
  min.min_tokens = 6;
  EXPECT_NE(error(min).find("min_tokens"), std::string::npos);
}

}  // namespace
}  // namespace nmc
