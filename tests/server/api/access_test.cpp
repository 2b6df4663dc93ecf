// Keys, origins and the names of requests.
#include "tests/server/api/fixture.h"

namespace nmc::test {
namespace {

std::string header(const http::Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

class AccessTest : public ApiTest {
 protected:
  AccessTest()
      : ApiTest(
            Setup{.access = {.keys = {"secret-1", "other"}, .origins = {"https://app.example"}}}) {}

  int status_with(const Headers& headers, const std::string& path = "/v1/models") {
    return ask("GET", path, "", headers).status;
  }
};

TEST_F(AccessTest, OneOfTheKeysIsWanted) {
  EXPECT_EQ(status_with({}), 401);
  EXPECT_EQ(status_with({{"authorization", "Bearer wrong"}}), 401);
  EXPECT_EQ(status_with({{"authorization", "Bearer secret-"}}), 401);
  EXPECT_EQ(status_with({{"authorization", "Bearer secret-12"}}), 401);
  EXPECT_EQ(status_with({{"authorization", "Bearer "}}), 401);
  EXPECT_EQ(status_with({{"authorization", "Basic secret-1"}}), 401);
  EXPECT_EQ(status_with({{"authorization", "Bearer secret-1"}}), 200);
  EXPECT_EQ(status_with({{"authorization", "bearer other"}}), 200);
  EXPECT_EQ(status_with({{"x-api-key", "other"}}), 200);
  EXPECT_EQ(status_with({}, "/nothing"), 401) << "a stranger learns no routes";
  EXPECT_EQ(status_with({}, "/health"), 200);
  http::Response response = ask("GET", "/v1/models", "");
  Json error = Json::parse(response.body)["error"];
  EXPECT_EQ(error["code"], "invalid_api_key");
  EXPECT_EQ(error["type"], "authentication_error");
  EXPECT_EQ(header(response, "WWW-Authenticate"), "Bearer");
}

TEST_F(AccessTest, AllowedOriginsMayReadAnswers) {
  const Headers page = {{"origin", "https://app.example"},
                        {"access-control-request-headers", "authorization, content-type"}};
  http::Response before = ask("OPTIONS", kChat, "", page);
  EXPECT_EQ(before.status, 204);
  EXPECT_EQ(header(before, "Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(header(before, "Access-Control-Allow-Headers"), "authorization, content-type");
  http::Response refused = ask("GET", "/v1/models", "", page);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(header(refused, "Access-Control-Allow-Origin"), "https://app.example");
  const Headers stranger = {{"origin", "https://evil.example"}};
  EXPECT_EQ(ask("OPTIONS", kChat, "", stranger).status, 401);
  EXPECT_EQ(header(ask("GET", "/health", "", stranger), "Access-Control-Allow-Origin"), "");
}

TEST_F(AccessTest, RefusalsOfTheHttpServerAreDressed) {
  http::Response refusal;
  refusal.status = 413;
  refusal.body = R"({"error": {"message": "too large", "code": "body_too_large"}})";
  http::Response chat = refusal, message = refusal, unread = refusal;
  const Headers page = {{"origin", "https://app.example"}, {"x-request-id", "mine"}};
  service_->dress({.method = "POST", .path = kChat, .headers = page}, &chat);
  EXPECT_EQ(header(chat, "X-Request-Id"), "mine");
  EXPECT_EQ(header(chat, "Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(chat.body, refusal.body);
  service_->dress({.method = "POST", .path = "/v1/messages"}, &message);
  EXPECT_EQ(Json::parse(message.body)["error"]["type"], "request_too_large");
  service_->dress({}, &unread);
  EXPECT_TRUE(header(unread, "X-Request-Id").starts_with("req_"));
  EXPECT_EQ(header(unread, "Access-Control-Allow-Origin"), "");
}

TEST(AllowOrigin, WhereAllMayReadAnUnreadRequestMay) {
  http::Response response;
  api::allow_origin({.origins = {"*"}}, {}, &response);
  EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "*");
}

class OpenTest : public ApiTest {};

TEST_F(OpenTest, NoOriginIsAllowedUnlessAsked) {
  const Headers page = {{"origin", "http://localhost"}};
  EXPECT_EQ(ask("OPTIONS", kChat, "", page).status, 405);
  EXPECT_EQ(header(ask("GET", "/v1/models", "", page), "Access-Control-Allow-Origin"), "");
}

TEST_F(OpenTest, EveryAnswerNamesItsRequest) {
  EXPECT_EQ(header(ask("GET", "/health", "", {{"x-request-id", "my-1.x_Y"}}), "X-Request-Id"),
            "my-1.x_Y");
  std::string made = header(ask("GET", "/nothing", "", {{"x-request-id", "a\"b"}}), "X-Request-Id");
  EXPECT_TRUE(made.starts_with("req_")) << made;
  EXPECT_NE(made, header(ask("GET", "/nothing", ""), "X-Request-Id"));
}

}  // namespace
}  // namespace nmc::test
