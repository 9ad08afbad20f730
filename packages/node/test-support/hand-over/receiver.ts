/** Receiver of webhooks that records all calls, and checks the deliveries of each webhook. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The members of a body, its text, and the position in the headers. */
export type Message = {
  readonly id: string;
  readonly event: string;
  readonly body: string;
  readonly sequence?: number;
  readonly epoch?: number;
  readonly height?: number;
  readonly blockId?: string;
  readonly reverts?: string;
  readonly data?: { readonly id: string; readonly height: number };
  /** Returns true if the sender closed the connection before the response: it may repeat the call. */
  readonly isAborted: () => boolean;
};

export type Receiver = {
  readonly url: string;
  /** Messages by path, in the order of their arrival; a message that arrived again is repeated. */
  calls(path: string): readonly Message[];
  /** Status of the next responses to a path; 204 by default. `undefined`: the response waits until another one is given. */
  respond(path: string, status: number | undefined): void;
  close(): Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const calls = new Map<string, Message[]>();
  const statuses = new Map<string, number | undefined>();
  const waiting = new Map<string, ((status: number) => void)[]>();
  const server = createServer(async (request, response) => {
    const path = (request.url ?? "").slice(1);
    const body = await text(request);
    const positionOf = (name: string) => {
      const value = request.headers[`webhook-${name}`];
      return value === undefined ? {} : { [name]: Number(value) };
    };
    let isAborted = false;
    response.on("close", () => {
      isAborted = !response.writableFinished;
    });
    const message: Message = {
      ...{ ...JSON.parse(body), body, ...positionOf("sequence"), ...positionOf("epoch") },
      isAborted: () => isAborted,
    };
    calls.set(path, [...(calls.get(path) ?? []), message]);
    const status = statuses.has(path) ? statuses.get(path) : 204;
    if (status !== undefined) return response.writeHead(status).end();
    const held = waiting.get(path) ?? [];
    held.push((later) => response.writeHead(later).end());
    waiting.set(path, held);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: (path) => calls.get(path) ?? [],
    respond(path, status) {
      statuses.set(path, status);
      if (status === undefined) return;
      for (const respond of waiting.get(path) ?? []) respond(status);
      waiting.delete(path);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type Expected = {
  /** Number of deliveries, without pings. */
  readonly last: number;
  /** True if first arrivals have the order of their sequences. */
  readonly isStrict: boolean;
  /** Number of calls that timed out at the sender, by sequence: on a busy machine, this receiver can respond too late. */
  readonly timedOut: ReadonlyMap<number, number>;
};

/**
 * Checks that each delivery has one id, one body and one sequence, that none is missing or out of order, that none is repeated after
 * a response, and that the epoch of the sender never falls.
 */
export function checkDeliveries(name: string, calls: readonly Message[], expected: Expected): Message[] {
  const latest = new Map<number, Message>();
  const bodies = new Map<string, string>();
  const first: Message[] = [];
  const repeated = new Map<number, number>();
  let highest = 0;
  for (const message of calls) {
    const { id, sequence, epoch = 0, body } = message;
    if (sequence === undefined) continue;
    assert(epoch >= highest && epoch > 0, `${name}: the epoch ${epoch} follows ${highest}`);
    highest = epoch;
    assert.equal(bodies.get(id) ?? body, body, `${name}: two bodies of one id`);
    bodies.set(id, body);
    const before = latest.get(sequence);
    if (!before) first.push(message);
    else if (!before.isAborted()) repeated.set(sequence, (repeated.get(sequence) ?? 0) + 1);
    assert.equal(before?.id ?? id, id, `${name}: two ids with sequence ${sequence}`);
    latest.set(sequence, message);
  }
  assert.equal(new Set(first.map(({ id }) => id)).size, latest.size, `${name}: an id with two sequences`);
  const sequences = [...latest.keys()].sort((a, b) => a - b);
  assert.deepEqual(
    sequences,
    Array.from({ length: expected.last }, (_, index) => index + 1),
    `${name}: a gap`,
  );
  if (expected.isStrict) assert.deepEqual([...latest.keys()], sequences, `${name}: the order of arrival`);
  const faults = [...repeated].filter(([sequence, times]) => times > (expected.timedOut.get(sequence) ?? 0));
  assert.deepEqual(faults, [], `${name}: sequences that were repeated after a response, and how often`);
  return first.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
}

/** Follows the deliveries of blocks in the order of their sequences. Returns the ids of the blocks by height. */
export function followBlocks(name: string, deliveries: readonly Message[]): Map<number, string> {
  const blocks = new Map<number, string>();
  const delivered = new Map<string, number>();
  let top: number | undefined;
  for (const { id, event, height, blockId, reverts } of deliveries) {
    assert(height !== undefined && blockId !== undefined, `${name}: a delivery without block`);
    if (event === "block.reverted") {
      assert.equal(height, top, `${name}: the reverted block ${height} is not the last one`);
      assert.equal(blocks.get(height), blockId, `${name}: another block ${height} is reverted`);
      assert.equal(delivered.get(reverts ?? ""), height, `${name}: ${reverts} was not delivered before`);
      blocks.delete(height);
      top = blocks.size === 0 ? undefined : height - 1;
      continue;
    }
    assert(top === undefined || height === top + 1, `${name}: block ${height} follows ${top}`);
    blocks.set(height, blockId);
    delivered.set(id, height);
    top = height;
  }
  return blocks;
}
