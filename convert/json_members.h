// Reads one large flat JSON object member by member, as safetensors headers and indexes are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

using OnMember = std::function<Status(const std::string& key, const Json& value)>;

// Calls `member` for each member of the object that `text` holds, or, when `inside` is not empty,
// of the object that is its member `inside`. A member "__metadata__" is passed over. Time and
// memory are linear in the text, which Json itself (it compares every key with all earlier ones) is
// not. Errors, which name `what`: invalid JSON, a repeated key, a member of more than 256 values or
// deeper than 4 levels, no object there, and whatever `member` returns.
Status for_each_member(std::string_view text, std::string_view inside, const std::string& what,
                       const OnMember& member);

}  // namespace nmc
