#include "tests/support/tensor_file.h"

#include <algorithm>
#include <cstring>

#include "tests/support/require.h"

namespace nmc::test {

TensorFile::TensorFile(const std::filesystem::path& path)
    : file_(require(MappedFile::open(path))),
      tensors_(require(read_safetensors_header(file_.bytes(), path.string()))) {}

const SafetensorsTensor* TensorFile::find(const std::string& name) const {
  auto it = std::find_if(tensors_.begin(), tensors_.end(),
                         [&](const SafetensorsTensor& t) { return t.name == name; });
  return it == tensors_.end() ? nullptr : &*it;
}

template <typename T>
Tensor<T> TensorFile::read(const std::string& name, Dtype dtype) const {
  const SafetensorsTensor* found = find(name);
  if (found == nullptr || found->dtype != dtype || found->shape.empty()) {
    throw std::runtime_error(file_.path().string() + " has no " + dtype_name(dtype) + " tensor " +
                             name);
  }
  Tensor<T> tensor;
  tensor.shape.assign(found->shape.begin(), found->shape.end());
  tensor.values.resize(found->bytes / sizeof(T));
  std::memcpy(tensor.values.data(), file_.bytes().data() + found->offset, found->bytes);
  return tensor;
}

template Tensor<float> TensorFile::read(const std::string&, Dtype) const;
template Tensor<int32_t> TensorFile::read(const std::string&, Dtype) const;

}  // namespace nmc::test
