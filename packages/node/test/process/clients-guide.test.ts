/** What the guides of the client and of the command line say, run as it stands there. */
import { execFile, spawn } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob, delegate, factory] = ["account 0", "account 1", "delegate 0", "factory"].map(people) as [
  ReturnType<typeof people>,
  ReturnType<typeof people>,
  ReturnType<typeof people>,
  ReturnType<typeof people>,
];
const folder = mkdtempSync(join(tmpdir(), "uniknode-guides-"));
const PROGRAM = fileURLToPath(new URL("../../bin/uniknode.js", import.meta.url));
const run = promisify(execFile);
const receiver = createServer((_request, response) => response.writeHead(204).end());

let node: Running;
let url: string;

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  const data = join(folder, "chain");
  node = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--instant", "--webhook-token", "TOKEN"]);
  [, url] = (await node.printed(/API\s+(http:\S+?)\/api/)) as unknown as [string, string];
  await node.printed(/Ctrl-C stops/);
}, 60_000);

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The code blocks of a page that are in a language, in order. */
function blocksOf(path: string, language: string): string[] {
  const page = readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return Array.from(blocks, ([, block]) => block!);
}

const filledIn = (written: string, values: Record<string, string>): string =>
  Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), written);

/** What a program of these blocks prints. */
async function printedBy(blocks: readonly string[]): Promise<string> {
  const program = filledIn(blocks.join("\n"), {
    "http://127.0.0.1:4003": url,
    "http://127.0.0.1:5005": `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    PASSPHRASE: alice.passphrase,
    ADDRESS: bob.address,
  });
  // From where the packages are found.
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const child = spawn(process.execPath, ["--input-type=module"], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(program);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe("");
  return stdout;
}

test("the first code in the readme of the package runs", { timeout: 60_000 }, async () => {
  const [first] = blocksOf("packages/client/README.md", "js");
  expect(await printedBy([first!])).toMatch(/^([0-9a-f]{64}\n)+$/);
});

test("the code for programs runs from its first line to its last", { timeout: 60_000 }, async () => {
  const stdout = await printedBy(blocksOf("docs/guides/clients.md", "js"));
  expect(stdout).toMatch(/^\d+ at height \d+$/m);
  expect(stdout).toMatch(/^\[ '[0-9a-f]{64}' \] undefined$/m);
  expect(stdout).toMatch(/^404 GET \/api\/wallets\/unknown: Wallet not found \(HTTP 404\)$/m);
  expect(stdout).toMatch(/^keep one of these: [0-9a-f]{64} whsec_\S{44}$/m);
  expect(stdout).toMatch(/^delivered \{/m);
  expect(stdout).toMatch(/^block\.applied 1 \S+$/m);
});

describe("the commands", () => {
  const lines = blocksOf("docs/guides/command-line.md", "").join("").split("\n");
  const commands = lines.filter((line) => line.startsWith("uniknode ") && line !== "uniknode rpc");
  const passphraseFile = join(folder, "passphrase");
  const signed = join(folder, "signed.json");
  const secret = randomBytes(32);
  const values: Record<string, string> = {
    SECRETHASH: hash("sha256", secret),
    SECRET: secret.toString("hex"),
    HEIGHT: "1000",
    CERTIFIEDUNIK: randomBytes(32).toString("hex"),
    NEWUNIK: randomBytes(32).toString("hex"),
    UNIK: alice.unikId,
    ADDRESS: bob.address,
    DELEGATE: delegate.unikId,
    FACTORY: factory.unikId,
    NAME: "example",
    FILE: passphraseFile,
    DIR: join(folder, "chain"),
    SIGNED: signed,
  };
  const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

  test("are all there", () => {
    expect(commands.length).toBeGreaterThan(18);
    writeFileSync(passphraseFile, `${alice.passphrase}\n`);
    writeFileSync(join(folder, "node.json"), JSON.stringify({ network: "livenet" }));
    values["http://127.0.0.1:8000/"] = receiverUrl();
  });

  test.each(commands)("%s", { timeout: 30_000 }, async (command) => {
    const typed = `"${process.execPath}" "${PROGRAM}" ${filledIn(command.slice("uniknode ".length), values)}`;
    const env = {
      ...process.env,
      UNIKNODE_URL: url,
      UNIKNODE_WEBHOOK_TOKEN: "TOKEN",
      UNIKNODE_DATA: join(folder, "chain"),
      // A node may have the default port on the machine of the test.
      UNIKNODE_HTTP_PORT: "0",
      UNIKNODE_PASSPHRASE: alice.passphrase,
      UNIKNODE_FACTORY_PASSPHRASE: factory.passphrase,
    };
    const { stdout, stderr } = await run("sh", ["-c", typed], { env, cwd: folder });
    expect(stderr).toBe("");
    if (command.includes(" webhooks create ")) values.WEBHOOK = /^id\s+(\d+)$/m.exec(stdout)![1]!;
    if (command.includes(" lock ")) values.LOCK = /^id\s+(\S+)$/m.exec(stdout)![1]!;
    if (command.includes("--dry-run")) writeFileSync(signed, stdout);
    if (command.includes("--wait")) expect(stdout).toMatch(/^state\s+forged in block /m);
    if (command.includes("--json")) JSON.parse(stdout);
  });

  test("the companion answers the call that is shown", { timeout: 30_000 }, async () => {
    const data = join(folder, "json-rpc.sqlite");
    const companion = spawnUniknode(["rpc", "--url", url, "--rpc-port", "0", "--rpc-data", data]);
    try {
      const [, address] = await companion.printed(/^(http:\S+)$/m);
      const [shown] = blocksOf("docs/guides/command-line.md", "").filter((block) => block.startsWith("curl"));
      const typed = filledIn(shown!, { "http://127.0.0.1:8080": address!, ADDRESS: bob.address });
      const { stdout } = await run("sh", ["-c", typed.replace("curl", "curl -sS --fail-with-body")]);
      expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { address: bob.address } });
    } finally {
      companion.child.kill("SIGTERM");
      expect((await companion.ended).code).toBe(0);
    }
  });
});
