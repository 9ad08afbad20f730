/** Amounts that the companion forwards, from a node with one rich wallet. */
import { dalinet } from "@uniknode/protocol";
import { fastify } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RpcServer, startRpc } from "../../src/rpc/server.ts";
import { OPTIONS } from "./options.ts";

const address = "DGvLud8MHsB5T5YeFqg2vr1cwDgkfAnuW3";
const node = fastify();
let companion: RpcServer;

beforeAll(async () => {
  node.get("/api/node/configuration/crypto", async () => ({ data: dalinet }));
  node.get(`/api/wallets/${address}`, (_request, reply) =>
    reply.type("application/json").send(`{"data":{"address":"${address}","balance":9007199254740993}}`),
  );
  const url = await node.listen({ host: "127.0.0.1", port: 0 });
  companion = await startRpc({ ...OPTIONS, url }, pino({ level: "silent" }));
});
afterAll(async () => {
  await companion.close();
  await node.close();
});

test("Amounts keep all their digits beyond 2^53.", async () => {
  const call = { jsonrpc: "2.0", id: 1, method: "wallets.info", params: { address } };
  const response = await fetch(companion.url, {
    method: "POST",
    headers: { "content-type": "application/vnd.api+json" },
    body: JSON.stringify(call),
  });
  expect(await response.text()).toContain('"balance":9007199254740993}');
});
