// A request on its way through the engine. Touched by the engine's thread only.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "runtime/cache/sequence_pages.h"
#include "runtime/engine/generation.h"
#include "runtime/engine/request.h"
#include "runtime/engine/token_chooser.h"

namespace nmc {

struct Sequence {
  GenerationRequest request;
  std::shared_ptr<Generation> generation;
  std::optional<TokenChooser> chooser;  // of `request`
  int64_t token_limit = 0;              // prompt and output together never exceed this
  std::vector<int32_t> tokens;          // prompt, then output
  int64_t scored = 1;                   // tokens of the prompt whose log-probability is known

  // Of the present run; a sequence that had to yield starts anew with all its tokens.
  std::unique_ptr<SequencePages> pages;  // null while it waits
  int64_t to_read = 0;                   // tokens it began with
  int64_t processed = 0;                 // tokens whose keys and values are in the pages
  bool opened = false;                   // the prefix cache was asked
  std::set<int64_t> keep_at;             // positions behind which other texts will go on

  int64_t prompt_size() const { return static_cast<int64_t>(request.prompt.size()); }
  int64_t output_size() const { return static_cast<int64_t>(tokens.size()) - prompt_size(); }
  int64_t pending() const { return static_cast<int64_t>(tokens.size()) - processed; }
  bool is_full() const { return static_cast<int64_t>(tokens.size()) >= token_limit; }
  bool reading() const { return processed < to_read; }
  // The logits of the prompt are wanted, so that it has to be read, whatever is known of it.
  bool scores() const { return request.prompt_logprobs && scored < prompt_size(); }
};

}  // namespace nmc
