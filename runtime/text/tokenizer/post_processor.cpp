#include "runtime/text/tokenizer/post_processor.h"

#include "runtime/text/tokenizer/tokenizer_json.h"

namespace nmc::tok {
namespace {

// Appends the ids that the template's table "special_tokens" gives for `name`.
Status append_special(const Json& component, const std::string& name, const std::string& where,
                      std::vector<int32_t>& out) {
  std::string what = "tokenizer.json: " + where;
  auto table = component.find("special_tokens");
  bool found = table != component.end() && table->is_object() && table->contains(name);
  if (!found || !(*table)[name].is_object()) {
    return invalid_argument(what + ": the token \"" + name +
                            "\" of the template is missing from \"special_tokens\"");
  }
  NMC_ASSIGN(const Json* ids,
             json_array((*table)[name], "ids", where + ".special_tokens[\"" + name + "\"]"));
  for (const Json& id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= kMaxTokens) {
      return invalid_argument(what + ".special_tokens[\"" + name +
                              "\"]: \"ids\" must hold token ids");
    }
    out.push_back(id.get<int32_t>());
  }
  return {};
}

Status add_template(const Json& component, const std::string& where, PostProcessor& out) {
  NMC_ASSIGN(const Json* parts, json_array(component, "single", where));
  std::vector<int32_t> before, after;
  int texts = 0;
  for (size_t i = 0; i < parts->size(); ++i) {
    const Json& part = (*parts)[i];
    std::string part_where = element_name(where + ".single", i);
    if (part.is_object() && part.contains("Sequence")) {
      ++texts;
    } else if (part.is_object() && part.contains("SpecialToken")) {
      std::string what = "tokenizer.json: " + part_where;
      NMC_ASSIGN(std::string name, json_string(part["SpecialToken"], "id", what));
      NMC_TRY(append_special(component, name, where, texts == 0 ? before : after));
    } else {
      return invalid_argument("tokenizer.json: " + part_where +
                              " must be a \"Sequence\" or a \"SpecialToken\"");
    }
  }
  if (texts != 1) {
    return invalid_argument("tokenizer.json: " + where +
                            ": the field \"single\" must hold the text exactly once");
  }
  // A later template goes around what an earlier one made.
  out.before.insert(out.before.begin(), before.begin(), before.end());
  out.after.insert(out.after.end(), after.begin(), after.end());
  return {};
}

Status add(const Json& component, const std::string& where, int depth, PostProcessor& out) {
  NMC_ASSIGN(std::string type, component_type(component, where));
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return add_template(component, where, out);
  if (type != "Sequence") {
    return unsupported("tokenizer.json: " + where + ": the post-processor type \"" + type +
                       "\" is not supported; TemplateProcessing, ByteLevel and Sequence are");
  }
  if (depth == kMaxComponentNesting)
    return invalid_argument("tokenizer.json: " + where + " nests too deeply");
  NMC_ASSIGN(const Json* list, json_array(component, "processors", where));
  for (size_t i = 0; i < list->size(); ++i)
    NMC_TRY(add((*list)[i], element_name(where, i), depth + 1, out));
  return {};
}

}  // namespace

void set_first(std::vector<int32_t>& ids, int32_t id, bool wanted) {
  bool has = !ids.empty() && ids.front() == id;
  if (wanted && !has) ids.insert(ids.begin(), id);
  if (!wanted && has) ids.erase(ids.begin());
}

void set_last(std::vector<int32_t>& ids, int32_t id, bool wanted) {
  bool has = !ids.empty() && ids.back() == id;
  if (wanted && !has) ids.push_back(id);
  if (!wanted && has) ids.pop_back();
}

Result<PostProcessor> read_post_processor(const Json& component) {
  PostProcessor out;
  if (!component.is_null()) NMC_TRY(add(component, "post_processor", 0, out));
  return out;
}

}  // namespace nmc::tok
