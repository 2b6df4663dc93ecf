// The AI SDK: the parser that OpenCode and many others stand on.
import assert from "node:assert/strict";
import test from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

import { serve } from "./scripted.js";
import { agent, greeting, kGreeting, kThought } from "./scripts.js";

const connect = (server) => createOpenAICompatible({
  name: "nmc", baseURL: `${server.url}/v1`, apiKey: "none", includeUsage: true,
})("m");

test("text and reasoning, whole and streamed", async (t) => {
  const model = connect(await serve(t, greeting));
  const whole = await generateText({ model, prompt: "Hello", maxRetries: 0 });
  assert.equal(whole.text, kGreeting);
  assert.equal(whole.reasoningText, kThought);
  assert.equal(whole.finishReason, "stop");
  const streamed = streamText({ model, prompt: "Hello", maxRetries: 0 });
  let text = "";
  for await (const delta of streamed.textStream) text += delta;
  assert.equal(text, kGreeting);
  assert.equal(await streamed.reasoningText, kThought);
  assert.equal((await streamed.usage).outputTokens, whole.usage.outputTokens);
});

test("a loop of tools", async (t) => {
  const model = connect(await serve(t, agent));
  for (const run of [generateText, streamText]) {
    const cities = [];
    const result = run({
      model, prompt: "How is the weather?", maxRetries: 0, stopWhen: stepCountIs(3),
      tools: { weather: tool({
        inputSchema: z.object({ city: z.string(), days: z.number().int().optional() }),
        execute: async ({ city }) => { cities.push(city); return "warm"; },
      }) },
    });
    const settled = run === generateText ? await result : result;
    assert.equal(await settled.text, "Bonn is warm and Rome is hot.");
    assert.deepEqual(cities, ["Bonn", "Rome"]);
    assert.equal((await settled.steps).length, 2);
  }
});
