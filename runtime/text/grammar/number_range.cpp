#include "runtime/text/grammar/number_range.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nmc {
namespace {

constexpr int64_t kMaxWholeDigits = 19, kMaxBoundFraction = 12;

using Bound = std::optional<NumberBound>;

int compare_whole(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

// Numbers of one sign, by their absolute value.
class Magnitudes {
 public:
  Magnitudes(GrammarBuilder& b, bool integer) : b_(b), integer_(integer) {}

  // low: absent means 0; high: absent means no limit.
  ExprId between(const Bound& low, const Bound& high) {
    std::string from = low ? low->value.whole : "0";
    std::vector<ExprId> options;
    if (high && compare_whole(from, high->value.whole) == 0) {
      return b_.sequence({b_.literal(from), fraction(low, high)});
    }
    if (high && compare_whole(from, high->value.whole) > 0) return b_.never();
    if (low) options.push_back(b_.sequence({b_.literal(from), fraction(low, {})}));
    if (high) options.push_back(b_.sequence({b_.literal(high->value.whole), fraction({}, high)}));
    // Whole parts strictly between the two.
    std::string top = high ? high->value.whole : "1" + std::string(kMaxWholeDigits, '0');
    options.push_back(b_.sequence({wholes(low ? from : "", top), fraction({}, {})}));
    return b_.choice(std::move(options));
  }

 private:
  ExprId digits(char low, char high) {
    return b_.bytes(ByteSet::range(static_cast<uint8_t>(low), static_cast<uint8_t>(high)));
  }
  ExprId any_digits(size_t n) {
    auto count = static_cast<int64_t>(n);
    return n == 0 ? b_.empty() : b_.repeat(digits('0', '9'), count, count);
  }

  // Whole numbers w with low < w < high; low empty: from 0 on, 0 included.
  ExprId wholes(const std::string& low, const std::string& high) {
    std::vector<ExprId> options;
    if (low.empty() && high != "0") options.push_back(b_.literal("0"));
    size_t shortest = low.empty() ? 1 : low.size();
    for (size_t n = shortest; n <= high.size(); ++n) {
      std::string first = n == low.size() ? low : std::string(n, '0');
      std::string last = n == high.size() ? high : std::string(n, '9');
      bool open_low = n == low.size(), open_high = n == high.size();
      options.push_back(same_length(first, last, 0, open_low, open_high));
    }
    return b_.choice(std::move(options));
  }

  // Digits from position `i` on of numbers above `low` and below `high` (of one length); a bound
  // counts while all digits before were equal to it.
  ExprId same_length(const std::string& low, const std::string& high, size_t i, bool at_low,
                     bool at_high) {
    if (i == low.size()) return at_low || at_high ? b_.never() : b_.empty();
    char least = at_low ? low[i] : i == 0 ? '1' : '0';
    char most = at_high ? high[i] : '9';
    if (at_low && at_high && least == most) {
      return b_.sequence({digits(least, least), same_length(low, high, i + 1, true, true)});
    }
    std::vector<ExprId> options;
    size_t rest = low.size() - i - 1;
    if (at_low && least <= most)
      options.push_back(
          b_.sequence({digits(least, least), same_length(low, high, i + 1, true, false)}));
    if (at_high && most >= least) {
      if (!(i == 0 && most == '0'))
        options.push_back(
            b_.sequence({digits(most, most), same_length(low, high, i + 1, false, true)}));
    }
    char inner_low = static_cast<char>(at_low ? least + 1 : least),
         inner_high = static_cast<char>(at_high ? most - 1 : most);
    if (inner_low <= inner_high)
      options.push_back(b_.sequence({digits(inner_low, inner_high), any_digits(rest)}));
    return b_.choice(std::move(options));
  }

  // What may follow the whole part when it equals the bounds' whole parts; absent: no bound.
  ExprId fraction(const Bound& low, const Bound& high) {
    bool none_low = !low || (low->value.fraction.empty() && !low->exclusive);
    bool none_high = !high || !(high->value.fraction.empty() && high->exclusive);
    if (integer_) return none_low && none_high ? b_.empty() : b_.never();
    std::vector<ExprId> options;
    if (none_low && none_high) options.push_back(b_.empty());
    options.push_back(b_.sequence({b_.literal("."), tail(low, high, 0, kMaxBoundFraction)}));
    return b_.choice(std::move(options));
  }

  // Fraction digits from position `i` on, at least one in all.
  ExprId tail(const Bound& low, const Bound& high, size_t i, int64_t room) {
    if (!low && !high) return b_.repeat(digits('0', '9'), i == 0 ? 1 : 0, room);
    if (room == 0) return ends_here(low, high, i) ? b_.empty() : b_.never();
    std::vector<ExprId> options;
    if (i > 0 && ends_here(low, high, i)) options.push_back(b_.empty());
    char least = low ? digit_of(*low, i) : '0', most = high ? digit_of(*high, i) : '9';
    for (char d = least; d <= most; ++d) {
      Bound next_low = low && d == least ? low : Bound{},
            next_high = high && d == most ? high : Bound{};
      options.push_back(b_.sequence({digits(d, d), tail(next_low, next_high, i + 1, room - 1)}));
      if (!next_low && !next_high) {  // the digits up to the last free one behave alike
        char last = high ? static_cast<char>(most - 1) : '9';
        options.back() = b_.sequence({digits(d, last), tail({}, {}, i + 1, room - 1)});
        d = last;
      }
    }
    return b_.choice(std::move(options));
  }

  static char digit_of(const NumberBound& b, size_t i) {
    return i < b.value.fraction.size() ? b.value.fraction[i] : '0';
  }
  // All digits so far equal the bounds' that are still given: is the number inside as it stands?
  static bool ends_here(const Bound& low, const Bound& high, size_t i) {
    if (low && (i < low->value.fraction.size() || low->exclusive)) return false;
    if (high && i >= high->value.fraction.size() && high->exclusive) return false;
    return true;
  }

  GrammarBuilder& b_;
  bool integer_;
};

Bound magnitude(const Bound& bound) {
  Bound out = bound;
  if (out) out->value.negative = false;
  return out;
}

}  // namespace

Decimal Decimal::from_int(int64_t value) {
  Decimal d;
  d.negative = value < 0;
  uint64_t size = d.negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  d.whole = std::to_string(size);
  return d;
}

Decimal Decimal::from_double(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9e18)
    return from_int(static_cast<int64_t>(value));
  char text[400];
  // The shortest decimal that reads back as the same double: what the schema's author wrote.
  auto end =
      std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::fixed).ptr;
  std::string s(text, end);
  size_t point = std::min(s.find('.'), s.size());
  Decimal d;
  d.negative = value < 0;
  d.whole = s.substr(0, point);
  d.fraction = s.substr(std::min(point + 1, s.size()));
  d.fraction.erase(d.fraction.find_last_not_of('0') + 1);
  return d;
}

ExprId number_between(GrammarBuilder& b, const Bound& low, const Bound& high, bool integer) {
  Magnitudes m(b, integer);
  std::vector<ExprId> options;
  bool low_negative = !low || low->value.negative;
  bool high_negative = high && (high->value.negative || (high->value.zero() && high->exclusive));
  if (!high_negative) {
    options.push_back(m.between(low_negative ? Bound{} : low, high));
  }
  if (low_negative) {
    // -x: the bounds change places. Zero is written without a sign.
    Bound least = high_negative ? magnitude(high) : Bound{NumberBound{Decimal::from_int(0), true}};
    options.push_back(b.sequence({b.literal("-"), m.between(least, magnitude(low))}));
  }
  return b.choice(std::move(options));
}

}  // namespace nmc
