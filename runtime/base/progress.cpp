#include "runtime/base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "runtime/base/text.h"

namespace nmc {

Progress::Style Progress::detect(bool quiet) {
  if (quiet) return Style::kNone;
  return ::isatty(STDERR_FILENO) ? Style::kBar : Style::kLines;
}

Progress::Progress(std::string action, uint64_t total_bytes, Style style)
    : action_(std::move(action)),
      total_(std::max<uint64_t>(total_bytes, 1)),
      style_(style),
      start_(std::chrono::steady_clock::now()),
      next_draw_(style == Style::kLines ? 3 : 0) {}

Progress::~Progress() {
  if (style_ == Style::kBar) std::fputs("\r\033[K", stderr);
}

void Progress::add(uint64_t bytes) {
  uint64_t done = done_.fetch_add(bytes) + bytes;
  if (style_ == Style::kNone) return;
  std::unique_lock lock(mutex_, std::try_to_lock);  // whoever draws draws for all
  if (!lock || seconds() < next_draw_) return;
  next_draw_ = seconds() + (style_ == Style::kBar ? 0.1 : 3);
  draw(done);
}

void Progress::say(const char* step) {
  if (style_ != Style::kBar) return;
  std::lock_guard lock(mutex_);
  std::fprintf(stderr, "\r%s: %s\033[K", action_.c_str(), step);
  std::fflush(stderr);
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::draw(uint64_t done) const {
  double share = static_cast<double>(done) / static_cast<double>(total_);
  double rate = static_cast<double>(done) / std::max(seconds(), 1e-3);
  std::string left = human_seconds(static_cast<double>(total_ - done) / std::max(rate, 1.0));
  std::string text = human_bytes(static_cast<double>(done)) + " of " +
                     human_bytes(static_cast<double>(total_)) + ", " + human_bytes(rate) + "/s, " +
                     left + " left";
  if (style_ == Style::kLines) {
    std::fprintf(stderr, "%s: %.0f %%, %s\n", action_.c_str(), share * 100, text.c_str());
    return;
  }
  constexpr int kWidth = 28;
  int filled = std::min(static_cast<int>(share * kWidth), kWidth);
  std::fprintf(stderr, "\r%s [%s%s] %3.0f %%  %s\033[K", action_.c_str(),
               std::string(static_cast<size_t>(filled), '#').c_str(),
               std::string(static_cast<size_t>(kWidth - filled), '.').c_str(), share * 100,
               text.c_str());
  std::fflush(stderr);
}

}  // namespace nmc
