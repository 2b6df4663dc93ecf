// The real program on the bundled small model: what no unit test sees.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

#include "runtime/base/json.h"
#include "tests/e2e/server_process.h"
#include "tests/server/raw_client.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {
namespace {

using std::chrono::seconds;

constexpr const char* kCompletions = "/v1/completions";
constexpr const char* kChat = "/v1/chat/completions";

// One server for all tests but those that end theirs.
class ServerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    Process convert({NMC_BIN_DIR "/convert", NMC_SOURCE_DIR "/models/cohere2moe-nano", model()},
                    folder_->path() / "convert.log");
    ASSERT_EQ(convert.wait(seconds(15)), 0) << convert.output();
    server_ = start({});
    port_ = wait_until_ready(*server_, seconds(15));
    ASSERT_GT(port_, 0) << server_->output();
  }
  static void TearDownTestSuite() {
    server_.reset();
    folder_.reset();
  }

  static std::string model() { return folder_->path() / "nano.nmc"; }

  static std::unique_ptr<Process> start(const std::vector<std::string>& more) {
    static int count = 0;
    std::vector<std::string> command = {
        NMC_BIN_DIR "/server", "-m", model(), "--port", "0", "-np", "2"};
    command.insert(command.end(), more.begin(), more.end());
    return std::make_unique<Process>(
        command, folder_->path() / ("server" + std::to_string(count++) + ".log"));
  }

  static Json post(const std::string& path, const Json& body, int status = 200) {
    Reply reply = ask(port_, "POST", path, body.dump());
    EXPECT_EQ(reply.status, status) << reply.body;
    EXPECT_TRUE(reply.complete);
    return Json::parse(reply.body.empty() ? "null" : reply.body);
  }

  // The data events of a streamed answer.
  static std::vector<Json> stream(const std::string& path, Json body) {
    body["stream"] = true;
    Reply reply = ask(port_, "POST", path, body.dump());
    EXPECT_EQ(reply.status, 200);
    EXPECT_NE(reply.headers.find("text/event-stream"), std::string::npos);
    EXPECT_TRUE(reply.body.ends_with("data: [DONE]\n\n")) << reply.body;
    std::vector<Json> events;
    size_t at = 0;
    while ((at = reply.body.find("data: {", at)) != std::string::npos) {
      size_t end = reply.body.find("\n\n", at);
      events.push_back(Json::parse(reply.body.substr(at + 6, end - at - 6)));
      at = end;
    }
    return events;
  }

  // A request that runs for seconds.
  static std::string long_request() {
    Json body = {{"prompt", "once"}, {"max_tokens", 500}, {"ignore_eos", true}, {"stream", true}};
    return request_text("POST", kCompletions, body.dump());
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline std::unique_ptr<Process> server_;
  static inline int port_ = 0;
};

TEST_F(ServerTest, SaysWhatItServes) {
  Json list = Json::parse(ask(port_, "GET", "/v1/models").body);
  EXPECT_EQ(list["data"][0]["id"], "nano");
  EXPECT_EQ(list["data"][0]["max_model_len"], 512);
  std::string output = server_->output();
  EXPECT_NE(output.find("context     512 tokens"), std::string::npos) << output;
  EXPECT_NE(output.find("\"@ai-sdk/openai-compatible\""), std::string::npos) << output;
  Reply metrics = ask(port_, "GET", "/metrics");
  EXPECT_NE(metrics.headers.find("content-type: text/plain; version=0.0.4"), std::string::npos);
  EXPECT_NE(metrics.body.find("\nnmc_slots 2\n"), std::string::npos) << metrics.body;
}

TEST_F(ServerTest, CompletesTextAndIdsAlike) {
  Json ids = post("/tokenize", {{"content", "hello"}, {"add_special", true}})["tokens"];
  Json body = {{"prompt", "hello"}, {"max_tokens", 12}, {"temperature", 0}, {"logprobs", 2}};
  Json from_text = post(kCompletions, body);
  body["prompt"] = ids;
  Json from_ids = post(kCompletions, body);
  EXPECT_EQ(from_text["choices"], from_ids["choices"]);
  EXPECT_EQ(from_text["usage"]["prompt_tokens"], ids.size());
  EXPECT_EQ(from_text["usage"]["completion_tokens"], 12);
  for (const Json& logprob : from_text["choices"][0]["logprobs"]["token_logprobs"]) {
    EXPECT_LE(logprob.get<double>(), 0.0);
  }
}

TEST_F(ServerTest, AStreamAddsUpToTheWholeAnswer) {
  for (double temperature : {0.0, 1.0}) {
    Json body = {
        {"prompt", "hello"}, {"max_tokens", 24}, {"temperature", temperature}, {"seed", 5}};
    Json whole = post(kCompletions, body)["choices"][0];
    std::string text;
    for (const Json& chunk : stream(kCompletions, body)) {
      text += chunk["choices"][0]["text"].get<std::string>();
    }
    EXPECT_EQ(text, whole["text"]);
    EXPECT_EQ(post(kCompletions, body)["choices"][0], whole);
  }
}

TEST_F(ServerTest, ChatsBothWays) {
  Json body = {{"messages", Json::array({{{"role", "user"}, {"content", "hi"}}})},
               {"max_tokens", 16},
               {"seed", 1},
               {"reasoning_effort", "none"}};
  Json whole = post(kChat, body)["choices"][0];
  EXPECT_EQ(whole["message"]["role"], "assistant");
  auto chunks = stream(kChat, body);
  ASSERT_GE(chunks.size(), 2u);
  EXPECT_EQ(chunks.front()["choices"][0]["delta"]["role"], "assistant");
  EXPECT_EQ(chunks.back()["choices"][0]["finish_reason"], whole["finish_reason"]);
  std::string text;
  for (const Json& chunk : chunks) text += chunk["choices"][0]["delta"].value("content", "");
  EXPECT_EQ(text, whole["message"]["content"]);
}

TEST_F(ServerTest, OverflowIs400) {
  std::vector<int> ids(600, 70);
  Json error = post(kCompletions, {{"prompt", ids}, {"stream", true}}, 400)["error"];
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_EQ(error["n_prompt_tokens"], 600);
  EXPECT_EQ(error["n_ctx"], 512);
}

TEST_F(ServerTest, ClientsThatLeaveFreeTheirSlots) {
  for (int i = 0; i < 2; ++i) {  // one for each slot
    RawClient client(port_);
    client.send(long_request());
    client.read_until("data: ", seconds(5));
  }
  // Waits for a slot, and would wait for seconds if those were still taken.
  auto begin = std::chrono::steady_clock::now();
  post(kCompletions, {{"prompt", "x"}, {"max_tokens", 1}});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(2));
}

TEST_F(ServerTest, SigtermEndsAStreamProperly) {
  auto server = start({});
  int port = wait_until_ready(*server, seconds(15));
  ASSERT_GT(port, 0) << server->output();
  RawClient client(port);
  client.send(long_request());
  Reply reply;
  std::string first = client.read_until("data: ", seconds(5));
  EXPECT_NE(first.find("200 OK"), std::string::npos);
  server->signal(SIGTERM);
  std::string rest = client.read_until("data: [DONE]", seconds(12));
  EXPECT_NE(rest.find("\"finish_reason\":\"length\""), std::string::npos);
  EXPECT_TRUE(rest.ends_with("data: [DONE]"));
  EXPECT_EQ(server->wait(seconds(5)), 0) << server->output();
}

TEST_F(ServerTest, ExitCodesAndSentences) {
  auto run = [](std::vector<std::string> arguments, int code, const std::string& sentence) {
    arguments.insert(arguments.begin(), NMC_BIN_DIR "/server");
    Process process(arguments, folder_->path() / "exit.log");
    EXPECT_EQ(process.wait(seconds(15)), code) << process.output();
    EXPECT_NE(process.output().find(sentence), std::string::npos) << process.output();
  };
  run({"--help"}, 0, "NMC_CTX_SIZE");
  run({"--version"}, 0, "nmc ");
  run({}, 2, "--model is required");
  run({"-m", model(), "--no-such-flag"}, 2, "see server --help");
  for (const char* seconds : {"nan", "-1", "1e300", "", "5s"}) {
    run({"-m", model(), "--timeout", seconds}, 2, "must be a number of seconds, 0.1 to 86400");
  }
  run({"-m", model(), "--decode-share", "nan"}, 2, "must be a number, 0 to 0.95");
  run({"-m", model(), "--host", ""}, 2, "must not be empty");
  run({"-m", model(), "-c", "-1"}, 2, "not in range 0 to 1073741824");
  run({"-m", model(), "--api-key", ""}, 2, "a key must not be empty");
  run({"-m", model(), "--api-key-file", "/dev/null"}, 2, "holds no key");
  run({"-m", folder_->path() / "missing.nmc", "--port", "0"}, 1, "missing.nmc");
  run({"-m", model(), "--port", "0", "-c", "100000"}, 1, "--ctx-size asks for 100000 tokens");
  run({"-m", model(), "--port", "0", "--device", "abacus"}, 1, "there is no device \"abacus\"");
  run({"-m", model(), "--port", std::to_string(port_)}, 1, "another program listens on");
}

}  // namespace
}  // namespace nmc::test
