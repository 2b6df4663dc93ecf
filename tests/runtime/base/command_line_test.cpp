#include "runtime/base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nmc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CommandLine, HelpSaysWhatAPersonCanType) {
  CLI::App app("Does things.", "tool");
  std::string file, out;
  int count = 4;
  std::vector<int> list = {1, 8};
  app.add_option("FILE", file, "What to read")->required();
  app.add_option("OUT", out, "What to write");
  auto* number = app.add_option("-c,--count", count,
                                "How often, and that is a text of more words than fit in a line")
                     ->check(CLI::Range(1, 1024))
                     ->envname("NMC_COUNT")
                     ->capture_default_str();
  auto* group = app.add_option_group("A list")->require_option(1);
  group->add_option("--a-list-with-a-long-name", list, "Numbers")
      ->type_name("N,N")
      ->needs(number)
      ->capture_default_str();
  const std::string help = help_text(app);
  EXPECT_THAT(help, HasSubstr(" [OPTIONS] FILE [OUT]\n\nDoes things.\n\nArguments:\n"));
  EXPECT_THAT(help, HasSubstr("\n  FILE                        What to read\n"));
  EXPECT_THAT(
      help,
      HasSubstr("\n  -c, --count N               How often, and that is a text of more words "
                "than fit in a line\n                              (default: 4) [NMC_COUNT]\n"));
  EXPECT_THAT(help, HasSubstr("\nA list, one of:\n  --a-list-with-a-long-name N,N\n            "
                              "                  Numbers (with --count; default: 1,8)\n"));
  EXPECT_THAT(help, Not(HasSubstr("1024")));
}

TEST(CommandLine, NumbersAreFiniteAndInRange) {
  const CLI::Validator check = number_between(0.5, 2, " of seconds");
  for (std::string good : {"0.5", "2", "1e0"}) EXPECT_EQ(check(good), "") << good;
  for (std::string bad : {"", "nan", "inf", "0.4", "2.1", "1x"}) {
    EXPECT_EQ(check(bad), "must be a number of seconds, 0.5 to 2") << bad;
  }
}

}  // namespace
}  // namespace nmc::test
