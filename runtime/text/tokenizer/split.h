// Cutting a piece of text at the matches of a pattern, with the five behaviours of
// Hugging Face's Split.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace nmc::tok {

enum class SplitBehavior {
  kRemoved,             // matches vanish
  kIsolated,            // each match is a piece
  kMergedWithPrevious,  // a match joins the piece before it
  kMergedWithNext,      // a match joins the piece after it
  kContiguous,          // adjacent matches are one piece
};

// Receives the matches of one text in order and produces its pieces. Text between matches is a
// run of its own; empty pieces are dropped.
class Splitter {
 public:
  Splitter(std::string_view text, SplitBehavior behavior, bool invert,
           std::vector<std::string_view>& out)
      : text_(text), behavior_(behavior), invert_(invert), out_(out) {}

  // The next match; `begin` is at or after the last `end`.
  void match(size_t begin, size_t end) {
    if (begin > at_) run(at_, begin, invert_);
    run(begin, end, !invert_);
    at_ = end;
  }
  // After the last match.
  void finish() {
    if (at_ < text_.size()) run(at_, text_.size(), invert_);
    if (open_) emit(open_begin_, open_end_);
  }

 private:
  // Adds a run to the open piece, or closes that piece and opens another.
  void run(size_t begin, size_t end, bool matched) {
    bool joins = open_ && joins_open(matched);
    if (!joins) {
      if (open_) emit(open_begin_, open_end_);
      open_begin_ = begin;
    }
    open_ = true;
    open_end_ = end;
    open_matched_ = matched;
    if (behavior_ == SplitBehavior::kRemoved && matched) open_ = false;
  }
  bool joins_open(bool matched) const {
    switch (behavior_) {
      case SplitBehavior::kRemoved:
      case SplitBehavior::kIsolated:
        return false;
      case SplitBehavior::kMergedWithPrevious:
        return matched && !open_matched_;
      case SplitBehavior::kMergedWithNext:
        return !matched && open_matched_;
      case SplitBehavior::kContiguous:
        return matched == open_matched_;
    }
    return false;
  }
  void emit(size_t begin, size_t end) {
    if (end > begin) out_.push_back(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  SplitBehavior behavior_;
  bool invert_;
  std::vector<std::string_view>& out_;
  size_t at_ = 0;
  bool open_ = false, open_matched_ = false;
  size_t open_begin_ = 0, open_end_ = 0;
};

}  // namespace nmc::tok
