/** Receiver that derives the chain from the deliveries of one node alone. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isVerified, secretOf } from "../webhooks/receiver.ts";

type Message = {
  readonly event: string;
  readonly id: string;
  readonly sequence: number;
  readonly reverts?: string;
  readonly data: { readonly id: string; readonly height: number; readonly timestamp: number } & {
    readonly previousBlock: string;
    readonly generatorPublicKey: string;
  };
};

export type BlockNote = Message["data"];

export type Account = {
  readonly url: string;
  /** Token with which the node signs; unknown until the webhook is registered. */
  token: string;
  /** Blocks of the chain, oldest first, from the first that was delivered. */
  readonly chain: readonly BlockNote[];
  /** Every block that was ever part of it. */
  readonly seen: readonly BlockNote[];
  /** Inconsistent deliveries. */
  readonly faults: readonly string[];
  close(): Promise<void>;
};

/** Events from which the chain is derived. */
export const ACCOUNT_EVENTS = ["block.applied", "block.reverted"];

/** @param host address at which the node reaches the receiver */
export async function openAccount(host: string): Promise<Account> {
  const chain: BlockNote[] = [];
  const seen: BlockNote[] = [];
  const faults: string[] = [];
  const ids = new Set<string>();
  const messageIds = new Map<string, string>();

  function take({ event, id, data, reverts }: Message): void {
    // The message again, because the first response was lost.
    if (ids.has(id)) return;
    ids.add(id);
    const top = chain.at(-1);
    if (event === "block.applied") {
      const follows = !top || (data.height === top.height + 1 && data.previousBlock === top.id);
      if (!follows) faults.push(`block ${data.height} ${data.id} came on ${top.height} ${top.id}`);
      chain.push(data);
      seen.push(data);
      messageIds.set(data.id, id);
      return;
    }
    // A block from before the registration was never delivered.
    if (!messageIds.has(data.id)) return;
    if (top?.id !== data.id) faults.push(`block ${data.id} went, but ${top?.id} was the last`);
    if (messageIds.get(data.id) !== reverts) faults.push(`the end of ${data.id} names another delivery`);
    chain.pop();
  }

  const account: { token: string } = { token: "" };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const sentMs = Number(headers["webhook-timestamp"]) * 1_000;
    // The first deliveries may arrive before the response of the registration is read.
    const { token } = account;
    if (token && !isVerified(secretOf(token), { headers, body }, sentMs)) faults.push("a signature is wrong");
    take(JSON.parse(body) as Message);
    response.end();
  }).listen(0, host);
  await once(server, "listening");

  return Object.assign(account, {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    chain,
    seen,
    faults,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}
