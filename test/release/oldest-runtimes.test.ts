/** Each package on the oldest Node.js that it declares. */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { present } from "../../packages/node/src/platform/present.ts";
import { skips } from "../../packages/node/test-support/process/available.ts";
import { WAIT_MS } from "../../packages/node/test-support/process/until.ts";
import { compilePackages, ROOT } from "../../tools/release/packages.ts";
import { fetchRuntime, HAS_RUNTIMES, oldestRuntime } from "../../tools/release/runtimes.ts";

const isSkipped = skips(HAS_RUNTIMES ? undefined : "the runtimes are programs of Linux on x64");
const folder = mkdtempSync(join(tmpdir(), "uniknode-oldest-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program on the oldest runtime of a package. */
const runOn = async (name: string, args: readonly string[]): Promise<string> => {
  const options = { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 } as const;
  return (await promisify(execFile)(fetchRuntime(oldestRuntime(name)), args, options)).stdout;
};

/** Program in JavaScript that finds the compiled packages. */
const runProgram = (name: string, text: string, ...args: string[]): Promise<string> => {
  writeFileSync(join(folder, "program.mjs"), text);
  return runOn(name, ["program.mjs", ...args]);
};

beforeAll(() => {
  if (isSkipped) return;
  for (const name of ["client", "protocol", "ledger", "node"]) fetchRuntime(oldestRuntime(name));
  compilePackages(folder);
  mkdirSync(join(folder, "node_modules/@uniknode"), { recursive: true });
  symlinkSync(join(folder, "client"), join(folder, "node_modules/@uniknode/client"));
});

describe.skipIf(isSkipped)("The client", () => {
  test("The client imports all of its modules.", async () => {
    expect(await runOn("client", ["--version"])).toBe(`v${oldestRuntime("client")}\n`);
    const program = `import * as client from "@uniknode/client"; console.log(Object.keys(client).sort().join());`;
    const names = Object.keys(await import("@uniknode/client")).sort();
    expect(await runProgram("client", program)).toBe(`${names}\n`);
  });

  test("The client reads and writes every digit of the live supply, of balances, and of refused bodies.", async () => {
    const program = `
      import { createServer } from "node:http";
      import { createClient, jsonText } from "@uniknode/client";
      const body = '{"data":{"block":{"height":3,"id":"x"},"supply":21000123456789012345, "text":"\\\\",9007199254740993"}}';
      const server = createServer(({ url }, response) => response.writeHead(/peers/.test(url) ? 409 : 200).end(body));
      server.listen(0, "127.0.0.1", async () => {
        const client = createClient({ url: "http://127.0.0.1:" + server.address().port });
        const { data } = await client.blockchain.get();
        console.log(data.supply === 21000123456789012345n, data.block.height === 3, jsonText(data));
        const refusal = await client.peers.list().page().catch((error) => error);
        console.log(refusal.code, refusal.type?.body?.data?.supply ?? refusal.message);
        server.close();
      });`;
    expect((await runProgram("client", program)).split("\n")).toEqual([
      String.raw`true true {"block":{"height":3,"id":"x"},"supply":21000123456789012345,"text":"\",9007199254740993"}`,
      "API_REFUSED 21000123456789012345n",
      "",
    ]);
  });
});

/** Lists, sends, follows, registers a webhook, and verifies its delivery, at the node of a URL. */
const CLIENT = `
  import { createServer } from "node:http";
  import { text } from "node:stream/consumers";
  import { createClient, verifyDelivery } from "@uniknode/client";
  const [url, webhookToken] = process.argv.slice(2);
  const client = createClient({ url, webhookToken, timeoutMs: ${WAIT_MS} });
  let rows = 0;
  for await (const { balance } of client.wallets.list()) if (balance !== undefined) rows++;
  console.log(rows > 10);
  for await (const { event } of client.events.stream({ events: ["block.applied"] })) { console.log(event); break; }
  console.log((await client.wallets.get("unknown").catch((error) => error)).code);
  let webhook;
  const server = createServer(async (request, response) => {
    // The first delivery can arrive before the response to the registration.
    const { token: secret } = (await webhook).data;
    const delivery = await verifyDelivery({ headers: request.headers, body: await text(request) }, { secret });
    response.writeHead(204).end();
    console.log(delivery.event);
    process.exit();
  });
  server.listen(0, "127.0.0.1", () => {
    const target = "http://127.0.0.1:" + server.address().port;
    const conditions = [{ key: "height", condition: "gte", value: "1" }];
    webhook = client.webhooks.create({ event: "block.applied", target, conditions });
  });`;

describe.skipIf(isSkipped)("The other packages", () => {
  test.each(["protocol", "ledger"])("%s returns the recorded results.", async (name) => {
    const vectors = join(ROOT, "test/vectors", name === "protocol" ? "crypto" : "state");
    const printed = await runOn(name, [join(ROOT, "tools/vectors/main.ts"), vectors]);
    expect(printed).toMatch(/\n[1-9]\d+ passed, 0 failed, /);
  });

  test("The program runs a dev chain, which a client on its own oldest runtime uses.", async () => {
    const runtime = fetchRuntime(oldestRuntime("node"));
    const args = [
      "dev",
      "--data",
      "dev",
      "--http-port",
      "0",
      "--block-time",
      "1",
      "--webhook-token",
      "a token of the test",
    ];
    const node = spawn(runtime, [join(ROOT, "packages/node/bin/uniknode.js"), ...args], {
      cwd: folder,
      env: { ...process.env, PATH: `${dirname(runtime)}:${process.env.PATH}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => node.once("close", resolve));
    onTestFinished(async () => {
      node.kill("SIGINT");
      await ended;
    });
    let printed = "";
    node.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    await expect.poll(() => printed).toMatch(/^block \d+ /m);
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    const lines = ["true", "block.applied", "API_NOT_FOUND", "block.applied", ""];
    expect(
      (await runProgram("client", CLIENT, present(url, "a URL"), "a token of the test")).split("\n"),
    ).toEqual(lines);
  });
});
