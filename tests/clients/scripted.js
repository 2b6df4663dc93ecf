// Servers of this build on checkpoints that say what a test wrote, started and ended by the test.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = process.env.NMC_BIN;
const maker = fileURLToPath(new URL("../support/scripted/make_scripted.py", import.meta.url));
const kStartSeconds = 30;

// A folder that vanishes with the test.
export function temporaryFolder(test) {
  const folder = mkdtempSync(join(tmpdir(), "nmc-clients-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Serves the script; see tests/support/scripted for its form. Returns { url, pid }.
export async function serve(test, script, flags = []) {
  const folder = temporaryFolder(test);
  writeFileSync(join(folder, "script.json"), JSON.stringify(script));
  execFileSync("python3", [maker, join(folder, "checkpoint"), "--script", join(folder, "script.json")]);
  const model = join(folder, "scripted.nmc");
  execFileSync(join(bin, "convert"), [join(folder, "checkpoint"), model]);

  const child = spawn(join(bin, "server"), ["-m", model, "--port", "0", ...flags]);
  test.after(() => child.kill("SIGKILL"));
  let log = "";
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready:\n${log}`)), kStartSeconds * 1000);
    const read = (data) => {
      log += data;
      const ready = log.match(/URL +(http:\/\/127\.0\.0\.1:\d+)\/v1/);
      if (!ready) return;
      clearTimeout(timer);
      resolve(ready[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
  });
  return { url, pid: child.pid, log: () => log };
}

// The chunks of an action block in the model's own layout.
export function action(calls) {
  const chunks = ["<|START_ACTION|>", { text: "[\n" }];
  calls.forEach(([name, parameters], i) => {
    chunks.push({ text: `    {"tool_call_id": "${i}", ` }, { text: `"tool_name": "${name}", ` });
    chunks.push({ text: '"parameters": ' }, { text: spaced(parameters) });
    chunks.push({ text: i + 1 < calls.length ? "},\n" : "}\n" });
  });
  return [...chunks, { text: "]" }, "<|END_ACTION|>"];
}

// JSON with the blanks that Python and the model write.
function spaced(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  const members = Object.entries(value).map(([key, v]) => `${JSON.stringify(key)}: ${spaced(v)}`);
  return `{${members.join(", ")}}`;
}

export const thought = (text, ...rest) => [text, "<|END_THINKING|>", ...rest];
export const said = (...pieces) => ["<|START_TEXT|>", ...pieces, "<|END_TEXT|>"];
