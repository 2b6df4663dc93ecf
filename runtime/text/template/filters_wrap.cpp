// wordwrap: Python's textwrap, whose chunks and lines it follows.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

struct Wrapping {
  size_t width;
  bool break_long_words, break_on_hyphens;
};

// A line as characters, and where each of them begins.
struct Characters {
  std::vector<char32_t> chars;
  std::vector<size_t> offsets;  // one more than characters

  explicit Characters(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      offsets.push_back(at);
      chars.push_back(next_char(text, &at));
    }
    offsets.push_back(text.size());
  }
  size_t size() const { return chars.size(); }
  // U+0000 outside, which is of no kind below.
  char32_t at(size_t i) const { return i < size() ? chars[i] : 0; }

  bool blank(size_t i) const { return i < size() && (at(i) == ' ' || (at(i) >= 9 && at(i) <= 13)); }
  bool dash(size_t i) const { return at(i) == '-'; }
  bool letter(size_t i) const { return is_letter(at(i)) || at(i) == '_'; }
  bool word(size_t i) const { return letter(i) || is_digit(at(i)); }
  bool word_or_mark(size_t i) const {
    constexpr std::u32string_view kMarks = U"!\"'&.,?";
    return word(i) || (at(i) != 0 && kMarks.find(at(i)) != std::u32string_view::npos);
  }
  // Two or more dashes at `i`, then a word: where it begins, or 0.
  size_t after_dashes(size_t i) const {
    size_t end = i;
    while (dash(end)) ++end;
    return end - i >= 2 && word(end) ? end : 0;
  }
};

// A place inside a word behind a dash where a line may break.
bool hyphen_break(const Characters& c, size_t dash) {
  bool before = dash >= 2 && c.letter(dash - 2) && c.letter(dash - 1);
  before |= dash >= 3 && c.letter(dash - 3) && c.dash(dash - 2) && c.word_or_mark(dash - 1);
  bool after = c.letter(dash + 1) && c.letter(c.dash(dash + 2) ? dash + 3 : dash + 2);
  return before && after;
}

// The end of the chunk that begins at `i`: blanks, dashes between words, or a piece of a word.
size_t chunk_end(const Characters& c, size_t i, bool hyphens) {
  size_t end = i;
  if (c.blank(i)) {
    while (c.blank(end)) ++end;
    return end;
  }
  if (!hyphens) {
    while (end < c.size() && !c.blank(end)) ++end;
    return end;
  }
  if (i > 0 && c.word_or_mark(i - 1)) {
    if (size_t word = c.after_dashes(i)) return word;
  }
  for (end = i + 1; end < c.size() && !c.blank(end); ++end) {
    if (c.dash(end) && hyphen_break(c, end)) return end + 1;
    if (c.word_or_mark(end - 1) && c.after_dashes(end)) return end;
  }
  return end;
}

struct Range {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

// Cuts off as much of a chunk that is wider than a line as fits; what is left remains.
Range break_chunk(const Characters& c, Range* chunk, size_t space, bool hyphens) {
  size_t end = std::min(space, chunk->size());
  if (hyphens && chunk->size() > space) {
    for (size_t i = end; i-- > 1;) {
      if (!c.dash(chunk->begin + i)) continue;
      bool only_dashes = true;
      for (size_t k = 0; k < i; ++k) only_dashes &= c.dash(chunk->begin + k);
      if (!only_dashes) end = i + 1;
      break;
    }
  }
  Range piece{chunk->begin, chunk->begin + end};
  chunk->begin = piece.end;
  return piece;
}

std::vector<Range> wrap(const Characters& c, const Wrapping& how) {
  std::vector<Range> chunks, lines;
  for (size_t i = 0; i < c.size(); i = chunks.back().end) {
    chunks.push_back({i, chunk_end(c, i, how.break_on_hyphens)});
  }
  auto blank = [&](const Range& r) {
    return std::all_of(c.chars.begin() + static_cast<std::ptrdiff_t>(r.begin),
                       c.chars.begin() + static_cast<std::ptrdiff_t>(r.end), is_space);
  };
  for (size_t next = 0; next < chunks.size();) {
    if (!lines.empty() && blank(chunks[next])) ++next;
    std::vector<Range> line;
    size_t length = 0;
    for (; next < chunks.size() && length + chunks[next].size() <= how.width; ++next) {
      length += chunks[next].size();
      line.push_back(chunks[next]);
    }
    if (next < chunks.size() && chunks[next].size() > how.width) {
      if (how.break_long_words) {
        line.push_back(break_chunk(c, &chunks[next], how.width - length, how.break_on_hyphens));
      } else if (line.empty()) {
        line.push_back(chunks[next++]);
      }
    }
    if (!line.empty() && blank(line.back())) line.pop_back();
    if (!line.empty()) lines.push_back({line.front().begin, line.back().end});
  }
  return lines;
}

Result<Value> word_wrap(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("wordwrap", std::move(arguments),
                          {"width", "break_long_words", "wrapstring", "break_on_hyphens"}));
  if (!input.text()) return invalid_argument("wordwrap needs a string");
  NMC_ASSIGN(int64_t width, integer_or(a[0], 79, "the width of wordwrap"));
  if (width <= 0) return invalid_argument("the width of wordwrap must be positive");
  auto on = [](const Value& v) { return v.is_undefined() || v.truthy(); };
  const Wrapping how{static_cast<size_t>(width), on(a[1]), on(a[3])};
  NMC_ASSIGN(MarkedText end,
             text_or(a[2].is_none() ? Value() : a[2], "\n", "the wrapstring of wordwrap"));
  // A character can become a line, and is looked at for as many dashes as stand before it.
  NMC_TRY(in.charge_bytes(input.text()->size() * (1 + end.size())));
  std::vector<MarkedText> lines;
  for (const MarkedText& line : split_lines(*input.text(), false)) {
    const Characters c(line.bytes());
    std::vector<MarkedText> pieces;
    for (Range r : wrap(c, how)) pieces.push_back(line.slice(c.offsets[r.begin], c.offsets[r.end]));
    lines.push_back(join(pieces, end));
  }
  return in.make_text(join(lines, end));
}

}  // namespace

const NamedFilter kWrapFilters[] = {{"wordwrap", word_wrap}, {"", nullptr}};

}  // namespace nmc::jinja
