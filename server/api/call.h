// What an endpoint is given.
#pragma once

#include "server/api/run.h"
#include "server/api/served_model.h"
#include "server/http/message.h"

namespace nmc::api {

// The model and the control outlive every answer, streams included; the client lives as long as
// the call of the endpoint.
struct Call {
  const ServedModel& model;
  const RunControl& control;
  const http::Request& request;
  http::Client& client;
};

}  // namespace nmc::api
