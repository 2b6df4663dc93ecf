// Unicode normalization form C, for text that is nearly always in that form already.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nmc::tok {

// Whether a quick look shows that `text` is in form C.
bool surely_nfc(std::string_view text);

// A stretch of the input that normalizes on its own, and what it becomes (often the same bytes).
using NfcStretch = std::function<void(std::string_view before, std::string_view after)>;

// Calls `stretch` for consecutive stretches that cover `text`. Bytes that are not UTF-8 pass
// unchanged and compose with nothing.
void normalize_nfc(std::string_view text, const NfcStretch& stretch);

}  // namespace nmc::tok
