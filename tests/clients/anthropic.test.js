// Anthropic's own client, whose API Claude Code speaks.
import assert from "node:assert/strict";
import test from "node:test";

import Anthropic from "@anthropic-ai/sdk";

import { serve } from "./scripted.js";
import { agent, greeting, kGreeting, kThought, weather } from "./scripts.js";

const hello = [{ role: "user", content: "Hello" }];
const connect = (server) => new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 });
const thinking = { type: "enabled", budget_tokens: 1024 };

test("messages, whole and streamed", async (t) => {
  const client = connect(await serve(t, greeting));
  const ask = { model: "m", max_tokens: 2000, messages: hello, thinking };
  const whole = await client.messages.create(ask);
  assert.deepEqual(whole.content.map((block) => block.thinking ?? block.text), [kThought, kGreeting]);
  assert.equal(whole.stop_reason, "end_turn");

  const stream = client.messages.stream(ask);
  let text = "", thought = "";
  stream.on("text", (delta) => (text += delta));
  stream.on("thinking", (delta) => (thought += delta));
  const final = await stream.finalMessage();
  assert.equal(text, kGreeting);
  assert.equal(thought, kThought);
  assert.deepEqual(final.content, whole.content);
  assert.equal(final.usage.output_tokens, whole.usage.output_tokens);

  const plain = await client.messages.create({ model: "m", max_tokens: 100, messages: hello });
  assert.deepEqual(plain.content.map((block) => block.type), ["text"]);
  const { input_tokens } = await client.messages.countTokens({ model: "m", messages: hello, thinking });
  assert.equal(input_tokens, whole.usage.input_tokens + whole.usage.cache_read_input_tokens);
});

test("a loop of tools", async (t) => {
  const client = connect(await serve(t, agent));
  const { function: { name, description, parameters } } = weather;
  const ask = { model: "m", max_tokens: 2000, thinking, system: "You are brief.",
    tools: [{ name, description, input_schema: parameters }] };
  const messages = [{ role: "user", content: "How is the weather?" }];
  const first = await client.messages.stream({ ...ask, messages }).finalMessage();
  assert.equal(first.stop_reason, "tool_use");
  const calls = first.content.filter((block) => block.type === "tool_use");
  assert.deepEqual(calls.map((call) => call.input), [{ city: "Bonn" }, { city: "Rome", days: 2 }]);
  messages.push({ role: "assistant", content: first.content }, { role: "user",
    content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "warm" })) });
  const second = await client.messages.create({ ...ask, messages });
  assert.equal(second.content.at(-1).text, "Bonn is warm and Rome is hot.");
});

test("errors are the client's own classes", async (t) => {
  const client = connect(await serve(t, greeting, ["-c", "512"]));
  const long = [{ role: "user", content: "x".repeat(600) }];
  await assert.rejects(client.messages.create({ model: "m", max_tokens: 10, messages: long }),
    (error) => error instanceof Anthropic.BadRequestError && /prompt is too long/.test(error.message));
});
