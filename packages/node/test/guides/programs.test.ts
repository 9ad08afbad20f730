/** The programs in the readme of the client and its guide, executed literally. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { blocksOf } from "../../test-support/guides/page.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob, _delegate, _factory] = ["account 0", "account 1", "delegate 0", "factory"].map(people) as [
  ReturnType<typeof people>,
  ReturnType<typeof people>,
  ReturnType<typeof people>,
  ReturnType<typeof people>,
];
const folder = mkdtempSync(join(tmpdir(), "uniknode-guides-"));
const _PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));
const _run = promisify(execFile);
const receiver = createServer((_request, response) => response.writeHead(204).end());

let node: Running;
let url: string;

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  const data = join(folder, "chain");
  node = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--instant", "--webhook-token", "TOKEN"]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const programsOf = (path: string): string[] =>
  blocksOf(path).flatMap(({ language, text }) => (language === "js" ? [text] : []));

const filledIn = (written: string, values: Record<string, string>): string =>
  Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), written);

/** Output of a program of these blocks. */
async function printedBy(blocks: readonly string[]): Promise<string> {
  const program = filledIn(blocks.join("\n"), {
    "http://127.0.0.1:4003": url,
    "http://127.0.0.1:5005": `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    PASSPHRASE: alice.passphrase,
    ADDRESS: bob.address,
  });
  // Folder from which the packages are resolved.
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const child = spawn(process.execPath, ["--input-type=module"], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(program);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe("");
  return stdout;
}

test("The first code in the readme of the package runs.", async () => {
  const [first] = programsOf("packages/client/README.md");
  expect(await printedBy([present(first)])).toMatch(/^([0-9a-f]{64}\n)+$/);
});

test("The code for programs runs from its first line to its last.", async () => {
  const stdout = await printedBy(programsOf("docs/guides/clients.md"));
  expect(stdout).toMatch(/^\d+ at height \d+$/m);
  expect(stdout).toMatch(/^\[ '[0-9a-f]{64}' \] undefined$/m);
  expect(stdout).toMatch(/^404 GET \/api\/wallets\/unknown: Wallet not found \(HTTP 404\)$/m);
  expect(stdout).toMatch(/^keep one of these: [0-9a-f]{64} whsec_\S{44}$/m);
  expect(stdout).toMatch(/^delivered \{/m);
  expect(stdout).toMatch(/^block\.applied 1 \S+$/m);
});
