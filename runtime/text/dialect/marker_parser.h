// The part that all dialects with markers share: cutting a stream into text and markers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/dialect.h"

namespace nmc {

// Every marker starts with '<' and none is the start of another. So only a '<' can hold text back,
// and only as long as what follows it is the start of a marker.
class MarkerParser : public DialectParser {
 public:
  void feed(std::string_view text, std::vector<DialectEvent>* out) final;
  void finish(bool cut, std::vector<DialectEvent>* out) final;

 protected:
  struct Marker {
    std::string_view text;
    int id;
  };

  // The markers that count at this point of the stream.
  virtual std::span<const Marker> markers() const = 0;
  // Whether this point is inside data, where nothing is a marker.
  virtual bool in_data() const = 0;
  virtual void on_text(std::string_view text, std::vector<DialectEvent>* out) = 0;
  virtual void on_marker(int id, std::vector<DialectEvent>* out) = 0;
  // The stream is over. `fragment` is the start of a marker that never got its end, perhaps empty.
  virtual void on_end(std::string_view fragment, bool cut, std::vector<DialectEvent>* out) = 0;

 private:
  void cut(const std::string& text_and_markers, std::vector<DialectEvent>* out);

  std::string held_;  // from a '<' on; shorter than the longest marker
  bool finished_ = false;
};

}  // namespace nmc
