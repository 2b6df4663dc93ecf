// The real program: on the bundled model, and against a server that says what the test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "convert/convert.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"
#include "tools/chat/screen.h"
#include "tools/http/event_client.h"
#include "tools/http/event_reader.h"

namespace nmc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers every chat request with the same deltas.
class FakeServer {
 public:
  explicit FakeServer(std::vector<Json> deltas) : deltas_(std::move(deltas)) {
    http_.Get("/v1/models", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(R"({"data": [{"id": "fake"}]})", "application/json");
    });
    http_.Post("/v1/chat/completions", [this](const httplib::Request& request,
                                              httplib::Response& response) {
      bodies.push_back(require(parse_json(request.body, "request")));
      key = request.get_header_value("Authorization");
      if (deltas_.empty()) {
        response.status = 429;
        response.set_content(R"({"error": {"message": "Too many."}})", "application/json");
      } else {
        response.set_chunked_content_provider(
            "text/event-stream", [this](size_t, httplib::DataSink& sink) { return stream(sink); });
      }
    });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
  }
  ~FakeServer() {
    http_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::vector<Json> bodies;  // of the chat requests so far
  std::string key;
  bool endless = false;  // after its deltas the answer goes on without a word
  bool ends = true;      // the answer says that it is complete

 private:
  bool stream(httplib::DataSink& sink) {
    const auto send = [&](const Json& event) {
      const std::string text = "data: " + event.dump() + "\r\n\r\n";
      return sink.write(text.data(), text.size());
    };
    for (const Json& delta : deltas_) {
      const Json choice = {{"index", 0}, {"delta", delta}, {"finish_reason", nullptr}};
      send({{"choices", Json::array({choice})}});
    }
    for (int i = 0; endless && i < 200; ++i) {
      if (!sink.write(": ping\n\n", 8)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const Json usage = {{"prompt_tokens", 9},
                        {"completion_tokens", 3},
                        {"prompt_tokens_details", {{"cached_tokens", 4}}}};
    send({{"choices", Json::array()}, {"usage", usage}});
    if (ends) sink.write("data: [DONE]\n\n", 14);
    sink.done();
    return true;
  }

  std::vector<Json> deltas_;
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

const std::vector<Json> kAnswer = {{{"role", "assistant"}, {"content", ""}},
                                   {{"reasoning_content", "Let me see."}},
                                   {{"content", "Four"}},
                                   {{"content", ".\033[2J"}}};

Finished chat(const std::vector<std::string>& arguments) {
  return run_program("chat", arguments);
}

TEST(Chat, APipeGetsTheBareAnswer) {
  FakeServer server(kAnswer);
  const TemporaryFolder folder;
  require(write_file(folder / "question", "And why?\n"));
  const Finished run = chat({"--url", server.url() + "/v1/", "-p", "2+2?", "-f",
                             folder / "question", "-sys", "Be brief.", "--temp", "0.5", "-n", "20",
                             "--seed", "7", "--reasoning", "off", "--api-key", "secret"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "Four.\033[2J\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(server.key, "Bearer secret");
  ASSERT_EQ(server.bodies.size(), 1u);
  const Json& body = server.bodies[0];
  EXPECT_EQ(body["model"], "fake");
  EXPECT_EQ(
      body["messages"].dump(),
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"2+2?\n\nAnd why?\n"}])");
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["max_tokens"], 20);
  EXPECT_EQ(body["seed"], 7);
  EXPECT_EQ(body["reasoning_effort"], "none");
  EXPECT_FALSE(body.contains("top_p"));
}

TEST(Chat, AnAnswerWithoutItsEndIsNoAnswer) {
  FakeServer server(kAnswer);
  server.ends = false;
  const Finished run = chat({"--url", server.url(), "-p", "x"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("the stream ended without [DONE]"));
}

TEST(EventClient, Addresses) {
  for (const char* good : {"http://h", "https://h", "http://h:80/v1/", "http://h/some/where/v1"}) {
    EXPECT_TRUE(EventClient::create(good, "").ok()) << good;
  }
  for (const char* wrong : {"h:80", "ftp://h", "http://", "http:///v1"}) {
    EXPECT_FALSE(EventClient::create(wrong, "").ok()) << wrong;
  }
}

TEST(Chat, FailuresAreSentences) {
  FakeServer busy({});
  for (const auto& [arguments, words] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--url", busy.url(), "-p", "x"}, "answers 429: Too many."},
           {{"--url", "http://127.0.0.1:9", "-p", "x"}, "no answer from http://127.0.0.1:9"},
           {{"--url", "ftp://x", "-p", "x"}, "write http://HOST:PORT"},
           {{"-m", "/nowhere.nmc", "-p", "x"}, "/nowhere.nmc"},
           {{"--url", busy.url()}, "no question on standard input"},
           {{"--url", busy.url(), "-f", "/nowhere"}, "/nowhere"}}) {
    const Finished run = chat(arguments);
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, StartsWith("chat: "));
    EXPECT_THAT(run.err, HasSubstr(words));
    EXPECT_EQ(run.out, "");
  }
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"-m", "a", "--url", "b"},
                                             {"-m", "a", "--temp", "-1"},
                                             {"-m", "a", "--reasoning", "x"}}) {
    EXPECT_EQ(chat(arguments).code, 2);
  }
}

TEST(Chat, TheBundledModelAnswersTheSameForTheSameSeed) {
  const TemporaryFolder folder;
  OutputOptions options;
  options.out = folder / "nano.nmc";
  require(convert_checkpoint(golden_model("cohere2moe-nano").checkpoint, false, options));
  const auto ask = [&](const char* seed) {
    return chat({"-m", folder / "nano.nmc", "-p", "Hi", "-n", "12", "--seed", seed, "--device",
                 "reference", "--reasoning", "off", "-c", "256"});
  };
  const Finished first = ask("1");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out, "");
  EXPECT_EQ(ask("1").out, first.out);
}

// The program on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(std::vector<std::string> words) {
    words.insert(words.begin(), NMC_BIN_DIR "/chat");
    pid_ = ::forkpty(&fd_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Terminal() {
    ::kill(pid_, SIGKILL);
    ::close(fd_);
    if (!waited_) ::waitpid(pid_, nullptr, 0);
  }

  void type(const std::string& text) {
    EXPECT_EQ(::write(fd_, text.data(), text.size()), ssize_t(text.size()));
  }
  // Everything up to and with `words`, which must come within ten seconds.
  std::string until(const std::string& words) {
    std::string seen;
    while (seen.find(words) == std::string::npos) {
      pollfd ready{fd_, POLLIN, 0};
      char byte = 0;
      if (::poll(&ready, 1, 10'000) != 1 || ::read(fd_, &byte, 1) != 1) {
        ADD_FAILURE() << "no \"" << words << "\" in: " << seen;
        return seen;
      }
      seen += byte;
    }
    return seen;
  }
  int exit_code() {
    int status = 0;
    for (int i = 0; i < 200 && !waited_; ++i) {
      waited_ = ::waitpid(pid_, &status, WNOHANG) == pid_;
      if (!waited_) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return waited_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
  bool waited_ = false;
};

TEST(Chat, OnATerminalItConverses) {
  FakeServer server(kAnswer);
  Terminal terminal({"--url", server.url()});
  terminal.until("> ");
  terminal.type("2+2,\\\nor 3?\n");
  const std::string answer = terminal.until("\n> ");
  EXPECT_THAT(answer, HasSubstr("\033[2mLet me see.\r\n\r\n\033[0mFour.[2J\r\n"));
  EXPECT_THAT(answer, HasSubstr("[9 tokens read, 4 of them cached, in "));
  EXPECT_THAT(answer, HasSubstr(" s | 3 tokens"));
  terminal.type("again\n");
  terminal.until("\n> ");
  EXPECT_EQ(server.bodies[1]["messages"].dump(),
            R"([{"role":"user","content":"2+2,\nor 3?"},)"
            R"({"role":"assistant","content":"Four.\u001b[2J","reasoning_content":"Let me see."},)"
            R"({"role":"user","content":"again"}])");
  terminal.type("/clear\n");
  terminal.until("> ");
  terminal.type("anew\n");
  terminal.until("\n> ");
  EXPECT_EQ(server.bodies[2]["messages"].size(), 1u);
  terminal.type("\004");  // Ctrl-D
  EXPECT_EQ(terminal.exit_code(), 0);
}

TEST(Chat, CtrlCStopsAnAnswerAndThenTheProgram) {
  FakeServer server(kAnswer);
  server.endless = true;
  Terminal terminal({"--url", server.url()});
  terminal.until("> ");
  terminal.type("go on\n");
  terminal.until("Four");
  terminal.type("\003");
  terminal.until("\n> ");
  terminal.type("\003");
  terminal.until("leaves)");
  terminal.type("\003");
  EXPECT_EQ(terminal.exit_code(), 130);
}

TEST(Screen, ControlsOfTheTerminalAreLeftOut) {
  EXPECT_EQ(without_controls("a\033[31m\tb\r\n\x07é\x7f\xc2\x9b"
                             "c"),
            "a[31m\tb\né"
            "c");
}

TEST(EventReader, CutsMakeNoDifference) {
  const std::string stream =
      ": comment\n\ndata: {\"a\": 1}\n\ndata:{\"b\":\ndata: 2}\r\n\r\nevent: x\nid: 3\n\ndata: "
      "[DONE]\n\n";
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    EventReader reader;
    std::vector<std::string> events;
    for (size_t at = 0; at < stream.size(); at += piece) {
      require(reader.feed(stream.substr(at, piece), [&](const Json& event) {
        events.push_back(event.dump());
        return true;
      }));
    }
    EXPECT_THAT(events, ElementsAre(R"({"a":1})", R"({"b":2})"));
  }
  EventReader reader;
  EXPECT_THAT(reader.feed("data: {\n\n", [](const Json&) { return true; }).message(),
              HasSubstr("an event of the answer"));
}

}  // namespace
}  // namespace nmc::test
