// Curves as a picture: SVG without scripts or fonts of its own, readable on light and dark pages.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nmc::bench {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // in any order
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
};

// The y axis starts at 0. The x axis is logarithmic (base 2) where the points span more than a
// factor of 8; a point at 0 then stands left of all others, half of the smallest.
std::string plot_svg(const Plot& plot);

}  // namespace nmc::bench
