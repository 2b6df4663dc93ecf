#include <algorithm>

#include "runtime/text/grammar/expression.h"

namespace nmc {
namespace {

constexpr uint32_t kLastCodePoint = 0x10ffff;
constexpr CodePoints kSurrogates{0xd800, 0xdfff};

// The UTF-8 bytes of code points [low, high] that all take `length` bytes: a sequence of byte
// ranges, split where a range of the leading bytes has partial ranges behind it.
class Encoder {
 public:
  explicit Encoder(GrammarBuilder& b) : b_(b) {}

  ExprId encode(CodePoints r, int length) {
    if (length == 1) return b_.bytes(range(r.low, r.high));
    std::vector<ExprId> options;
    split(r.low, r.high, length, 0, {}, &options);
    return b_.choice(std::move(options));
  }

 private:
  static ByteSet range(uint32_t low, uint32_t high) {
    return ByteSet::range(static_cast<uint8_t>(low), static_cast<uint8_t>(high));
  }

  // Emits options for values [low, high]; `done` leading bytes are in `prefix` already.
  void split(uint32_t low, uint32_t high, int length, int done, std::vector<ExprId> prefix,
             std::vector<ExprId>* options) {
    int rest = length - done - 1;               // bytes after this one
    uint32_t span = uint32_t{1} << (6 * rest);  // values one setting of this byte covers
    auto lead = [&](uint32_t v) {
      static constexpr uint32_t kMarks[] = {0, 0, 0xc0, 0xe0, 0xf0};
      uint32_t bits = v >> (6 * rest);
      return done == 0 ? kMarks[length] | bits : 0x80 | (bits & 0x3f);
    };
    auto emit = [&](uint32_t from, uint32_t to) {  // whole settings of this byte
      std::vector<ExprId> parts = prefix;
      parts.push_back(b_.bytes(range(lead(from), lead(to))));
      for (int i = 0; i < rest; ++i) parts.push_back(b_.bytes(range(0x80, 0xbf)));
      options->push_back(b_.sequence(std::move(parts)));
    };
    auto descend = [&](uint32_t from, uint32_t to) {  // part of one setting of this byte
      std::vector<ExprId> longer = prefix;
      longer.push_back(b_.bytes(range(lead(from), lead(from))));
      split(from, to, length, done + 1, std::move(longer), options);
    };
    if (rest == 0) return emit(low, high);
    uint32_t first = low / span, last = high / span;
    bool low_whole = low % span == 0, high_whole = high % span == span - 1;
    if (first == last && !(low_whole && high_whole)) return descend(low, high);
    if (!low_whole) {
      descend(low, (first + 1) * span - 1);
      ++first;
    }
    if (!high_whole) --last;
    if (first <= last) emit(first * span, (last + 1) * span - 1);
    if (!high_whole) descend((last + 1) * span, high);
  }

  GrammarBuilder& b_;
};

}  // namespace

uint32_t next_code_point(std::string_view text, size_t* at) {
  auto lead = static_cast<uint8_t>(text[*at]);
  size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  n = std::min(n, text.size() - *at);
  uint32_t c = n == 1 ? lead : lead & (0x7fu >> n);
  for (size_t k = 1; k < n; ++k) c = c << 6 | (static_cast<uint8_t>(text[*at + k]) & 0x3fu);
  *at += n;
  return c;
}

std::optional<uint32_t> next_hex(std::string_view text, size_t* at, size_t digits) {
  uint32_t v = 0;
  for (size_t i = 0; i < digits; ++i, ++*at) {
    size_t d = *at < text.size()
                   ? std::string_view("0123456789abcdef").find(static_cast<char>(text[*at] | 0x20))
                   : std::string_view::npos;
    if (d == std::string_view::npos) return std::nullopt;
    v = v * 16 + static_cast<uint32_t>(d);
  }
  return v;
}

std::vector<CodePoints> normalized(std::vector<CodePoints> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
  std::vector<CodePoints> out;
  for (CodePoints r : ranges) {
    r.high = std::min(r.high, kLastCodePoint);
    if (r.low > r.high) continue;
    if (!out.empty() && r.low <= out.back().high + 1) {
      out.back().high = std::max(out.back().high, r.high);
    } else {
      out.push_back(r);
    }
  }
  std::vector<CodePoints> result;
  for (CodePoints r : out) {  // cut the surrogates out
    if (r.low < kSurrogates.low) result.push_back({r.low, std::min(r.high, kSurrogates.low - 1)});
    if (r.high > kSurrogates.high)
      result.push_back({std::max(r.low, kSurrogates.high + 1), r.high});
  }
  return result;
}

std::vector<CodePoints> complement(std::vector<CodePoints> ranges) {
  std::vector<CodePoints> out;
  uint32_t next = 0;
  ranges.push_back(kSurrogates);
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
  for (CodePoints r : ranges) {
    if (r.low > next) out.push_back({next, r.low - 1});
    next = std::max(next, r.high + 1);
  }
  if (next <= kLastCodePoint) out.push_back({next, kLastCodePoint});
  return out;
}

ExprId utf8_character(GrammarBuilder& b, std::vector<CodePoints> ranges) {
  static constexpr CodePoints kLengths[] = {
      {0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xffff}, {0x10000, kLastCodePoint}};
  std::vector<ExprId> options;
  ByteSet ascii;
  for (CodePoints r : normalized(std::move(ranges))) {
    for (int length = 1; length <= 4; ++length) {
      CodePoints limit = kLengths[length - 1];
      CodePoints part{std::max(r.low, limit.low), std::min(r.high, limit.high)};
      if (part.low > part.high) continue;
      if (length == 1) {
        for (uint32_t c = part.low; c <= part.high; ++c) ascii.add(static_cast<uint8_t>(c));
      } else {
        options.push_back(Encoder(b).encode(part, length));
      }
    }
  }
  if (!ascii.empty()) options.push_back(b.bytes(ascii));
  return b.choice(std::move(options));
}

}  // namespace nmc
