// OpenAI's own client.
import assert from "node:assert/strict";
import test from "node:test";

import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { serve } from "./scripted.js";
import { agent, endless, greeting, kGreeting, kThought, weather } from "./scripts.js";

const hello = [{ role: "user", content: "Hello" }];
const City = z.object({ city: z.string(), degrees: z.number().int() });

const connect = (server, options = {}) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0, ...options });

test("chat, whole and streamed", async (t) => {
  const client = connect(await serve(t, greeting));
  const whole = await client.chat.completions.create({ model: "m", messages: hello });
  assert.equal(whole.choices[0].message.content, kGreeting);
  assert.equal(whole.choices[0].message.reasoning_content, kThought);
  assert.equal(whole.choices[0].finish_reason, "stop");
  assert.ok(whole.usage.completion_tokens_details.reasoning_tokens > 0);

  const stream = client.chat.completions.stream({
    model: "m", messages: hello, stream_options: { include_usage: true },
  });
  let text = "";
  stream.on("content", (delta) => (text += delta));
  const final = await stream.finalChatCompletion();
  assert.equal(text, kGreeting);
  assert.equal(final.choices[0].message.content, kGreeting);
  assert.equal((await stream.totalUsage()).completion_tokens, whole.usage.completion_tokens);

  const two = await client.chat.completions.create({ model: "m", messages: hello, n: 2 });
  assert.deepEqual(two.choices.map((c) => c.message.content), [kGreeting, kGreeting]);

  const plain = await client.completions.create({ model: "m", prompt: ["once", "twice"] });
  assert.deepEqual(plain.choices.map((c) => c.text), ["plain continuation", "plain continuation"]);
  const models = await client.models.list();
  assert.equal(models.data[0].id, "scripted");
});

test("runTools calls both functions and reports", async (t) => {
  const client = connect(await serve(t, agent));
  for (const stream of [false, true]) {
    const cities = [];
    const runner = client.chat.completions.runTools({
      model: "m", stream, messages: [{ role: "user", content: "How is the weather?" }],
      tools: [{ ...weather, function: { ...weather.function, parse: JSON.parse,
        function: ({ city }) => { cities.push(city); return "warm"; } } }],
    });
    assert.equal(await runner.finalContent(), "Bonn is warm and Rome is hot.");
    assert.deepEqual(cities, ["Bonn", "Rome"]);
  }
});

test("structured outputs", async (t) => {
  const client = connect(await serve(t, agent));
  const parsed = await client.chat.completions.parse({
    model: "m", messages: hello, response_format: zodResponseFormat(City, "city"),
  });
  assert.deepEqual(parsed.choices[0].message.parsed, { city: "Oslo", degrees: 7 });
  const response = await client.responses.parse({
    model: "m", input: "Hello", text: { format: zodTextFormat(City, "city") },
  });
  assert.deepEqual(response.output_parsed, { city: "Oslo", degrees: 7 });
});

test("responses, whole and streamed, with a tool loop", async (t) => {
  const client = connect(await serve(t, agent));
  const { function: { name, parameters } } = weather;
  const tools = [{ type: "function", name, parameters, strict: true }, { type: "web_search" }];
  const input = [{ role: "user", content: "How is the weather?" }];
  const stream = client.responses.stream({ model: "m", input, tools });
  let deltas = "";
  stream.on("response.function_call_arguments.delta", (event) => (deltas += event.delta));
  const first = await stream.finalResponse();
  const calls = first.output.filter((item) => item.type === "function_call");
  assert.deepEqual(calls.map((call) => JSON.parse(call.arguments).city), ["Bonn", "Rome"]);
  assert.equal(deltas, calls.map((call) => call.arguments).join(""));
  const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "warm" }));
  const second = await client.responses.create({
    model: "m", tools, input: [...input, ...first.output, ...results],
  });
  assert.equal(second.output_text, "Bonn is warm and Rome is hot.");
  assert.equal(second.status, "completed");
  await assert.rejects(client.responses.create({ model: "m", input, previous_response_id: "resp_1" }),
    (error) => error.status === 400 && /stores no responses/.test(error.message));
});

test("an aborted stream frees its slot", async (t) => {
  const server = await serve(t, endless, ["-np", "1"]);
  const client = connect(server);
  const stream = await client.chat.completions.create({
    model: "m", messages: hello, stream: true, reasoning_effort: "none",
  });
  let chunks = 0;
  for await (const _ of stream) if (++chunks === 5) break;  // the client aborts
  const short = await client.chat.completions.create({
    model: "m", messages: hello, max_tokens: 4, reasoning_effort: "none",
  }, { timeout: 5000 });
  assert.equal(short.choices[0].finish_reason, "length");
});

test("errors are the client's own classes", async (t) => {
  const client = connect(await serve(t, greeting, ["--api-key", "sesame", "-c", "512"]));
  await assert.rejects(client.models.list(), OpenAI.AuthenticationError);
  const known = client.withOptions({ apiKey: "sesame" });
  const long = [{ role: "user", content: "x".repeat(600) }];
  await assert.rejects(known.chat.completions.create({ model: "m", messages: long }),
    (error) => error instanceof OpenAI.BadRequestError && error.code === "context_length_exceeded"
      && error.requestID.startsWith("req_"));
  await assert.rejects(known.chat.completions.create({ model: "m", messages: 3 }),
    (error) => error instanceof OpenAI.BadRequestError && /messages/.test(error.message));
});
