#include "tools/chat/screen.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runtime/base/text.h"

namespace nmc {
namespace {

constexpr const char* kDim = "\033[2m";
constexpr const char* kPlain = "\033[0m";

}  // namespace

std::string without_controls(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) continue;
    // U+0080 to U+009f, in UTF-8: some terminals obey them too.
    const bool c1 =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) {
      ++i;
      continue;
    }
    out += text[i];
  }
  return out;
}

Screen::Style Screen::detect() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const bool dumb = term && std::string_view(term) == "dumb";
  return {.terminal = terminal, .color = terminal && !dumb && !(no_color && *no_color)};
}

void Screen::write(std::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  line_open_ = text.back() != '\n';
}

void Screen::show(const AnswerPiece& piece) {
  if (piece.reasoning && !style_.terminal) return;
  if (piece.reasoning != in_reasoning_) {
    if (shown_) write(line_open_ ? "\n\n" : "\n");
    if (style_.color) std::fputs(piece.reasoning ? kDim : kPlain, stdout);
    if (piece.reasoning && !style_.color) write("(reasoning) ");
    in_reasoning_ = piece.reasoning;
  }
  shown_ = true;
  write(style_.terminal ? without_controls(piece.text) : piece.text);
}

void Screen::end_answer() {
  if (in_reasoning_ && style_.color) std::fputs(kPlain, stdout);
  if (line_open_) write("\n");
  std::fflush(stdout);
  in_reasoning_ = shown_ = line_open_ = false;
}

void Screen::note(const std::string& line) const {
  const bool dim = style_.color && ::isatty(STDERR_FILENO);
  std::fprintf(stderr, "%s%s%s\n", dim ? kDim : "", line.c_str(), dim ? kPlain : "");
}

std::string timings(const AnswerStats& stats) {
  std::string line = "[" + std::to_string(stats.prompt_tokens) + " tokens read";
  if (stats.cached_tokens > 0) {
    line += ", " + std::to_string(stats.cached_tokens) + " of them cached,";
  }
  line +=
      format(" in %.2f s | %lld tokens", stats.first_seconds, static_cast<long long>(stats.tokens));
  const double seconds = stats.seconds - stats.first_seconds;
  if (stats.tokens > 1 && seconds > 0) {
    line += format(", %.1f/s", static_cast<double>(stats.tokens - 1) / seconds);
  }
  return line + "]";
}

}  // namespace nmc
