/** The packages as users get them: installed from their files into a new project, without this repository. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createProject } from "../../packages/node/src/commands/init.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { WAIT_MS } from "../../packages/node/test-support/process/until.ts";
import { compilePackages, packPackages, ROOT, versionOf } from "../../tools/release/packages.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-installed-"));
const project = join(folder, "project");
const modules = join(project, "node_modules");
let files: string[] = [];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STALLED_MS = 30_000;
/** Programs find the runtime of this process first. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
const run = async (command: string, args: readonly string[], cwd = project): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, env })).stdout;

beforeAll(async () => {
  compilePackages(join(folder, "compiled"));
  files = packPackages(join(folder, "compiled"), join(folder, "packed"));
  createProject(project, join(folder, "packed"));
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
  // A connection to the registry that stalls is replaced before the test times out; the default timeout is five minutes.
  await run("npm", ["install", `--fetch-timeout=${STALLED_MS}`, ...flags]);
});

/** Further imports of entries of the client. */
const ENTRY_IMPORTS = [
  { folder: "proofs/", imports: /^@uniknode\/protocol(\/ed25519)?$/ },
  { folder: "testing.js", imports: /^node:(child_process|fs|os|path)$/ },
];

const contents = (file: string): string[] =>
  execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trim().split("\n");

describe("A packed package", () => {
  test("A packed package has README and licence, code and types, and neither tests nor sources.", () => {
    expect(files).toHaveLength(4);
    for (const file of files) {
      const paths = contents(file);
      expect(paths).toEqual(
        expect.arrayContaining(["README.md", "LICENSE"].map((name) => `package/${name}`)),
      );
      expect(paths.filter((path) => /^package\/dist\/.*[^d]\.js$/.test(path)).length).toBeGreaterThan(20);
      expect(paths.filter((path) => path.endsWith(".d.ts")).length).toBeGreaterThan(20);
      expect(
        paths.filter((path) => /(?<!\.d)\.ts$|^package\/(src|test|test-support|node_modules)\//.test(path)),
      ).toEqual([]);
    }
  });

  test("A packed package of the program has the console.", () => {
    const [program] = files.filter((file) => /\/uniknode-\d/.test(file));
    const paths = contents(present(program));
    expect(paths).toContain("package/console/index.html");
    expect(paths.filter((path) => /^package\/console\/assets\/.+\.js$/.test(path)).length).toBeGreaterThan(5);
    const documents = ["contents", "search", "pages/guides/install", "pages/spec/p2p"];
    expect(paths).toEqual(
      expect.arrayContaining(documents.map((name) => `package/console/documents/${name}.json`)),
    );
  });

  test("A packed package needs neither install scripts nor development dependencies.", () => {
    for (const name of ["uniknode", "@uniknode/client", "@uniknode/ledger", "@uniknode/protocol"]) {
      const manifest = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
      expect(manifest).toMatchObject({ name, version: versionOf(ROOT), license: "MIT" });
      expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(["scripts"]));
      expect(manifest).not.toHaveProperty("devDependencies");
      expect(manifest).not.toHaveProperty("private");
      expect(readFileSync(join(modules, name, "README.md"), "utf8")).not.toContain("](../");
    }
  });

  test("The package of the client imports nothing from elsewhere, except for proofs and tests.", () => {
    const client = join(modules, "@uniknode/client");
    const scripts = readdirSync(join(client, "dist"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".js"),
    );
    for (const script of scripts) {
      const text = readFileSync(join(client, "dist", script), "utf8");
      for (const [, specifier] of text.matchAll(/ from "([^"]+)"/g)) {
        const allowed = ENTRY_IMPORTS.find(({ folder }) => script.startsWith(folder))?.imports;
        const isAllowed = allowed?.test(present(specifier));
        expect(isAllowed ? "./allowed.js" : specifier).toMatch(/^\.\.?\/(?!proofs\/|testing\.).*\.js$/);
      }
    }
    const manifest = JSON.parse(readFileSync(join(client, "package.json"), "utf8"));
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependenciesMeta).toEqual({ "@uniknode/protocol": { optional: true } });
  });
});

test("Programs in JavaScript import the libraries.", async () => {
  writeFileSync(
    join(project, "import.mjs"),
    `import { DeliveryError, verifyDelivery } from "@uniknode/client";
     import { createMemoryState } from "@uniknode/ledger";
     import { addressFromPublicKey, bytesToHex, keysFromPassphrase } from "@uniknode/protocol";
     import { verifyProof } from "@uniknode/client/proofs";
     import { startChain } from "@uniknode/client/testing";
     const refused = verifyDelivery({ headers: {}, body: "" }, { secret: "00".repeat(32) });
     console.log(await refused.catch((error) => error instanceof DeliveryError && error.code));
     console.log(typeof createMemoryState(), typeof verifyProof, typeof startChain);
     console.log(bytesToHex(keysFromPassphrase("this is a top secret passphrase").publicKey));`,
  );
  expect((await run("node", ["import.mjs"])).split("\n")).toEqual([
    "DELIVERY_HEADER_MISSING",
    "object function function",
    "034151a3ec46b5670a682b0a63394f863587d1bc97483b1b6c70eb58e7f0aed192",
    "",
  ]);
});

test("Programs in TypeScript get the types, without those of Node.js.", async () => {
  writeFileSync(
    join(project, "program.ts"),
    `import { createClient, type Delivery, verifyDelivery } from "@uniknode/client";
     import { createMemoryState, type StateReader } from "@uniknode/ledger";
     import { keysFromPassphrase } from "@uniknode/protocol";
     import { startChain } from "@uniknode/client/testing";
     const client = createClient({ url: "http://127.0.0.1:4003" });
     export const minted = async (): Promise<string> =>
       (await (await startChain()).waitFor("unik.minted", ({ data }) => data.ownerId !== "")).data.tokenId;
     export const reward: Promise<string> = client.blocks.last().then(({ data }) => data.forged.reward);
     export const delivery: Promise<Delivery> = verifyDelivery({ headers: {}, body: "" }, { secret: "" });
     export const key: Uint8Array = keysFromPassphrase("passphrase").publicKey;
     export const state: StateReader = createMemoryState();
     // @ts-expect-error: no such filter
     client.blocks.list({ color: "red" });`,
  );
  const compiler = join(ROOT, "node_modules/.bin/tsc");
  const flags = ["--noEmit", "--strict", "--module", "NodeNext", "--target", "ES2022", "--lib", "ES2024,DOM"];
  const output = await run(compiler, [...flags, "--types", "", "program.ts"]).catch(
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(output).toBe("");
});

/** Registers a webhook at a node, receives and verifies one delivery, and prints its event. */
const RECEIVER = `
  import { createServer } from "node:http";
  import { text } from "node:stream/consumers";
  import { createClient, verifyDelivery } from "@uniknode/client";
  const [url, webhookToken] = process.argv.slice(2);
  const client = createClient({ url, webhookToken, timeoutMs: ${WAIT_MS} });
  let webhook;
  const server = createServer(async (request, response) => {
    // The first delivery can arrive before the response to the registration.
    const { token: secret } = (await webhook).data;
    const delivery = await verifyDelivery({ headers: request.headers, body: await text(request) }, { secret });
    console.log(delivery.event);
    // Further deliveries could arrive on the same connection.
    response.writeHead(204).end(() => process.exit());
  });
  server.listen(0, "127.0.0.1", () => {
    const target = "http://127.0.0.1:" + server.address().port;
    const conditions = [{ key: "height", condition: "gte", value: "1" }];
    webhook = client.webhooks.create({ event: "block.applied", target, conditions });
  });`;

test("The program starts a dev chain, serves requests and delivers webhooks.", async () => {
  expect(await run("npx", ["uniknode", "version"])).toContain(
    `${versionOf(ROOT)} program (Node.js ${process.versions.node})\n`,
  );
  const args = ["dev", "--http-port", "0", "--block-time", "1", "--webhook-token", "the token of the test"];
  // With its own process group, which Ctrl-C ends as a terminal does.
  const node = spawn("npx", ["uniknode", ...args], {
    cwd: project,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => node.once("close", resolve));
  onTestFinished(async () => {
    process.kill(-present(node.pid), "SIGINT");
    await ended;
  });
  let printed = "";
  node.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  await expect.poll(() => printed).toMatch(/^block \d+ /m);
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
  const response = await fetch(`${url}/api/v2/blockchain`);
  expect(await response.json()).toMatchObject({ data: { block: { height: expect.any(Number) } } });
  writeFileSync(join(project, "receiver.mjs"), RECEIVER);
  expect(await run("node", ["receiver.mjs", present(url, "a URL"), "the token of the test"])).toBe(
    "block.applied\n",
  );
});

test("A new project receives a verified delivery in its own test.", async () => {
  expect(await run("npm", ["test"])).toMatch(/^. pass 1$/m);
});

test("The installed program creates the same project.", async () => {
  expect(await run("npx", ["uniknode", "init", "my-app"])).toContain("cd my-app");
  const names = readdirSync(join(project, "my-app"), { recursive: true, encoding: "utf8" });
  expect(names.length).toBeGreaterThan(7);
  for (const name of names.filter((path) => path.includes(".") && path !== "package.json")) {
    const [written, expected] = ["my-app", ""].map((app) => readFileSync(join(project, app, name), "utf8"));
    expect(written).toBe(expected);
  }
});
