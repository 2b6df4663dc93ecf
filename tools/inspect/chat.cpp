#include "tools/inspect/chat.h"

#include "runtime/text/chat/chat_body.h"
#include "tools/inspect/model_text.h"

namespace nmc {

Result<RenderedPrompt> render_chat_body(const ModelFile& file, const Json& body) {
  NMC_ASSIGN(const TextModel model, text_model_of(file));
  NMC_ASSIGN(const ChatRequest request,
             parse_chat_body(body.is_array() ? Json{{"messages", body}} : body));
  return render_chat(model, request);
}

}  // namespace nmc
