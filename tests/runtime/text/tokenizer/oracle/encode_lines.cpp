// The bridge to the JavaScript oracle: reads one JSON string per line, writes two lines of ids for
// each, with markers recognised (and the post-processor's ids) and with all text literal.
//
//   tokenizer_encode_lines TOKENIZER_JSON < strings > ids
//   tokenizer_encode_lines --assigned      the code points that our Unicode tables know, as ranges
#include <cstdio>
#include <iostream>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/text/tokenizer/regex.h"
#include "runtime/text/tokenizer/tokenizer.h"
#include "runtime/text/tokenizer/unicode.h"

namespace {

int fail(const nmc::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

int print_assigned() {
  auto assigned = nmc::tok::Regex::compile("\\P{Cn}", "assigned");
  if (!assigned.ok()) return fail(assigned.status());
  nmc::tok::RegexScratch scratch;
  uint32_t begin = 0;
  bool inside = false;
  for (uint32_t c = 0; c <= 0x110000; ++c) {
    bool known = false;
    if (c < 0x110000 && (c < 0xd800 || c > 0xdfff)) {
      std::string text;
      nmc::tok::append_utf8(text, c);
      known = assigned->find(text, 0, scratch).outcome == nmc::tok::Regex::Outcome::kMatch;
    }
    if (known && !inside) begin = c;
    if (!known && inside) std::printf("%u %u\n", begin, c - 1);
    inside = known;
  }
  return 0;
}

void print(const std::vector<int32_t>& ids) {
  for (size_t i = 0; i < ids.size(); ++i) std::printf(i ? " %d" : "%d", ids[i]);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::string_view(argv[1]) == "--assigned") return print_assigned();
  auto json = nmc::read_file(argv[1], 1u << 28);
  if (!json.ok()) return fail(json.status());
  nmc::TokenizerFiles files;
  files.tokenizer_json = *json;
  auto tokenizer = nmc::load_tokenizer(files);
  if (!tokenizer.ok()) return fail(tokenizer.status());
  std::string line;
  while (std::getline(std::cin, line)) {
    auto text = nmc::parse_json(line, "line");
    if (!text.ok()) return fail(text.status());
    const auto& string = text->get_ref<const std::string&>();
    print((*tokenizer)->encode_with_bos(string, true));
    print((*tokenizer)->encode(string, false));
  }
  return 0;
}
