// Edits of marked text that methods and filters share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/template/marked_text.h"

namespace nmc::jinja {

// Removes from the ends the characters in `chars`; null: white space.
MarkedText strip(const MarkedText& text, const std::string* chars, bool left, bool right);

// Replaces the first `count` occurrences of `from`; negative: all.
MarkedText replace(const MarkedText& text, const std::string& from, const MarkedText& to,
                   int64_t count);

MarkedText upper(const MarkedText& text);
MarkedText lower(const MarkedText& text);
MarkedText capitalize(const MarkedText& text);
// str.title: a letter after anything but a letter with case is raised, every other one lowered.
MarkedText title_case(const MarkedText& text);

// Adds `left` and `right` blanks (or other fill characters).
MarkedText pad(const MarkedText& text, size_t left, size_t right, std::string_view fill = " ");

// Joins with a separator.
MarkedText join(const std::vector<MarkedText>& parts, const MarkedText& separator);

// Lines without their ends, as str.splitlines.
std::vector<MarkedText> split_lines(const MarkedText& text, bool keep_ends);

}  // namespace nmc::jinja
