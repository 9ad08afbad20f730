/** Outcome of a posted transaction, for every response of the node. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { SendError } from "../../src/submission/error.ts";
import { post, waitUntilForged } from "../../src/submission/send.ts";

const ID = "ab".repeat(32);

/** Client of a node that returns a status and a body for each path, or does not respond. */
async function clientOf(contentOf: (path: string) => readonly [status: number, body: unknown] | undefined) {
  const server = createServer((request, response: ServerResponse) => {
    const content = contentOf(`${request.method} ${request.url}`);
    if (!content) return request.socket.destroy();
    const [status, body] = content;
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, retries: 0 });
}

const lists = { accept: [], broadcast: [], excess: [], invalid: [] };

async function refusal(attempt: Promise<unknown>) {
  const error = await attempt.catch((error: unknown) => error);
  if (!(error instanceof SendError)) throw error;
  expect(error.message).toContain(ID);
  return error.type;
}

test("accepted", async () => {
  const client = await clientOf(() => [200, { data: { ...lists, accept: [ID] } }]);
  await post(client, { id: ID });
});

test("refused, with the reasons of the node", async () => {
  const reasons = [{ type: "ERR_LOW_FEE", message: "too low" }];
  const client = await clientOf((path) =>
    path.startsWith("POST")
      ? [200, { data: { ...lists, invalid: [ID] }, errors: { [ID]: reasons } }]
      : [404, {}],
  );
  expect(await refusal(post(client, { id: ID }))).toEqual({ code: "SEND_REFUSED", id: ID, reasons });
});

test.each([
  ["in a block", "ERR_FORGED", { id: ID, blockId: "7" }],
  ["in a block and expired since", "ERR_EXPIRED", { id: ID, blockId: "7" }],
  ["pending", "ERR_DUPLICATE", { id: ID }],
])("a repetition of a transaction that is %s is not a refusal (%s)", async (_, type, known) => {
  const client = await clientOf((path) => {
    if (path.startsWith("POST")) {
      return [200, { data: { ...lists, invalid: [ID] }, errors: { [ID]: [{ type, message: "no" }] } }];
    }
    return "blockId" in known === path.includes("unconfirmed") ? [404, {}] : [200, { data: known }];
  });
  expect(await post(client, { id: ID })).toMatchObject(known);
});

test("a repetition between two blocks of a transaction that the node does not have is uncertain, not refused", async () => {
  const errors = { [ID]: [{ type: "ERR_DUPLICATE", message: "Already in cache." }] };
  const client = await clientOf((path) =>
    path.startsWith("POST") ? [200, { data: { ...lists, invalid: [ID] }, errors }] : [404, {}],
  );
  await expect(post(client, { id: ID })).rejects.toMatchObject({ code: "SEND_UNCERTAIN", isRetryable: true });
});

test("beyond the limit of the sender", async () => {
  const client = await clientOf((path) =>
    path.startsWith("POST") ? [200, { data: { ...lists, excess: [ID] } }] : [404, {}],
  );
  await expect(post(client, { id: ID })).rejects.toMatchObject({ code: "SEND_EXCESS" });
});

test("no response: the message names that it may have arrived", async () => {
  for (const response of [undefined, [503, {}]] as const) {
    const client = await clientOf(() => response);
    expect(await refusal(post(client, { id: ID }))).toMatchObject({ code: "SEND_UNCERTAIN", id: ID });
  }
});

test("not processed: the message states it", async () => {
  for (const [status, code] of [
    [422, "API_REFUSED"],
    [429, "API_RATE_LIMITED"],
  ] as const) {
    const client = await clientOf(() => [status, {}]);
    await expect(post(client, { id: ID })).rejects.toMatchObject({ code });
  }
});

test("waiting finds it in a block, even if it left the pool between two polls", async () => {
  const requested: string[] = [];
  const client = await clientOf((path) => {
    requested.push(path);
    if (path.includes("unconfirmed")) return requested.length < 3 ? [200, { data: {} }] : [404, {}];
    return requested.length < 4 ? [404, {}] : [200, { data: { id: ID, blockId: "7" } }];
  });
  expect(await waitUntilForged(client, ID, 10_000)).toMatchObject({ blockId: "7" });
});

test("waiting ends when it is in neither pool nor chain", async () => {
  const client = await clientOf(() => [404, {}]);
  expect(await refusal(waitUntilForged(client, ID, 10_000))).toEqual({ code: "SEND_DROPPED", id: ID });
});

test("waiting ends at its timeout", async () => {
  const client = await clientOf((path) => (path.includes("unconfirmed") ? [200, { data: {} }] : [404, {}]));
  const type = await refusal(waitUntilForged(client, ID, 0));
  expect(type).toMatchObject({ code: "SEND_STILL_WAITING", id: ID });
});
