// What well-behaved requests get.
#include <unistd.h>

#include <stdexcept>

#include "tests/server/http/fixture.h"

namespace nmc::test {
namespace {

TEST(Messages, BodiesArriveWhole) {
  auto server = serve(echo);
  EXPECT_EQ(ask(server->port(), "GET", "/a%20b?x=1").body, "GET /a b 0");
  EXPECT_EQ(ask(server->port(), "POST", "/p", std::string(60'000, 'x')).body, "POST /p 60000");
  EXPECT_EQ(ask(server->port(), "POST", "/p").body, "POST /p 0");  // no length: no body
  EXPECT_EQ(ask(server->port(), "DELETE", "/d").body, "DELETE /d 0");
}

TEST(Messages, HeadersArriveInLowerCase) {
  auto server = serve([](const http::Request& request, http::Client&) {
    http::Response response;
    response.body = std::string(request.header("x-session-id")) + "," +
                    std::string(request.header("x-none")) + ".";
    return response;
  });
  EXPECT_EQ(ask(server->port(), "GET", "/", "", "X-Session-ID: a b\r\n").body, "a b,.");
}

TEST(Messages, ASocketThatIsAFile) {
  const std::string path = "/tmp/nmc-http-test-" + std::to_string(::getpid()) + ".sock";
  http::ServerOptions options;
  options.host = path;
  auto server = http::HttpServer::start(options, echo);
  ASSERT_TRUE(server.ok()) << server.status().message();
  RawClient client(path);
  client.send(request_text("GET", "/x"));
  EXPECT_EQ(client.read_reply().body, "GET /x 0");
  auto second = http::HttpServer::start(options, echo);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another program listens on " + path),
            std::string::npos);
  (*server)->stop();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(Messages, ChunkedBodiesArriveWhole) {
  auto server = serve(echo);
  RawClient client(server->port());
  client.send("POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.send("5\r\nhello\r\n");
  client.send("6\r\n world\r\n0\r\n\r\n");
  EXPECT_EQ(client.read_reply().body, "POST /p 11");
}

TEST(Messages, ConnectionsAreKept) {
  auto server = serve(echo);
  RawClient client(server->port());
  for (int i = 0; i < 20; ++i) {
    client.send(request_text("POST", "/" + std::to_string(i), "abc"));
    EXPECT_EQ(client.read_reply().body, "POST /" + std::to_string(i) + " 3");
  }
  client.send(request_text("GET", "/1") + request_text("GET", "/2"));
  EXPECT_EQ(client.read_reply().body, "GET /1 0");
  EXPECT_EQ(client.read_reply().body, "GET /2 0");
}

TEST(Messages, AClientThatSaidAllIsAnswered) {
  auto server = serve(echo);
  RawClient client(server->port());
  client.send(request_text("GET", "/x"));
  client.finish_sending();
  EXPECT_EQ(client.read_reply().body, "GET /x 0");
}

TEST(Messages, ABodyOfAGetDoesNotBecomeARequest) {
  auto server = serve(echo);
  RawClient client(server->port());
  client.send(request_text("GET", "/1", request_text("GET", "/smuggled")));
  Reply reply = client.read_reply();
  EXPECT_EQ(reply.body, "GET /1 0");
  EXPECT_NE(reply.headers.find("connection: close"), std::string::npos);
  EXPECT_TRUE(client.closed_within(std::chrono::seconds(2)));
}

TEST(Messages, StreamsArrivePieceByPiece) {
  auto server = serve([](const http::Request&, http::Client&) {
    http::Response response;
    response.content_type = "text/event-stream";
    response.stream = [](http::StreamWriter& out) {
      out.write("data: 1\n\n");
      out.write("");  // must not end the body
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      out.write("data: 2\n\n");
    };
    return response;
  });
  RawClient client(server->port());
  client.send(request_text("POST", "/", "{}", "Accept-Encoding: gzip\r\n"));
  std::string first = client.read_until("data: 1\n\n", std::chrono::milliseconds(200));
  EXPECT_NE(first.find("data: 1"), std::string::npos);
  EXPECT_EQ(first.find("data: 2"), std::string::npos);
  std::string rest = client.read_until("0\r\n\r\n", std::chrono::seconds(2));
  EXPECT_NE(rest.find("data: 2"), std::string::npos);
  EXPECT_NE(rest.find("\r\n0\r\n\r\n"), std::string::npos);
}

TEST(Messages, AnExceptionBecomesAPlain500) {
  auto server = serve([](const http::Request& request, http::Client&) -> http::Response {
    if (request.path == "/secret") throw std::runtime_error("the password is hunter2");
    return {};
  });
  Reply reply = ask(server->port(), "POST", "/secret", "{}");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ((reply.headers + reply.body).find("hunter2"), std::string::npos);
  EXPECT_NE(reply.body.find("\"type\":\"server_error\""), std::string::npos);
  EXPECT_EQ(ask(server->port(), "GET", "/").status, 200);
}

TEST(Messages, AStreamThatThrowsEndsItsConnectionOnly) {
  auto server = serve([](const http::Request&, http::Client&) {
    http::Response response;
    response.stream = [](http::StreamWriter& out) {
      out.write("begin");
      throw std::runtime_error("hunter2");
    };
    return response;
  });
  Reply reply = ask(server->port(), "GET", "/");
  EXPECT_FALSE(reply.complete);
  EXPECT_EQ(reply.body, "begin");
  EXPECT_EQ(ask(server->port(), "GET", "/").status, 200);
}

TEST(Messages, APortInUseIsASentence) {
  auto server = serve(echo);
  http::ServerOptions options;
  options.port = server->port();
  auto second = http::HttpServer::start(options, echo);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("another program listens on 127.0.0.1:"),
            std::string::npos)
      << second.status().message();
}

}  // namespace
}  // namespace nmc::test
