// Every reply and every event, against schemas written from OpenAI's public specification.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import Ajv from "ajv/dist/2020.js";

import { serve } from "./scripted.js";
import { agent, weather } from "./scripts.js";

const ajv = new Ajv({ strict: false, allErrors: true });
const folder = new URL("./schemas/", import.meta.url);
for (const name of readdirSync(folder)) ajv.addSchema(JSON.parse(readFileSync(new URL(name, folder))));

function check(name, value) {
  const validate = ajv.getSchema(`${name}.json`);
  assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
}

async function ask(server, path, body, status = 200) {
  const reply = await fetch(server.url + path, body && {
    method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" },
  });
  assert.equal(reply.status, status);
  return reply;
}

const events = async (reply) => (await reply.text()).split("\n")
  .filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));

const messages = [{ role: "user", content: "Hello" }];
const chats = [
  { messages },
  { messages, n: 2, logprobs: true, top_logprobs: 3 },
  { messages, max_tokens: 3 },
  { messages, tools: [weather] },
  { messages, tools: [weather], tool_choice: "required", parallel_tool_calls: false },
  { messages, response_format: { type: "json_object" }, reasoning_effort: "none" },
];

test("the schemas refuse what they should", () => {
  for (const name of readdirSync(folder)) {
    if (name === "common.json") continue;
    assert.ok(!ajv.getSchema(name)({}), name);
  }
  const chunk = { id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [
    { index: 0, finish_reason: null, delta: { tool_calls: [{ index: 0, id: "", function: {} }] } }] };
  assert.ok(!ajv.getSchema("chat_completion_chunk.json")(chunk));
});

test("chat completions", async (t) => {
  const server = await serve(t, agent);
  for (const body of chats) {
    check("chat_completion", await (await ask(server, "/v1/chat/completions", body)).json());
    const stream = { ...body, stream: true, stream_options: { include_usage: true } };
    const chunks = await events(await ask(server, "/v1/chat/completions", stream));
    for (const chunk of chunks) check("chat_completion_chunk", chunk);
    const ends = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.finish_reason);
    assert.equal(ends.length, body.n ?? 1);
    assert.ok(chunks.at(-1).usage);
  }
});

test("completions, models and errors", async (t) => {
  const server = await serve(t, agent);
  const body = { prompt: ["a", "b"], logprobs: 2, max_tokens: 4, echo: false };
  check("completion", await (await ask(server, "/v1/completions", body)).json());
  for (const chunk of await events(await ask(server, "/v1/completions", { ...body, stream: true }))) {
    check("completion", chunk);
  }
  check("models", await (await ask(server, "/v1/models")).json());
  for (const [path, wrong, status] of [["/v1/chat/completions", {}, 400], ["/v1/completions", { prompt: 1 }, 400],
    ["/v1/responses", { input: 1 }, 400], ["/nothing", {}, 404], ["/v1/models", {}, 405],
    ["/v1/embeddings", {}, 501]]) {
    check("error", await (await ask(server, path, wrong, status)).json());
  }
});

test("responses", async (t) => {
  const server = await serve(t, agent);
  const { function: { name, parameters } } = weather;
  const tools = [{ type: "function", name, parameters }];
  const include = ["message.output_text.logprobs"];
  for (const more of [{}, { tools }, { max_output_tokens: 3 }, { include, top_logprobs: 2 }]) {
    const body = { input: "Hello", ...more };
    check("response", await (await ask(server, "/v1/responses", body)).json());
    const told = await events(await ask(server, "/v1/responses", { ...body, stream: true }));
    for (const event of told) check("response_event", event);
    assert.match(told.at(-1).type, /^response\.(completed|incomplete)$/);
  }
});
