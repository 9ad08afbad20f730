/** Refusals of the companion: pages of other sites, unknown names, too much concurrent work. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { dalinet } from "@uniknode/protocol";
import { fastify } from "fastify";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startRpc } from "../../src/rpc/server.ts";
import { OPTIONS } from "./options.ts";

async function serve(options: Partial<typeof OPTIONS> = {}): Promise<string> {
  const node = fastify();
  node.get("/api/node/configuration/crypto", async () => ({ data: dalinet }));
  node.get("/api/blocks/last", (_request, reply) =>
    reply.code(429).header("retry-after", "55").send({ message: "Too Many Requests" }),
  );
  const url = await node.listen({ host: "127.0.0.1", port: 0 });
  const companion = await startRpc({ ...OPTIONS, ...options, url }, pino({ level: "silent" }));
  onTestFinished(async () => {
    await companion.close();
    await node.close();
  });
  return companion.url;
}

const type = { "content-type": "application/vnd.api+json" };

/** Sends a request as any program except a browser can. */
async function send(url: string, headers: Record<string, string>, call: object | object[]) {
  const posting = request(url, { method: "POST", headers, agent: false });
  posting.end(JSON.stringify(call));
  const [response] = (await once(posting, "response")) as [IncomingMessage];
  return {
    status: response.statusCode,
    body: JSON.parse(Buffer.concat(await response.toArray()).toString()),
  };
}

const call = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });
const keeper = { bip38: "a password", userId: "0aff" };

test("Pages of other origins, unknown hosts and other media types create nothing.", async () => {
  const url = await serve();
  const create = call(1, "wallets.bip38.create", keeper);
  const refused: [Record<string, string>, number, string][] = [
    [{ ...type, origin: "https://evil.example" }, 403, "requests from other origins are refused"],
    [{ ...type, origin: "null" }, 403, "requests from other origins are refused"],
    [
      { ...type, host: "evil.example", origin: "http://evil.example" },
      403,
      "the Host header is not a name of this machine; add further names with --rpc-hosts",
    ],
    [{ "content-type": "text/plain" }, 415, "Content-Type must be application/vnd.api+json"],
    [{}, 415, "Content-Type must be application/vnd.api+json"],
  ];
  for (const [headers, statusCode, message] of refused) {
    expect(await send(url, headers, create)).toMatchObject({
      status: statusCode,
      body: { statusCode, message },
    });
  }
  expect((await send(url, type, call(2, "wallets.bip38.info", keeper))).body.error).toMatchObject({
    code: 404,
  });
  expect((await send(url, { ...type, host: "node.example:8080" }, create)).body).toHaveProperty("result.wif");
  expect((await send(url, { ...type, origin: url }, create)).body).toHaveProperty("result.wif");
});

test("Calls of bip38 are bounded per minute, in batches too, and refused with the reason.", async () => {
  const url = await serve({ derivationsPerMinute: 1 });
  const create = call(1, "wallets.bip38.create", keeper);
  expect((await send(url, type, create)).body).toHaveProperty("result.wif");
  const { body } = await send(url, type, [create, call(1, "wallets.create", { passphrase: "a" })]);
  expect(body).toMatchObject([
    {
      error: {
        code: 429,
        message: "Too Many Requests",
        data: expect.stringMatching(/^bip38: rate limit of 1 calls? per minute exceeded/),
      },
    },
    { result: { address: expect.any(String) } },
  ]);
  // Only calls that derive a key are counted.
  const unknown = call(1, "wallets.bip38.info", { ...keeper, userId: "0b" });
  expect((await send(url, type, unknown)).body.error).toMatchObject({ code: 404 });
});

test("Concurrent calls that create keys of one user create one wallet.", async () => {
  const url = await serve();
  const create = call(1, "wallets.bip38.create", keeper);
  const responses = await Promise.all([1, 2, 3].map(() => send(url, type, create)));
  expect(new Set(responses.map(({ body }) => body.result.address)).size).toBe(1);
});

test("A node that returns 429 is not waited for: each call of a batch gets that error.", async () => {
  const url = await serve();
  const latest = Array.from({ length: 100 }, (_, id) => call(id, "blocks.latest", {}));
  const { body } = await send(url, type, latest);
  expect(body.length).toBe(100);
  for (const { error } of body)
    expect(error).toMatchObject({ code: 429, data: expect.stringMatching(/; retry in 55 s$/) });
});
