// Device name → executor: the only door through which programs reach kernels.
#pragma once

#include <memory>
#include <string>

#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc {

// `device`: "auto" (the fastest this build has) or a name from executor_names(). An unknown name
// is refused with the list.
Result<std::unique_ptr<Executor>> open_executor(const std::string& device,
                                                std::shared_ptr<const ModelFile> file,
                                                KvCapacity capacity);

// The devices of this build, for help texts: "reference, ...".
std::string executor_names();

}  // namespace nmc
