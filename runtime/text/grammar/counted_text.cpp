#include "runtime/text/grammar/counted_text.h"

#include <algorithm>
#include <cstdio>

namespace nmc {
namespace {

constexpr int64_t kUnrolled = 8192;  // characters, each of which becomes a group of states
constexpr int64_t kBlock = 1024;     // longer texts are counted by so many

ExprId once(GrammarBuilder& b, const std::string& name, ExprId body) {
  if (auto known = b.find(name)) return *known;
  const ExprId call = b.call(b.rule(name, body));
  b.remember(name, call);
  return call;
}

// One character inside a class of a pattern.
std::string spelled(uint32_t c) {
  char ascii[8];
  if (c < 0x20 || c == 0x7f) {
    std::snprintf(ascii, sizeof ascii, "\\x%02x", c);
    return ascii;
  }
  if (c < 0x80) {
    const bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return (plain ? "" : "\\") + std::string(1, static_cast<char>(c));
  }
  std::string out;
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    tail(6);
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
  return out;
}

}  // namespace

ExprId counted_text(GrammarBuilder& b, const std::string& name, ExprId character, int64_t min,
                    int64_t max, ExprId closing) {
  if (max == kNoLimit || max <= kUnrolled) {
    return b.sequence({b.repeat(character, min, max), closing});
  }
  if (min > 0) {
    return b.sequence(
        {b.repeat(character, min, min), counted_text(b, name, character, 0, max - min, closing)});
  }
  const ExprId block = once(b, name + ", a block", b.repeat(character, kBlock, kBlock));
  const ExprId rest =
      once(b, name + ", the rest", b.sequence({b.repeat(character, 0, kBlock - 1), closing}));
  const int64_t blocks = max / kBlock;
  const ExprId last = b.sequence({b.repeat(character, 0, max % kBlock), closing});
  return b.choice({b.sequence({b.repeat(block, 0, blocks - 1), rest}),
                   b.sequence({b.repeat(block, blocks, blocks), last})});
}

CountedClass CountedClass::operator&(const CountedClass& other) const {
  std::vector<CodePoints> outside = complement(characters);
  for (CodePoints r : complement(other.characters)) outside.push_back(r);
  CountedClass both{.characters = complement(outside), .min = std::max(min, other.min)};
  both.max = max == kNoLimit ? other.max : other.max == kNoLimit ? max : std::min(max, other.max);
  return both;
}

std::string CountedClass::pattern() const {
  std::string text = "^[";
  for (CodePoints r : characters) text += spelled(r.low) + "-" + spelled(r.high);
  text += "]{" + std::to_string(min) + ",";
  return text + (max == kNoLimit ? "" : std::to_string(max)) + "}$";
}

}  // namespace nmc
