#include "tools/bench/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "runtime/base/text.h"

namespace nmc::bench {
namespace {

constexpr double kWidth = 720, kHeight = 400;
constexpr double kLeft = 70, kRight = 150, kTop = 40, kBottom = 50;
constexpr double kLogSpan = 8;  // a factor between x values from which on the axis is logarithmic
// Distinguishable without colour vision, too (Okabe and Ito), on white and on black.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                    "#cc79a7", "#e69f00", "#56b4e9"};

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// "8192" as "8K", "0.5" as "0.5".
std::string short_number(double value) {
  if (value >= 1024 && std::fmod(value, 1024) == 0) return format("%.0fK", value / 1024);
  return format("%.4g", value);
}

// A round distance between ticks that gives four to ten of them up to `top`.
double tick_distance(double top) {
  const double power = std::pow(10, std::floor(std::log10(top)));
  for (double part : {0.1, 0.2, 0.5, 1.0}) {
    if (top / (part * power) <= 10) return part * power;
  }
  return power;
}

class Axes {
 public:
  explicit Axes(const Plot& plot) {
    double largest = 0, least_positive = std::numeric_limits<double>::infinity();
    for (const Curve& curve : plot.curves) {
      for (auto [x, y] : curve.points) {
        xs_.insert(x);
        largest = std::max(largest, y);
        if (x > 0) least_positive = std::min(least_positive, x);
      }
    }
    distance_ = tick_distance(largest > 0 ? largest : 1);
    top_ = distance_ * std::max(1.0, std::ceil(largest / distance_));
    if (xs_.empty()) xs_ = {0, 1};
    log_ = *xs_.rbegin() > kLogSpan * least_positive;
    zero_at_ = least_positive / 2;
    first_ = scaled(*xs_.begin());
    last_ = scaled(*xs_.rbegin());
    if (last_ == first_) last_ = first_ + 1;
  }

  double x(double value) const {
    return kLeft + (scaled(value) - first_) / (last_ - first_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - value / top_ * (kHeight - kTop - kBottom);
  }

  std::string text() const {
    std::string svg;
    for (double v = 0; v <= top_ * 1.001; v += distance_) {
      svg += format("<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' stroke='#8884'/>", kLeft,
                    kWidth - kRight, y(v), y(v));
      svg += format("<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n", kLeft - 8, y(v) + 4,
                    format("%.6g", v).c_str());
    }
    double before = -1e9;
    for (double v : xs_) {
      if (x(v) - before < 28) continue;  // labels would touch
      before = x(v);
      svg += format("<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n", x(v),
                    kHeight - kBottom + 18, short_number(v).c_str());
    }
    return svg;
  }

 private:
  double scaled(double value) const {
    return log_ ? std::log2(value > 0 ? value : zero_at_) : value;
  }

  std::set<double> xs_;
  double top_ = 1, distance_ = 1, first_ = 0, last_ = 1, zero_at_ = 1;
  bool log_ = false;
};

std::string curve_svg(Curve curve, const Axes& axes, const char* colour, double legend_y) {
  std::ranges::sort(curve.points);
  std::string line, dots;
  for (auto [x, y] : curve.points) {
    line += format("%.1f,%.1f ", axes.x(x), axes.y(y));
    dots += format("<circle cx='%.1f' cy='%.1f' r='3.5' fill='%s'/>", axes.x(x), axes.y(y), colour);
  }
  return format("<polyline fill='none' stroke-width='2' stroke='%s' points='", colour) + line +
         "'/>" + dots +
         format("<circle cx='%.1f' cy='%.1f' r='5' fill='%s'/>", kWidth - kRight + 18, legend_y - 4,
                colour) +
         format("<text x='%.1f' y='%.1f'>", kWidth - kRight + 30, legend_y) + escaped(curve.name) +
         "</text>\n";
}

}  // namespace

std::string plot_svg(const Plot& plot) {
  const Axes axes(plot);
  std::string svg = format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' font-family='sans-serif' "
      "font-size='12'>\n<style>svg{background:#fff}text{fill:#222}"
      "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#ddd}}</style>\n",
      kWidth, kHeight);
  svg += format("<text x='%.1f' y='22' font-size='15'>", kLeft) + escaped(plot.title) + "</text>\n";
  svg += axes.text();
  svg += format("<text x='%.1f' y='%.1f' text-anchor='middle'>", (kLeft + kWidth - kRight) / 2,
                kHeight - 10) +
         escaped(plot.x_label) + "</text>\n";
  svg += format("<text transform='translate(16 %.1f) rotate(-90)' text-anchor='middle'>",
                (kTop + kHeight - kBottom) / 2) +
         escaped(plot.y_label) + "</text>\n";
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    svg += curve_svg(plot.curves[i], axes, kColours[i % std::size(kColours)],
                     kTop + 20 * static_cast<double>(i) + 8);
  }
  return svg + "</svg>\n";
}

}  // namespace nmc::bench
