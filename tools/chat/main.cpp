// chat: a conversation with a model in the terminal, or one answer for a pipe.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "runtime/base/file.h"
#include "runtime/base/standard_output.h"
#include "runtime/base/text.h"
#include "tools/chat/arguments.h"
#include "tools/chat/conversation.h"
#include "tools/chat/ctrl_c.h"
#include "tools/chat/local_answerer.h"
#include "tools/chat/remote_answerer.h"
#include "tools/chat/screen.h"

namespace {

constexpr int kFailure = 1, kInterrupted = 130;
constexpr uint64_t kMaxPromptBytes = 16u << 20;
constexpr const char* kHelp =
    "/clear   start over\n/exit    leave (also: Ctrl-D)\n"
    "A line that ends in \\ goes on in the next one. Ctrl-C stops an answer.\n";

int complain(const nmc::Status& status) {
  std::fprintf(stderr, "%s: %s\n", nmc::program_name(),
               nmc::without_controls(status.message()).c_str());
  return kFailure;
}

// Answers the conversation's last message and takes note of the answer.
nmc::Status answer(nmc::Answerer& answerer, const nmc::ChatArguments& a, nmc::Screen& screen,
                   nmc::Conversation* conversation) {
  std::string content, reasoning;
  nmc::forget_ctrl_c();
  const auto stats = answerer.answer(
      conversation->messages(), a.settings,
      [&](const nmc::AnswerPiece& piece) {
        (piece.reasoning ? reasoning : content) += piece.text;
        screen.show(piece);
      },
      nmc::ctrl_c_pressed);
  screen.end_answer();
  conversation->answered(content, reasoning);
  if (!stats.ok()) return stats.status();
  if (!a.quiet && ::isatty(STDERR_FILENO)) screen.note(nmc::timings(*stats));
  return {};
}

// A message from the terminal; nothing at the end of input.
// `known`: Ctrl-C was pressed at the message before, and its user was told.
std::optional<std::string> read_message(bool known) {
  std::string message;
  for (const char* prompt = "> ";; prompt = ". ") {
    std::fputs(prompt, stdout);
    std::fflush(stdout);
    std::string line;
    for (;;) {
      if (!nmc::wait_for_input(known)) {
        std::fputs("\n(Ctrl-C again or Ctrl-D leaves)\n", stdout);
        return std::string();
      }
      const int c = std::fgetc(stdin);
      if (c == EOF) return std::nullopt;
      if (c == '\n') break;
      line += static_cast<char>(c);
    }
    if (!line.ends_with("\\")) return message + line;
    line.back() = '\n';
    message += line;
  }
}

int converse(nmc::Answerer& answerer, const nmc::ChatArguments& a) {
  nmc::Screen screen(nmc::Screen::detect());
  nmc::Conversation conversation(a.system);
  std::setvbuf(stdin, nullptr, _IONBF, 0);  // what is read is what was waited for
  std::fputs("Type a message; /help lists the commands.\n", stdout);
  for (;;) {
    const std::optional<std::string> message = read_message(nmc::ctrl_c_pressed());
    if (!message) break;
    if (message->find_first_not_of(" \t\n") == std::string::npos) continue;
    nmc::forget_ctrl_c();
    if (*message == "/exit") return 0;
    if (*message == "/clear") {
      conversation.clear();
    } else if (*message == "/help") {
      std::fputs(kHelp, stdout);
    } else {
      conversation.ask(nmc::valid_utf8(*message));
      if (const auto status = answer(answerer, a, screen, &conversation); !status.ok())
        complain(status);
      nmc::forget_ctrl_c();
    }
  }
  std::fputs("\n", stdout);
  return 0;
}

int answer_once(nmc::Answerer& answerer, const nmc::ChatArguments& a, const std::string& prompt) {
  nmc::Screen screen(nmc::Screen::detect());
  nmc::Conversation conversation(a.system);
  conversation.ask(nmc::valid_utf8(prompt));
  const auto status = answer(answerer, a, screen, &conversation);
  if (!status.ok()) return complain(status);
  return nmc::ctrl_c_pressed() ? kInterrupted : 0;
}

// What -p, -f and standard input ask, one below the other; nothing when none of them does.
nmc::Result<std::optional<std::string>> given_prompt(const nmc::ChatArguments& a) {
  std::optional<std::string> prompt = a.prompt;
  const auto add = [&](const std::string& text) {
    prompt = prompt ? *prompt + "\n\n" + text : text;
  };
  if (a.prompt_file) {
    NMC_ASSIGN(const std::string text, nmc::read_file(*a.prompt_file, kMaxPromptBytes));
    add(text);
  }
  if (!::isatty(STDIN_FILENO)) {
    std::string text;
    for (int c = 0; (c = std::getchar()) != EOF;) {
      if (text.size() == kMaxPromptBytes)
        return nmc::invalid_argument("standard input is longer than 16 MiB");
      text += static_cast<char>(c);
    }
    if (text.find_first_not_of(" \t\r\n") != std::string::npos) add(text);
    if (!prompt) return nmc::invalid_argument("there is no question on standard input");
  }
  return prompt;
}

int run(const nmc::ChatArguments& a) {
  const auto prompt = given_prompt(a);
  if (!prompt.ok()) return complain(prompt.status());
  auto answerer = a.url.empty() ? nmc::LocalAnswerer::open(a.local)
                                : nmc::RemoteAnswerer::open(a.url, a.api_key);
  if (!answerer.ok()) return complain(answerer.status());
  nmc::watch_ctrl_c();
  return *prompt ? answer_once(**answerer, a, **prompt) : converse(**answerer, a);
}

}  // namespace

int main(int argc, char** argv) {
  return nmc::exit_code_after_output(run(nmc::parse_chat_arguments(argc, argv)));
}
