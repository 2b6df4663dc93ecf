// Arguments of a call that a limit cut off, as clients send them back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nmc {

// The members that are complete, as one JSON object: {"a": 1, "b": "x gives {"a": 1}. Nothing when
// the text does not begin like a JSON object, or is no such beginning.
std::optional<std::string> complete_cut_object(std::string_view text);

}  // namespace nmc
