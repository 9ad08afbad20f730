/** API servers serve the register, the log and the replays of webhooks that delivery workers own, as the node does. */
import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type HandOverChain,
  type Registered,
  startHandOverChain,
} from "../../test-support/hand-over/chain.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { until } from "../../test-support/process/until.ts";

const BLOCKS = { event: "block.applied" } as const;

let chain: HandOverChain;
let servers: string[];

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startHandOverChain();
  servers = [await chain.startServer(), await chain.startServer()];
  chain.startWorker("w1", "--webhook-timeout", "60");
});
afterAll(() => chain?.close());

const call = (method: string, path: string, body?: object, server = 0) =>
  chain.call(method, path, body, servers[server]);

/** Responses without times of the current hour. */
function withoutTimes(value: unknown): unknown {
  const text = JSON.stringify(value, (key, member) => (["hours", "at"].includes(key) ? undefined : member));
  return JSON.parse(text);
}

describe.skipIf(!hasPostgres)("an API server", () => {
  let first: Registered;
  const pathsOf = ({ id }: Registered, delivery: number) => [
    "/webhooks",
    "/webhooks?health=true",
    "/webhooks?page=2&limit=1",
    "/webhooks?page=0",
    "/webhooks/health",
    `/webhooks/${id}?health=true`,
    "/webhooks/999",
    "/webhooks/none/deliveries",
    `/webhooks/${id}/deliveries?limit=3`,
    `/webhooks/${id}/deliveries?state=failed`,
    `/webhooks/${id}/deliveries/summary`,
    `/webhooks/${id}/deliveries/${delivery}`,
    `/webhooks/${id}/replay`,
    "/webhooks/1/2/3",
  ];

  test("An API server forwards requests to the node while it owns the webhooks, and responds as the node did afterwards.", async () => {
    first = await chain.register("first", { ...BLOCKS, order: "strict" }, servers[0]);
    await chain.register(
      "failing",
      { ...BLOCKS, conditions: [{ key: "height", condition: "gte", value: 1 }] },
      servers[0],
    );
    chain.receiver.respond("failing", 500);
    await chain.command("mine", { blocks: 3 });
    await chain.command("forge", { enabled: false });
    await chain.arrived(first);
    await until("the failures", async () => chain.receiver.calls("failing").length > 3);
    const { body } = await call("GET", `/webhooks/${first.id}/deliveries`);
    const { id: delivery } = (body as { data: { id: number }[] }).data[0] ?? { id: 0 };
    await call("PUT", "/webhooks/2", { enabled: false });
    const read = async () => {
      const responses = await Promise.all(pathsOf(first, delivery).map((path) => call("GET", path)));
      return responses.map(({ status, body, headers }) => [
        status,
        headers.get("error-code"),
        withoutTimes(body),
      ]);
    };
    const before = await read();
    expect(before.map(([status]) => status)).toContain(200);
    await chain.handOver("workers");
    const after = await read();
    for (const [index, path] of pathsOf(first, delivery).entries())
      expect(after[index], path).toEqual(before[index]);
    const wrong = await fetch(`${servers[0]}/api/v2/webhooks`, { headers: { authorization: "wrong" } });
    expect([wrong.status, wrong.headers.get("error-code")]).toEqual([401, "TOKEN_WRONG"]);
    await chain.command("forge", { enabled: true });
  });

  test("An API server changes the register, and a new webhook receives exactly the events after its registration.", async () => {
    // A forged block that the worker matches before it knows of the pause would be delivered after it.
    await chain.command("forge", { enabled: false });
    const created = await chain.register("second", { events: ["block.*"], order: "strict" }, servers[0]);
    await chain.command("mine", { blocks: 3 });
    await chain.arrived(created);
    const heights = chain.receiver.calls("second").map(({ height }) => height ?? 0);
    expect(heights.toSorted((a, b) => a - b)).toEqual(heights);
    const rotated = await call("POST", `/webhooks/${created.id}/rotate`, { overlapSeconds: 60 });
    expect(rotated).toMatchObject({ status: 200, body: { data: { overlapUntil: expect.any(Number) } } });
    expect((await call("PUT", `/webhooks/${created.id}`, { enabled: false })).status).toBe(200);
    const count = chain.receiver.calls("second").length;
    await chain.command("mine", { blocks: 2 });
    await chain.arrived(first);
    expect(chain.receiver.calls("second").length).toBe(count);
    expect((await call("POST", "/webhooks", { ...BLOCKS, target: "nonsense" })).status).toBe(422);
    expect((await call("DELETE", `/webhooks/${created.id}`)).status).toBe(200);
    expect((await call("GET", `/webhooks/${created.id}`)).status).toBe(404);
    await chain.command("forge", { enabled: true });
  });

  test("An API server sends pings, retries and replays, and tries a webhook.", async () => {
    const ping = await call("POST", `/webhooks/${first.id}/ping`);
    expect(ping).toMatchObject({ status: 200, body: { data: { event: "ping", state: "delivered" } } });
    const trial = await call("POST", "/webhooks/ping", { target: `${chain.receiver.url}/trial` });
    expect(trial).toMatchObject({ status: 200, body: { data: { accepted: true } } });
    const dry = await call("POST", "/webhooks/test", { ...BLOCKS, conditions: [EVERY_EVENT], blocks: 5 });
    expect(dry).toMatchObject({ status: 200, body: { data: { fired: { count: 5 } } } });
    const before = chain.receiver.calls("first").length;
    const { status } = await call("POST", `/webhooks/${first.id}/replay`, { fromHeight: 2, toHeight: 4 });
    expect(status).toBe(202);
    await until("the replay", async () => {
      const { body } = await call("GET", `/webhooks/${first.id}/replay`);
      return (body as { data: { state: string } }).data.state === "finished";
    });
    expect(chain.receiver.calls("first").length).toBeGreaterThanOrEqual(before + 3);
    const retried = await call("POST", `/webhooks/${first.id}/deliveries/retry`, { state: "delivered" });
    expect(retried).toMatchObject({ status: 200, body: { data: { retried: expect.any(Number) } } });
  });

  test("An API server lets the node record the events of every webhook, also if two servers register them at the same time.", async () => {
    const events = [
      "block.forged",
      "round.created",
      "wallet.saved",
      "block.applied",
      "forger.started",
      "peer.added",
    ];
    const webhooks = await Promise.all(
      events.map((event, index) => chain.register(`names-${index}`, { event }, servers[index % 2])),
    );
    const { rows } = {
      rows: await chain.postgres.query<{ count: number }>("SELECT count(*)::integer AS count FROM webhooks"),
    };
    expect(rows[0]?.count).toBeGreaterThanOrEqual(events.length);
    await chain.command("mine", { blocks: 3 });
    await until(
      "the deliveries",
      async () => chain.receiver.calls("names-0").length >= 3 && chain.receiver.calls("names-3").length >= 3,
    );
    await Promise.all(
      webhooks.map(({ id }, index) => call("DELETE", `/webhooks/${id}`, undefined, index % 2)),
    );
  });

  test("An API server refuses requests during a hand-over, and forwards them to the node after it.", async () => {
    const statuses = new Set<number>();
    const created: number[] = [];
    const register = async () => {
      const { status, body } = await call("POST", "/webhooks", {
        ...{ ...BLOCKS, conditions: [EVERY_EVENT] },
        target: `${chain.receiver.url}/during`,
      });
      statuses.add(status);
      if (status === 201) created.push((body as { data: { id: number } }).data.id);
      else expect(body).toMatchObject({ code: "WEBHOOKS_IN_TRANSFER" });
    };
    await register();
    // The hand-over waits for a call of the worker, until a registration was refused.
    const { length } = chain.receiver.calls("first");
    chain.receiver.respond("first", undefined);
    await chain.command("mine", { blocks: 1 });
    await until("a call", () => chain.receiver.calls("first").length > length);
    const waiting = chain.spawnHandOver("node");
    let isEnded = false;
    void waiting.ended.then(() => {
      isEnded = true;
    });
    while (!isEnded) {
      await register();
      if (statuses.has(503)) chain.receiver.respond("first", 204);
      await sleep(20);
    }
    expect((await waiting.ended).code).toBe(0);
    expect([...statuses].sort()).toEqual([201, 503]);
    // Each registration that was confirmed has arrived at the node, and no other.
    // The servers may notice the end of the transfer a moment after the process.
    let listed: { id: number; target: string }[] = [];
    await until("the list of webhooks", async () => {
      const { status, body } = await call("GET", "/webhooks?limit=100");
      if (status === 200) listed = (body as { data: typeof listed }).data;
      else expect(body).toMatchObject({ code: "WEBHOOKS_IN_TRANSFER" });
      return status === 200;
    });
    expect(listed.filter(({ target }) => target.endsWith("/during")).map(({ id }) => id)).toEqual(created);
    const webhook = { id: created[0] ?? 0, path: "during" };
    await Promise.all(created.slice(1).map((id) => call("DELETE", `/webhooks/${id}`)));
    await chain.command("mine", { blocks: 2 });
    await until("a delivery", async () => chain.receiver.calls("during").length > 0);
    await call("DELETE", `/webhooks/${webhook.id}`);
    await chain.arrived(first);
  });
});
