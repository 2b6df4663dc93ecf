// Clients that leave, that do not read, and that come in crowds.
#include <atomic>

#include "tests/server/http/fixture.h"

namespace nmc::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

// Waits for a client to leave; `outcome` is then 1, or 2 if it never did.
void wait_until_gone(http::Client& client, std::atomic<int>* outcome) {
  auto deadline = Clock::now() + seconds(5);
  while (!client.gone() && Clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  *outcome = client.gone() ? 1 : 2;
}

int outcome_of(const std::atomic<int>& outcome) {
  for (int i = 0; i < 600 && outcome == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  return outcome;
}

TEST(Clients, LeavingIsSeenBeforeAnyHeaderWasSent) {
  std::atomic<int> outcome{0};
  auto server = serve([&](const http::Request&, http::Client& client) {
    wait_until_gone(client, &outcome);
    return http::Response{};
  });
  RawClient client(server->port());
  client.send(request_text("POST", "/", "{}"));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(outcome, 0);
  client.close();
  EXPECT_EQ(outcome_of(outcome), 1);
}

TEST(Clients, LeavingIsSeenInAStreamThatIsSilent) {
  std::atomic<int> outcome{0};
  auto server = serve([&](const http::Request&, http::Client&) {
    http::Response response;
    response.stream = [&](http::StreamWriter& out) {
      out.write("hello");
      wait_until_gone(out, &outcome);
    };
    return response;
  });
  RawClient client(server->port());
  client.send(request_text("GET", "/"));
  client.read_until("hello", seconds(2));
  EXPECT_EQ(outcome, 0);
  client.close();
  EXPECT_EQ(outcome_of(outcome), 1);
}

TEST(Clients, AReaderThatDoesNotReadIsGivenUp) {
  std::atomic<int> outcome{0};
  auto server = serve([&](const http::Request&, http::Client&) {
    http::Response response;
    response.stream = [&](http::StreamWriter& out) {
      std::string piece(1 << 20, 'x');
      int written = 0;
      while (written < 1000 && out.write(piece)) ++written;
      outcome = written < 1000 ? 1 : 2;
    };
    return response;
  });
  RawClient client(server->port());
  client.send(request_text("GET", "/"));
  EXPECT_EQ(outcome_of(outcome), 1);
}

TEST(Clients, OneTooManyIsToldAtOnce) {
  std::atomic<bool> release{false};
  auto server = serve([&](const http::Request&, http::Client&) {
    while (!release) std::this_thread::sleep_for(milliseconds(5));
    return http::Response{};
  });
  std::vector<std::unique_ptr<RawClient>> busy;
  for (int i = 0; i < 8; ++i) {
    busy.push_back(std::make_unique<RawClient>(server->port()));
    busy.back()->send(request_text("GET", "/"));
  }
  std::this_thread::sleep_for(milliseconds(100));
  for (int i = 0; i < 5; ++i) {
    auto begin = Clock::now();
    Reply reply = ask(server->port(), "POST", "/", "{}");
    EXPECT_EQ(reply.status, 503);
    EXPECT_NE(reply.headers.find("retry-after: 1"), std::string::npos);
    EXPECT_LT(Clock::now() - begin, seconds(1));
  }
  release = true;
  for (auto& client : busy) EXPECT_EQ(client->read_reply().status, 200);
  EXPECT_EQ(ask(server->port(), "GET", "/").status, 200);
}

TEST(Clients, IdleConnectionsMakeRoom) {
  auto server = serve(echo);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->port()));
    idle.back()->send(request_text("GET", "/"));
    EXPECT_EQ(idle.back()->read_reply().status, 200);
  }
  std::this_thread::sleep_for(milliseconds(400));
  EXPECT_EQ(ask(server->port(), "GET", "/").status, 200);
}

TEST(Clients, ACrowdThatSaysNothingIsInNobodysWay) {
  auto server = serve(echo);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<RawClient>(server->port()));
  auto begin = Clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(server->port(), "GET", "/").status, 200);
  EXPECT_LT(Clock::now() - begin, seconds(1));
  // The longest silent had to go, and the latest are still welcome.
  EXPECT_TRUE(silent.front()->closed_within(milliseconds(500)));
  silent.back()->send(request_text("GET", "/"));
  EXPECT_EQ(silent.back()->read_reply().status, 200);
}

TEST(Clients, ACrowdThatIsRefusedIsInNobodysWay) {
  std::atomic<bool> release{false};
  auto server = serve([&](const http::Request&, http::Client&) {
    while (!release) std::this_thread::sleep_for(milliseconds(5));
    return http::Response{};
  });
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 108; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(request_text("GET", "/"));
  }
  auto begin = Clock::now();
  for (int i = 8; i < 108; ++i)
    EXPECT_EQ(clients[static_cast<size_t>(i)]->read_reply().status, 503);
  EXPECT_LT(Clock::now() - begin, seconds(1));
  release = true;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(clients[static_cast<size_t>(i)]->read_reply().status, 200);
}

TEST(Clients, StopWaitsForRunningAnswers) {
  std::atomic<bool> entered{false};
  auto server = serve([&](const http::Request&, http::Client&) {
    entered = true;
    std::this_thread::sleep_for(milliseconds(300));
    return http::Response{};
  });
  RawClient client(server->port());
  client.send(request_text("GET", "/"));
  while (!entered) std::this_thread::sleep_for(milliseconds(5));
  server->stop();
  EXPECT_FALSE(server->running());
  EXPECT_EQ(client.read_reply().status, 200);
}

TEST(Clients, StopDoesNotWaitForSlowOnes) {
  http::ServerOptions options = small_options();
  options.limits.transfer_time = options.limits.header_time = seconds(60);
  auto server = serve(echo, options);
  RawClient body(server->port()), header(server->port());
  body.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  header.send("POST / HTT");
  std::this_thread::sleep_for(milliseconds(100));
  auto begin = Clock::now();
  server->stop();
  EXPECT_LT(Clock::now() - begin, seconds(4));
}

}  // namespace
}  // namespace nmc::test
