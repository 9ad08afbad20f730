/** Nonce and fee of a new transaction, whatever happens between the requests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@uniknode/client";
import { bytesToHex, createNetwork, dalinet, keysFromPassphrase } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { prepareSender } from "../../src/submission/sender.ts";

const keys = keysFromPassphrase("alice");
const waiting = (nonce: string) => ({ senderPublicKey: bytesToHex(keys.publicKey), nonce });

/** Node that forges pending transactions as soon as one of the two requests arrives. */
async function nonceOf({ sent, pending }: { sent: string; pending?: string }): Promise<bigint | undefined> {
  let isForged = false;
  const server = createServer(({ url = "" }, response) => {
    const inPool = isForged || pending === undefined ? [] : [waiting(pending)];
    const body = url.includes("unconfirmed")
      ? { meta: { next: null, nextCursor: null }, data: inPool }
      : url.includes("/wallets/")
        ? { data: { nonce: isForged ? (pending ?? sent) : sent } }
        : { data: { block: { height: 9 } } };
    if (!url.includes("/blockchain")) isForged = true;
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const client = createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  return (await prepareSender(client, createNetwork(dalinet), { keys })).envelope.nonce;
}

test("The nonce follows sent and pending transactions.", async () => {
  expect(await nonceOf({ sent: "4" })).toBe(5n);
  expect(await nonceOf({ sent: "4", pending: "7" })).toBe(8n);
});

test("The nonce follows transactions that are forged between the requests.", async () => {
  expect(await nonceOf({ sent: "1", pending: "2" })).toBe(3n);
});
