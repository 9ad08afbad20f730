/** The command of a hand-over, and the routes of a node that it calls. */
import { expect, onTestFinished, test } from "vitest";
import { NodeClient } from "../../src/hand-over/node-client.ts";
import { createHandOverRoutes } from "../../src/http/hand-over/routes.ts";
import { createAccess } from "../../src/http/webhooks/access.ts";
import { FORMAT, type HandOverHead, type HandOverLine } from "../../src/webhooks/hand-over/lines.ts";
import type { NodeSide, NodeStatus } from "../../src/webhooks/hand-over/node-side.ts";
import { HandOverError, OwnerError } from "../../src/webhooks/hand-over/owner.ts";
import { heads } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { LAST, ROWS } from "../../test-support/webhooks/hand-over-rows.ts";

const TOKEN = "a secret of the operator";
const STATUS: NodeStatus = {
  state: "to node",
  transfer: "t1",
  isStopped: true,
  matched: 7,
  isEncrypted: false,
};
const HEAD: HandOverHead = {
  format: FORMAT,
  network: "chain",
  matched: 7,
  isEncrypted: false,
  epoch: 1,
  last: LAST,
};
const LINES: readonly HandOverLine[] = [
  { webhooks: HEAD },
  { table: "webhooks", rows: ROWS.webhooks },
  { end: ROWS.webhooks.length },
];

/** A client of a server whose node's side records its calls. */
async function connect(changes: Partial<NodeSide> = {}, token = TOKEN) {
  const calls: unknown[][] = [];
  const side = {
    status: () => STATUS,
    async change(...given) {
      calls.push(["change", ...given]);
      return STATUS;
    },
    lines(...given) {
      calls.push(["lines", ...given]);
      return LINES;
    },
    receive: (...given) => void calls.push(["receive", ...given]),
    async finish(...given) {
      calls.push(["finish", ...given]);
      return STATUS;
    },
    ...changes,
  } as NodeSide;
  const access = { byToken: createAccess({ token: TOKEN }), isListed: () => true };
  const server = openFixture({}, { plugins: [createHandOverRoutes(access, side)] });
  onTestFinished(() => server.close());
  const { port } = await server.listen();
  const { signal } = new AbortController();
  const client = new NodeClient({ url: `http://127.0.0.1:${port}/`, token, signal });
  onTestFinished(() => client.close());
  return { client, calls };
}

test("Each call of the command arrives at the node's side with what it gives.", async () => {
  const { client, calls } = await connect();
  const change = { from: "node", to: "to workers", transfer: "t1" } as const;
  const copied = { sequence: 7, id: "event" };
  const order = { transfer: "t1", session: "s", part: 0 };
  const rows = { table: "webhooks", rows: ROWS.webhooks } as const;
  expect(await client.status()).toEqual(STATUS);
  expect(await client.change(change)).toEqual(STATUS);
  expect(await client.change(change, copied)).toEqual(STATUS);
  const lines: HandOverLine[] = [];
  for await (const line of client.rows("t1")) lines.push(line);
  expect(lines).toEqual(LINES);
  await client.send(order, undefined);
  await client.send({ ...order, part: 1 }, rows);
  expect(await client.finish({ ...order, part: 2 }, HEAD, 3)).toEqual(STATUS);
  expect(await client.height()).toBe(heads.head.height);
  expect(calls).toEqual([
    ["change", change, undefined],
    ["change", change, copied],
    ["lines", "t1"],
    ["receive", order, undefined],
    ["receive", { ...order, part: 1 }, rows],
    ["finish", { ...order, part: 2 }, HEAD, 3],
  ]);
});

test("A step that is not complete yet is asked for again.", async () => {
  let attempts = 0;
  const { client } = await connect({
    async change() {
      if (++attempts === 1) throw new HandOverError("NOT_READY", "calls are running");
      return STATUS;
    },
  });
  await client.change({ from: "node", to: "to workers", transfer: "t1" });
  expect(attempts).toBe(2);
});

test("A refusal of the node ends the command with its reason, and is not repeated.", async () => {
  let attempts = 0;
  const change = { from: "node", to: "to workers", transfer: "t2" } as const;
  const { client } = await connect({
    async change() {
      attempts++;
      throw new OwnerError({ state: "to node", transfer: "t1" }, change);
    },
  });
  await expect(client.change(change)).rejects.toMatchObject({
    code: "HAND_OVER_REFUSED",
    message: expect.stringContaining('the state of the webhooks is \\"to node\\", hand-over t1, not'),
  });
  expect(attempts).toBe(1);
});

test("Rows that a table does not have are refused before the node's side receives them.", async () => {
  const { client, calls } = await connect();
  const rows = { table: "webhooks", rows: [[1]] } as const;
  await expect(client.send({ transfer: "t1", session: "s", part: 1 }, rows)).rejects.toThrow(
    "must have the columns of webhooks",
  );
  expect(calls).toEqual([]);
});

test("A wrong token is refused, with the next step.", async () => {
  const { client, calls } = await connect({}, "wrong");
  await expect(client.change({ from: "node", to: "to workers", transfer: "t1" })).rejects.toMatchObject({
    code: "HAND_OVER_REFUSED",
    message: expect.stringMatching(/ responded 401: .*--token/),
  });
  expect(calls).toEqual([]);
});
