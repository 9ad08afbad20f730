/** The entry `testing`: its example with Vitest, its calls, its errors, and nothing left behind. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { type ChainErrorCode, startChain, type TestChain } from "@uniknode/client/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = [process.execPath, join(ROOT, "packages/node/bin/uniknode.js")] as const;
let chain: TestChain;

beforeAll(async () => {
  chain = await startChain({ command: COMMAND, options: ["--accounts", "2"] });
});

afterAll(() => chain.stop());

const errorOf = (code: ChainErrorCode, message = "") => ({
  name: "ChainError",
  code,
  isRetryable: code === "CHAIN_TIMEOUT",
  message: expect.stringContaining(message),
});

test("The example with Vitest passes.", async () => {
  const programs = [dirname(process.execPath), join(ROOT, "node_modules/.bin"), process.env.PATH];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--root", join(ROOT, "examples/testing")],
    { env: { ...process.env, PATH: programs.join(delimiter), VITEST: undefined } },
  );
  expect(stripVTControlCharacters(stdout)).toMatch(/Tests {2}1 passed/);
});

test("The chain has the given options, and forges only on demand.", async () => {
  const { data } = await chain.client.dev.accounts();
  expect(data.accounts).toHaveLength(2);
  expect((await chain.client.dev.snapshot()).data.forging).toBe(false);
});

test("Blocks, a reorganisation and a journey in time have the described effects.", async () => {
  const { head, applied, now } = await chain.mine(3);
  expect(applied).toHaveLength(3);
  expect((await chain.mine()).head.height).toBe(head.height + 1);
  const branch = await chain.reorganise(2);
  expect([branch.reverted.length, branch.applied.length]).toEqual([2, 3]);
  expect((await chain.reorganise(1, { blocks: 4, transactions: true })).applied).toHaveLength(4);
  expect((await chain.travel(86_400)).now.unix).toBeGreaterThanOrEqual(now.unix + 86_400);
  await expect(chain.reorganise(1_000)).rejects.toMatchObject({ name: "ApiError", nodeCode: "DEV_DEPTH" });
});

test("An event is returned once, whether it occurs before or after the call.", async () => {
  const { applied } = await chain.mine(2);
  const isNew = ({ height = 0 }) => height >= Number(applied[0]?.height);
  const later = [1, 2, 3].map(() => chain.waitFor("block.applied", isNew));
  const [third] = (await chain.mine()).applied;
  const found = await Promise.all(later);
  expect(found.map(({ data }) => data.id).sort()).toEqual(
    [...applied, third].map((block) => block?.id).sort(),
  );
  await expect(chain.waitFor("block.applied", isNew, 1)).rejects.toMatchObject(
    errorOf("CHAIN_TIMEOUT", "no event block.applied matched within 1 ms"),
  );
});

test("An error of the condition rejects the call.", async () => {
  await chain.mine();
  const failure = new TypeError("no such member");
  const matches = () => {
    throw failure;
  };
  await expect(chain.waitFor("block.applied", matches)).rejects.toBe(failure);
});

test("A chain that is stopped rejects the calls that wait, and removes its folder.", async () => {
  const other = await startChain({ command: COMMAND });
  const { data: options } = await other.client.operations.options();
  const folder = String(options.find(({ option }) => option === "data")?.value);
  expect(existsSync(folder)).toBe(true);
  const waiting = expect(other.waitFor("block.applied")).rejects.toMatchObject(errorOf("CHAIN_ENDED"));
  await other[Symbol.asyncDispose]();
  await waiting;
  expect(existsSync(folder)).toBe(false);
  await other.stop();
  await expect(other.mine()).rejects.toMatchObject({ code: "API_UNREACHABLE" });
});

/** A program that writes its arguments to a file and runs the script. */
function fakeProgram(script: string) {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-fake-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "arguments.json");
  writeFileSync(
    join(folder, "program.mjs"),
    `import { writeFileSync } from "node:fs";
     writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.argv));
     ${script}`,
  );
  const command = [process.execPath, join(folder, "program.mjs")] as const;
  return { command, readArguments: (): string[] => JSON.parse(readFileSync(file, "utf8")) };
}

test("A program that ends before the chain is ready is reported with its output, and its folder is removed.", async () => {
  const { command, readArguments } = fakeProgram(`console.error("no space left"); process.exit(3);`);
  await expect(startChain({ command })).rejects.toMatchObject(errorOf("CHAIN_NOT_STARTED", "no space left"));
  await expect(startChain({ command })).rejects.toThrow("ended with exit code 3");
  const used = readArguments();
  expect(existsSync(String(used[used.indexOf("--data") + 1]))).toBe(false);
});

test("A program that is missing is reported with the next step.", async () => {
  await expect(startChain({ command: ["/nowhere/uniknode"] })).rejects.toMatchObject(
    errorOf("CHAIN_NOT_STARTED", 'ENOENT: install "uniknode", or name the program in "command"'),
  );
});

test("A program that never gets ready is ended at the time limit.", async () => {
  const { command } = fakeProgram("setInterval(() => {}, 1_000);");
  await expect(startChain({ command, timeoutMs: 500 })).rejects.toMatchObject(
    errorOf("CHAIN_TIMEOUT", "500 ms"),
  );
});

test("A chain that ends by itself rejects the calls that wait.", async () => {
  const { command } = fakeProgram(`
    import { createServer } from "node:http";
    const server = createServer((request, response) => {
      if (request.url.includes("/mine")) process.exit(4);
      if (request.url.includes("/events")) response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      else response.end("{}");
    });
    server.listen(0, "127.0.0.1", () => console.log("API   http://127.0.0.1:" + server.address().port + "/api/v2"));`);
  const crashing = await startChain({ command });
  onTestFinished(crashing.stop.bind(crashing));
  const waiting = expect(crashing.waitFor("block.applied")).rejects.toMatchObject(
    errorOf("CHAIN_ENDED", "the chain ended with exit code 4"),
  );
  await expect(crashing.mine()).rejects.toMatchObject({ code: "API_UNREACHABLE" });
  await waiting;
});
