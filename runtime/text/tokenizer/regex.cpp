#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/text/tokenizer/regex.h"

#include <pcre2.h>

#include "runtime/text/tokenizer/regex_syntax.h"

namespace nmc::tok {
namespace {

constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kDepthLimit = 10'000;  // used without JIT only
constexpr uint32_t kHeapLimitKib = 64u << 10;
constexpr size_t kJitStackStart = 32u << 10;
constexpr size_t kJitStackLimit = 16u << 20;

}  // namespace

struct RegexScratch::State {
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(kJitStackStart, kJitStackLimit, nullptr);
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);

  State() {
    pcre2_set_match_limit(context, kMatchLimit);
    pcre2_set_depth_limit(context, kDepthLimit);
    pcre2_set_heap_limit(context, kHeapLimitKib);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~State() {
    pcre2_match_data_free(data);
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
  }
};

RegexScratch::RegexScratch() : state_(std::make_unique<State>()) {}
RegexScratch::~RegexScratch() = default;

struct Regex::Code {
  pcre2_code* code;
  bool jit;
  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(std::unique_ptr<Code> code) : code_(std::move(code)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, std::string_view where) {
  NMC_ASSIGN(std::string translated, oniguruma_to_pcre2(pattern, where));
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);  // the default is the library's build option
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, context.get());
  if (!code) {
    PCRE2_UCHAR message[128] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return invalid_argument("tokenizer.json: " + std::string(where) +
                            ": the regular expression \"" + std::string(pattern) +
                            "\" does not compile: " + reinterpret_cast<const char*>(message));
  }
  bool jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  return Regex(std::unique_ptr<Code>(new Code{code, jit}));
}

Regex::Match Regex::find(std::string_view text, size_t from, RegexScratch& scratch) const {
  RegexScratch::State& s = *scratch.state_;
  auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int rc = code_->jit
               ? pcre2_jit_match(code_->code, subject, text.size(), from, 0, s.data, s.context)
               : pcre2_match(code_->code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, s.data,
                             s.context);
  if (rc == PCRE2_ERROR_NOMATCH) return {Outcome::kNoMatch, 0, 0};
  if (rc < 0) return {Outcome::kGaveUp, 0, 0};
  const PCRE2_SIZE* span = pcre2_get_ovector_pointer(s.data);
  return {Outcome::kMatch, span[0], span[1]};
}

}  // namespace nmc::tok
