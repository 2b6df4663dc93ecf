#include "tests/server/api/fixture.h"

#include "runtime/base/file.h"
#include "runtime/text/tokenizer/byte_alphabet.h"

namespace nmc::test {
namespace {

constexpr int32_t kEos = 256;

// One token for each byte, and the markers of the cmd4 dialect above them.
std::string byte_tokenizer() {
  Json vocab = Json::object();
  for (int i = 0; i < 256; ++i) {
    vocab[tok::to_byte_alphabet(std::string(1, static_cast<char>(i)))] = i;
  }
  Json added = Json::array();
  int id = kEos;
  for (const char* marker :
       {"<|END_OF_TURN_TOKEN|>", "<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>",
        "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|START_THINKING|>", "<|END_THINKING|>",
        "<|START_TEXT|>", "<|END_TEXT|>", "<|START_ACTION|>", "<|END_ACTION|>",
        "<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"}) {
    added.push_back({{"id", id++},
                     {"content", marker},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  Json byte_level = {{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", false}};
  return Json{{"version", "1.0"},
              {"added_tokens", added},
              {"normalizer", nullptr},
              {"pre_tokenizer", byte_level},
              {"post_processor", nullptr},
              {"decoder", byte_level},
              {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}}}
      .dump();
}

ModelDescription tiny_model(int64_t vocab, int64_t context) {
  ModelDescription m;
  m.architecture = "cohere2_moe";
  m.vocab = vocab;
  m.hidden = 64;
  m.heads = 2;
  m.kv_heads = 1;
  m.head_dim = 32;
  m.dense_width = 64;
  m.max_context = context;
  m.eos_tokens = {kEos};
  m.layers = {{.sparse = false, .rope = true, .window = 0}};
  return m;
}

}  // namespace

ApiTest::ApiTest(const Setup& setup)
    : service_(std::make_unique<api::Service>(
          api::ServiceOptions{.ping = setup.ping, .access = setup.access})) {
  TextFiles texts;
  texts.tokenizer.tokenizer_json = byte_tokenizer();
  texts.tokenizer.tokenizer_config_json = R"({"bos_token": "<BOS_TOKEN>"})";
  texts.chat_template =
      read_file(NMC_SOURCE_DIR "/models/cohere2moe-nano/chat_template.jinja", 1 << 20).value();
  auto model = api::make_served_model(texts, "");
  EXPECT_TRUE(model.ok()) << model.status().message();
  ModelDescription description = tiny_model((*model)->text.tokenizer->vocab_size(), setup.context);
  EngineOptions options{
      .context = setup.context, .parallel = setup.parallel, .max_queue = setup.max_queue};
  auto executor = std::make_unique<ScriptedExecutor>(
      description, kv_capacity_for(description, options), device_);
  auto engine = Engine::create(std::move(executor), options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  (*model)->name = "tiny";
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(std::move(engine).value());
  api::set_engines(**model, std::move(engines));
  tokenizer_ = (*model)->text.tokenizer.get();
  engine_ = (*model)->engine.get();
  unloaded_ = std::move(model).value();
  if (setup.load) service_->serve(std::move(unloaded_));
}

void ApiTest::say(const std::string& text, bool endless) {
  device_->script = tokenizer_->encode(text, true);
  if (!endless) device_->script.push_back(kEos);
}

http::Response ApiTest::ask(const std::string& method, const std::string& path,
                            const std::string& body, const Headers& headers) {
  return service_->handle({.method = method, .path = path, .body = body, .headers = headers},
                          client_);
}

Json ApiTest::answer(const std::string& path, const Json& body) {
  http::Response response = post(path, body);
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body);
}

Json ApiTest::refusal(const std::string& path, const Json& body, int status) {
  http::Response response = post(path, body);
  EXPECT_EQ(response.status, status) << body.dump() << " " << response.body;
  EXPECT_FALSE(response.stream) << body.dump();
  Json json = Json::parse(response.body.empty() ? "{}" : response.body);
  return json.value("error", Json::object());
}

std::vector<Json> ApiTest::events(const std::string& path, Json body) {
  body["stream"] = true;
  http::Response response = post(path, body);
  EXPECT_EQ(response.status, 200) << response.body;
  MemoryClient client;
  if (response.stream) response.stream(client);
  std::vector<Json> events;
  EXPECT_FALSE(client.pieces.empty());
  for (const std::string& piece : client.pieces) {
    if (piece.starts_with(":")) continue;
    EXPECT_TRUE(piece.starts_with("data: ") && piece.ends_with("\n\n")) << piece;
    std::string data = piece.substr(6, piece.size() - 8);
    if (data != "[DONE]") events.push_back(Json::parse(data));
  }
  EXPECT_EQ(client.pieces.back(), "data: [DONE]\n\n");
  return events;
}

std::vector<Json> ApiTest::named_events(const std::string& path, Json body) {
  body["stream"] = true;
  http::Response response = post(path, body);
  EXPECT_EQ(response.status, 200) << response.body;
  MemoryClient client;
  if (response.stream) response.stream(client);
  std::vector<Json> events;
  for (const std::string& piece : client.pieces) {
    if (piece.starts_with(":")) continue;
    size_t data = piece.find("\ndata: ");
    EXPECT_TRUE(piece.starts_with("event: ") && data != std::string::npos) << piece;
    events.push_back(Json::parse(piece.substr(data + 7)));
    EXPECT_EQ(piece.substr(7, data - 7), events.back()["type"]);
  }
  return events;
}

Json chat_body(const Json& more) {
  Json body = {{"messages", Json::array({{{"role", "user"}, {"content", "hello"}}})}};
  body.update(more);
  return body;
}

const char* const kTwoCalls =
    "Let me look.<|END_THINKING|><|START_ACTION|>[\n"
    "    {\"tool_call_id\": \"0\", \"tool_name\": \"weather\", \"parameters\": {\"city\": "
    "\"Bonn\"}},\n"
    "    {\"tool_call_id\": \"1\", \"tool_name\": \"weather\", \"parameters\": {}}\n"
    "]<|END_ACTION|>";

Json weather_tool() {
  return {{"type", "function"},
          {"function",
           {{"name", "weather"}, {"description", "?"}, {"parameters", {{"type", "object"}}}}}};
}

Json assemble(const std::vector<Json>& chunks) {
  Json message = {{"role", nullptr}, {"content", ""}};
  Json calls = Json::array(), logprobs = Json::array(), reason;
  for (const Json& chunk : chunks) {
    EXPECT_EQ(chunk["id"], chunks.front()["id"]);
    if (chunk["choices"].empty()) continue;
    const Json& choice = chunk["choices"][0];
    const Json& delta = choice["delta"];
    if (!choice["finish_reason"].is_null()) reason = choice["finish_reason"];
    if (delta.contains("role")) message["role"] = delta["role"];
    for (const char* key : {"content", "reasoning_content", "reasoning"}) {
      if (!delta.contains(key)) continue;
      message[key] = message.value(key, "") + delta[key].get<std::string>();
    }
    if (choice["logprobs"].is_object()) {
      for (const Json& item : choice["logprobs"]["content"]) logprobs.push_back(item);
    }
    for (const Json& call : delta.value("tool_calls", Json::array())) {
      size_t index = call["index"];
      if (call.contains("id")) {
        EXPECT_EQ(index, calls.size());
        calls.push_back(call);
        continue;
      }
      if (index >= calls.size()) {
        ADD_FAILURE() << "arguments before their call";
        continue;
      }
      Json& arguments = calls[index]["function"]["arguments"];
      arguments = arguments.get<std::string>() + call["function"]["arguments"].get<std::string>();
    }
  }
  if (!calls.empty()) message["tool_calls"] = calls;
  return {{"message", message}, {"logprobs", logprobs}, {"finish_reason", reason}};
}

}  // namespace nmc::test
