// What each limit does to a client that crosses it, and that the server lives on.
#include "tests/server/http/fixture.h"

namespace nmc::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LimitsTest : public ::testing::Test {
 protected:
  ~LimitsTest() override { EXPECT_EQ(ask(server_->port(), "GET", "/alive").status, 200); }

  Reply send_and_read(const std::string& text) {
    RawClient client(server_->port());
    client.send(text);
    return client.read_reply(seconds(5));
  }

  // The mark of the application, with what it was told of the request.
  static void dress(const http::Request& request, http::Response* refusal) {
    refusal->headers.emplace_back("X-Dress", request.method + " " + request.path + " " +
                                                 std::string(request.header("origin")));
  }

  std::unique_ptr<http::HttpServer> server_ = serve(echo, small_options(), dress);
};

TEST_F(LimitsTest, ALongBodyIsRefusedByItsLength) {
  Reply reply = send_and_read("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n");
  EXPECT_EQ(reply.status, 413);
  EXPECT_NE(reply.body.find("\"code\":\"body_too_large\""), std::string::npos);
  EXPECT_EQ(send_and_read("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n").status,
            413);
}

TEST_F(LimitsTest, WhoSendsALongBodyToItsEndReadsTheRefusal) {
  RawClient client(server_->port());
  client.send("POST / HTTP/1.1\r\nContent-Length: 8388608\r\n\r\n");
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_TRUE(client.send(piece)) << i;
  }
  EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(LimitsTest, ALongChunkedBodyIsRefused) {
  RawClient client(server_->port());
  client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string chunk = "400\r\n" + std::string(1024, 'x') + "\r\n";
  for (int i = 0; i < 300 && client.send(chunk); ++i) {
  }
  EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(LimitsTest, ChunksOfOneByteAreBoundedByTheirFraming) {
  RawClient client(server_->port());
  client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string chunks;
  for (int i = 0; i < 60'000; ++i) chunks += "1\r\nx\r\n";
  client.send(chunks + "0\r\n\r\n");
  EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(LimitsTest, CompressedBodiesAreRefused) {
  EXPECT_EQ(ask(server_->port(), "POST", "/", "xyz", "Content-Encoding: gzip\r\n").status, 415);
  EXPECT_EQ(ask(server_->port(), "POST", "/", "xyz", "Content-Encoding: identity\r\n").status, 200);
}

TEST_F(LimitsTest, AmbiguousLengthsAreRefused) {
  EXPECT_EQ(
      send_and_read("POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd").status,
      400);
  EXPECT_EQ(send_and_read("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: "
                          "chunked\r\n\r\n0\r\n\r\n")
                .status,
            400);
  EXPECT_EQ(send_and_read("POST / HTTP/1.1\r\nContent-Length: 3x\r\n\r\nabc").status, 400);
  EXPECT_EQ(send_and_read("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n").status, 501);
  EXPECT_EQ(send_and_read("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").status,
            400);
}

TEST_F(LimitsTest, LongHeadersAreRefused) {
  EXPECT_EQ(send_and_read("GET / HTTP/1.1\r\nX: " + std::string(8000, 'x')).status, 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 1000; ++i) many += "A: b\r\n";
  EXPECT_EQ(send_and_read(many + "\r\n").status, 431);
  EXPECT_EQ(send_and_read("GET /" + std::string(8000, 'x')).status, 431);
}

TEST_F(LimitsTest, NonsenseIsRefused) {
  Reply reply = send_and_read("HELO there\r\n\r\n");
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find("\"error\""), std::string::npos);
  EXPECT_EQ(send_and_read("GET / HTTP/1.1\r\nRange: bytes=0-1,0-1,0-1\r\n\r\n").body, "GET / 0");
}

TEST_F(LimitsTest, ASlowHeaderIsCutOff) {
  RawClient client(server_->port());
  auto begin = std::chrono::steady_clock::now();
  bool open = client.send("GET / HTTP/1.1\r\n");
  while (open && std::chrono::steady_clock::now() - begin < seconds(3)) {
    open = client.send("A: b\r\n");
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_FALSE(open);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(2));
}

TEST_F(LimitsTest, ASlowBodyIsAnswered408) {
  RawClient client(server_->port());
  client.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(client.read_reply(seconds(3)).status, 408);
}

TEST_F(LimitsTest, RefusalsAreDressed) {
  const std::string start = "POST /a HTTP/1.1\r\nOrigin: http://x\r\nContent-Length: ";
  const std::tuple<std::string, int, const char*> refused[] = {
      {start + "65537\r\n\r\n", 413, "x-dress: post /a http://x\r\n"},
      {start + "10\r\n\r\nabc", 408, "x-dress: post /a http://x\r\n"},
      {start + "3x\r\n\r\n", 400, "x-dress: post /a http://x\r\n"},
      {"GET / HTTP/1.1\r\nX: " + std::string(8000, 'x'), 431, "x-dress: "},
      {"GET / HTTP/1.1\r\n", 408, "x-dress: "},
      {"HELO there\r\n\r\n", 400, "x-dress: "},
  };
  for (const auto& [text, status, mark] : refused) {
    Reply reply = send_and_read(text);
    EXPECT_EQ(reply.status, status) << text;
    EXPECT_NE(reply.headers.find(mark), std::string::npos) << text << reply.headers;
  }
}

TEST_F(LimitsTest, AnIdleConnectionIsClosed) {
  RawClient client(server_->port());
  client.send(request_text("GET", "/"));
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_TRUE(client.closed_within(seconds(4)));
}

}  // namespace
}  // namespace nmc::test
