// 64 clients that stream all the time: no error, steady memory, and what a token costs the server.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

import { serve } from "./scripted.js";
import { endless } from "./scripts.js";

const kClients = 64;
const kTokens = 200;  // of each answer
const kSeconds = Number(process.env.NMC_LOAD_SECONDS ?? 10);
const kMostGrowth = 16 << 20;      // bytes, after the first answers
const kMostMicroseconds = 100;     // a bound for busy machines; docs/benchmarks.md has the figure
const kTicksPerSecond = 100;

const residentBytes = (pid) =>
  1024 * Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]);

// Processor seconds of the threads that answer requests; the engine has its own.
function httpSeconds(pid) {
  let ticks = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8");
    const [, name, rest] = stat.match(/\((.*)\) (.*)/);
    const fields = rest.split(" ");
    if (name.startsWith("http")) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / kTicksPerSecond;
}

// One whole stream; the number of its chunks with text.
async function stream(url) {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Go on." }], stream: true,
      max_tokens: kTokens, reasoning_effort: "none" }),
  });
  assert.equal(reply.status, 200);
  const text = await reply.text();
  assert.ok(text.endsWith("data: [DONE]\n\n"), text.slice(-200));
  const pieces = text.match(/"content":"[^"]/g).length;
  assert.ok(pieces > 0.9 * kTokens, text.slice(0, 400));
  assert.ok(text.includes('"finish_reason":"length"'), text.slice(-400));
  return pieces;
}

test(`${kClients} clients for ${kSeconds} s`, async (t) => {
  const server = await serve(t, endless, ["-np", String(kClients), "-c", "1024"]);
  const begin = Date.now();
  const passed = () => (Date.now() - begin) / 1000;
  let tokens = 0, answers = 0, warm = 0;
  const client = async () => {
    while (passed() < kSeconds) {
      const written = await stream(server.url);  // first: "+= await" would lose what others add
      tokens += written;
      if (++answers === 2 * kClients) warm = residentBytes(server.pid);
    }
  };
  await Promise.all(Array.from({ length: kClients }, client));
  const microseconds = (1e6 * httpSeconds(server.pid)) / tokens;
  const grown = residentBytes(server.pid) - (warm || residentBytes(server.pid));
  t.diagnostic(`${answers} answers, ${Math.round(tokens / passed())} tokens/s, ` +
    `${microseconds.toFixed(1)} us of processor time per token, memory ${grown} bytes`);
  assert.ok(answers >= kClients);
  assert.ok(grown < kMostGrowth, `memory grew by ${grown} bytes`);
  assert.ok(microseconds < kMostMicroseconds, `${microseconds} us per token`);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  assert.match(metrics, /nmc_requests_running 0/);
});
