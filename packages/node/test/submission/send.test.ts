/** Outcome of a posted transaction, for every response of the node. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, type SingleWallet } from "@uniknode/client";
import {
  builders,
  bytesToHex,
  createNetwork,
  dalinet,
  keysFromPassphrase,
  signTransaction,
} from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { explainRefusal, post, waitUntilForged } from "../../src/submission/send.ts";
import { SendError } from "../../src/submission/sender.ts";

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

test("A submission succeeds if the node accepts the transaction.", async () => {
  const client = await clientOf(() => [200, { data: { ...lists, accept: [ID] } }]);
  await post(client, { id: ID });
});

test("A submission is refused, with the reasons of the node.", async () => {
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
])("A repetition of a transaction that is %s is not a refusal (%s).", async (_, type, known) => {
  const client = await clientOf((path) => {
    if (path.startsWith("POST")) {
      return [200, { data: { ...lists, invalid: [ID] }, errors: { [ID]: [{ type, message: "no" }] } }];
    }
    return "blockId" in known === path.includes("unconfirmed") ? [404, {}] : [200, { data: known }];
  });
  expect(await post(client, { id: ID })).toMatchObject(known);
});

test("A repetition between two blocks of a transaction that the node does not have is uncertain, not refused.", async () => {
  const errors = { [ID]: [{ type: "ERR_DUPLICATE", message: "Already in cache." }] };
  const client = await clientOf((path) =>
    path.startsWith("POST") ? [200, { data: { ...lists, invalid: [ID] }, errors }] : [404, {}],
  );
  await expect(post(client, { id: ID })).rejects.toMatchObject({ code: "SEND_UNCERTAIN", isRetryable: true });
});

test("A submission beyond the limit of the sender fails.", async () => {
  const client = await clientOf((path) =>
    path.startsWith("POST") ? [200, { data: { ...lists, excess: [ID] } }] : [404, {}],
  );
  await expect(post(client, { id: ID })).rejects.toMatchObject({ code: "SEND_EXCESS" });
});

test("The message for a missing response says that the transaction may have arrived.", async () => {
  for (const response of [undefined, [503, {}]] as const) {
    const client = await clientOf(() => response);
    expect(await refusal(post(client, { id: ID }))).toMatchObject({ code: "SEND_UNCERTAIN", id: ID });
  }
});

test("The message for a transaction that was not processed states it.", async () => {
  for (const [status, code] of [
    [422, "API_REFUSED"],
    [429, "API_RATE_LIMITED"],
  ] as const) {
    const client = await clientOf(() => [status, {}]);
    await expect(post(client, { id: ID })).rejects.toMatchObject({ code });
  }
});

test("A wait finds the transaction in a block, even if it left the pool between two polls.", async () => {
  const requested: string[] = [];
  const client = await clientOf((path) => {
    requested.push(path);
    if (path.includes("unconfirmed")) return requested.length < 3 ? [200, { data: {} }] : [404, {}];
    return requested.length < 4 ? [404, {}] : [200, { data: { id: ID, blockId: "7" } }];
  });
  expect(await waitUntilForged(client, ID, 10_000)).toMatchObject({ blockId: "7" });
});

const headAt = (height: number) => [200, { data: { block: { height, id: "7" }, supply: "1" } }] as const;
/** The head of the node, which has the pool. */
const NODE_AT_10 = [200, { data: { synced: true, now: 10, blocksCount: 0, timestamp: 1 } }] as const;

test("A wait ends when the transaction is in neither pool nor chain for three blocks.", async () => {
  let height = 10;
  const client = await clientOf((path) => {
    if (path.endsWith("/node/status")) return NODE_AT_10;
    return path.endsWith("/blockchain") ? headAt(height++) : [404, {}];
  });
  expect(await refusal(waitUntilForged(client, ID, 10_000))).toEqual({ code: "SEND_DROPPED", id: ID });
  expect(height).toBe(14);
});

test("A wait finds a transaction that was forged before the server had its block, which is far behind.", async () => {
  let height = 5;
  const client = await clientOf((path) => {
    if (path.endsWith("/node/status")) return NODE_AT_10;
    if (path.endsWith("/blockchain")) return headAt(height++);
    return path.includes("unconfirmed") || height < 12
      ? [404, {}]
      : [200, { data: { id: ID, blockId: "7" } }];
  });
  expect(await waitUntilForged(client, ID, 10_000)).toMatchObject({ blockId: "7" });
});

test("A wait on a server whose head does not move ends without a claim that the transaction was dropped.", async () => {
  const client = await clientOf((path) => {
    if (path.endsWith("/node/status")) return NODE_AT_10;
    return path.endsWith("/blockchain") ? headAt(10) : [404, {}];
  });
  expect(await refusal(waitUntilForged(client, ID, 0))).toEqual({ code: "SEND_UNCERTAIN", id: ID });
  await expect(waitUntilForged(client, ID, 0)).rejects.toThrow("uncertain whether");
});

test("A wait ends at its timeout.", async () => {
  const client = await clientOf((path) => (path.includes("unconfirmed") ? [200, { data: {} }] : [404, {}]));
  await expect(waitUntilForged(client, ID, 0)).rejects.toThrow("was not forged within 0 s");
  const type = await refusal(waitUntilForged(client, ID, 0));
  expect(type).toMatchObject({ code: "SEND_STILL_WAITING", id: ID });
});

/** Returns the explanation of a refusal of a payment of 2 tokens with a fee of 1, from a wallet with a balance. */
async function explained(reason: { type: string; message: string }, balance: string): Promise<unknown> {
  const network = createNetwork(dalinet);
  const keys = keysFromPassphrase("alice");
  const envelope = { network, senderPublicKey: bytesToHex(keys.publicKey), height: 4_100_000, nonce: 1n };
  const address = "DCaLJmJ69p2rBUfkTdE2dktcXWkgxrKdFU";
  const payment = { recipientId: address, amount: 200_000_000n, fee: 100_000_000n };
  const transaction = signTransaction(builders.transfer({ ...envelope, ...payment }), keys);
  const dynamicFees = {
    enabled: true,
    minFeePool: 1_000,
    minFeeBroadcast: 1_000,
    addonBytes: { transfer: 100 },
  };
  const client = await clientOf(() => [200, { data: { transactionPool: { dynamicFees } } }]);
  const error = new SendError({ code: "SEND_REFUSED", id: ID, reasons: [reason] }, "refused by the node");
  const wallet = { balance } as unknown as SingleWallet;
  const result = await explainRefusal(error, transaction, { client, network, address, wallet, envelope });
  return result === error ? "unchanged" : (result as Error).message;
}

test("A refusal is explained by the fee or the balance if one of them is its cause, and unchanged otherwise.", async () => {
  const other = { type: "ERR_APPLY", message: "no" };
  expect(await explained({ type: "ERR_LOW_FEE", message: "too low" }, "900000000")).toMatch(
    /: the fee must be at least 0\.00178 DUNIK; without --fee, it is the usual one: /,
  );
  expect(await explained(other, "299999999")).toMatch(/ has 2\.99999999 DUNIK but needs 3 DUNIK; /);
  expect(await explained({ ...other, message: "Insufficient balance" }, "300000000")).toMatch(
    / has 3 DUNIK, minus its pending transactions but needs 3 DUNIK; /,
  );
  expect(await explained(other, "300000000")).toBe("unchanged");
});
