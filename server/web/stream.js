// The server's side of a conversation: one request, its answer as it comes.

/** The JSON values of a stream of server-sent events. */
async function* events(body) {
  const decoder = new TextDecoder();
  let rest = '';
  for (const reader = body.getReader(); ;) {
    const {done, value} = await reader.read();
    rest += done ? decoder.decode() + '\n' : decoder.decode(value, {stream: true});
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : '';
      if (data && data !== '[DONE]') yield JSON.parse(data);
    }
    if (done) return;
  }
}

async function sentence(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text.slice(0, 300) || `The server answers ${response.status}.`;
  }
}

function headers(key) {
  return key ? {'Authorization': `Bearer ${key}`} : {};
}

/** The name of the served model. */
export async function modelName(key) {
  const response = await fetch('v1/models', {headers: headers(key)});
  if (!response.ok) throw new Error(await sentence(response));
  return (await response.json()).data[0].id;
}

/**
 * Sends a chat request and calls onDelta for each piece: {reasoning}, {content}, {call: {index, id,
 * name, arguments}}, {usage} or {finish}. Throws an Error with the server's sentence.
 */
export async function answer(request, key, signal, onDelta) {
  const response = await fetch('v1/chat/completions', {
    method: 'POST',
    headers: {'Content-Type': 'application/json', ...headers(key)},
    body: JSON.stringify({...request, stream: true, stream_options: {include_usage: true}}),
    signal,
  });
  if (!response.ok) throw new Error(await sentence(response));
  for await (const event of events(response.body)) {
    if (event.error) throw new Error(event.error.message);
    if (event.usage) onDelta({usage: event.usage});
    const choice = event.choices?.[0];
    if (!choice) continue;
    const {reasoning_content, reasoning, content, tool_calls} = choice.delta ?? {};
    if (reasoning_content || reasoning) onDelta({reasoning: reasoning_content || reasoning});
    if (content) onDelta({content});
    for (const {index, id, function: f} of tool_calls ?? [])
      onDelta({call: {index, id, name: f?.name, arguments: f?.arguments ?? ''}});
    if (choice.finish_reason) onDelta({finish: choice.finish_reason});
  }
}
