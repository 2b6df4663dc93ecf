// OpenCode, headless: it reads, edits and runs in a repository through tool calls.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { action, said, serve, temporaryFolder, thought } from "./scripted.js";

const opencode = fileURLToPath(
  new URL("./node_modules/opencode-linux-x64/bin/opencode", import.meta.url));
const kSeconds = 200;  // of a machine that is busy with other work; some 15 on a quiet one

// Resolves with what it printed; it asks nothing of the network but the server.
function run(folder, home) {
  const env = { PATH: process.env.PATH, HOME: home, OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
  const child = spawn(opencode, ["run", "--format", "json", "Fix the greeting."],
    { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), kSeconds * 1000);
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  return new Promise((resolve) => child.on("exit", (code) => {
    clearTimeout(timer);
    resolve({ code, output });
  }));
}

test("OpenCode reads, edits and runs", async (t) => {
  const folder = temporaryFolder(t), home = temporaryFolder(t);
  const file = join(folder, "greet.sh");
  writeFileSync(file, "echo Helo\n");
  const server = await serve(t, {
    context: 65536,
    turns: [
      { reasoning_on: thought("I read it.", ...action([["read", { filePath: file }]])) },
      { reasoning_on: thought("A letter lacks.", ...action([["edit",
        { filePath: file, oldString: "Helo", newString: "Hello" }]])) },
      { reasoning_on: thought("Now I try it.", ...action([["bash",
        { command: "sh greet.sh > out.txt", description: "Runs the script" }]])) },
      { reasoning_on: thought("That was it.", ...said("The greeting", " is right now.")) },
    ],
    no_tools: { reasoning_on: thought("A title.", ...said("A better", " greeting")) },
  });
  writeFileSync(join(folder, "opencode.json"), JSON.stringify({
    provider: { local: {
      npm: "@ai-sdk/openai-compatible", name: "Local",
      options: { baseURL: `${server.url}/v1`, apiKey: "none" },
      models: { scripted: { name: "scripted", tool_call: true, reasoning: true,
        limit: { context: 65536, output: 8192 } } },
    } },
    model: "local/scripted",
    // The scripted model has a token for each byte: a short prompt, and few tools, are worth having.
    agent: { build: { prompt: "You work in a repository." } },
    permission: { "*": "deny", read: "allow", edit: "allow", bash: "allow",
      external_directory: "allow" },
  }));
  const { code, output } = await run(folder, home);
  assert.equal(code, 0, output);
  assert.equal(readFileSync(file, "utf8"), "echo Hello\n", output);
  assert.ok(existsSync(join(folder, "out.txt")), output);
  assert.equal(readFileSync(join(folder, "out.txt"), "utf8"), "Hello\n");
  assert.match(output, /The greeting is right now\./);
  const tools = output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
    .filter((event) => event.type === "tool_use").map((event) => event.part.tool);
  assert.deepEqual(tools, ["read", "edit", "bash"]);
});
