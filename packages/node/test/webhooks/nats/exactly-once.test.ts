/** One message for each fact in a stream, while the node and the NATS server are killed and blocks are reverted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVERY_EVENT } from "@uniknode/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamAdmin, StreamMessage } from "../../../test-support/nats/admin.ts";
import { type LossyProxy, startLossyProxy } from "../../../test-support/nats/proxy.ts";
import { missingForNats, type NatsServer, startNatsServer } from "../../../test-support/nats/server.ts";
import { freePort } from "../../../test-support/peers/world.ts";
import { skips } from "../../../test-support/process/available.ts";
import { type Running, spawnUniknode } from "../../../test-support/process/uniknode.ts";

const TOKEN = "nats";
const POLL = { interval: 200 };
const isSkipped = skips(missingForNats());
/** Retries after a second always come later than this. */
const WINDOW_MS = 100;

type Delivery = {
  readonly messageId: string;
  readonly sequence: number;
  readonly state: string;
  readonly attempts: readonly { readonly response?: string }[];
};
type Body = {
  readonly id: string;
  readonly event: string;
  readonly sequence: number;
  readonly reverts?: string;
};

const isPending = ({ state }: Delivery) => state === "pending";

describe.skipIf(isSkipped)("a stream of the facts of a node", () => {
  let folder: string;
  let port: number;
  let server: NatsServer;
  let proxy: LossyProxy;
  let node: Running;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "uniknode-nats-node-"));
    port = await freePort();
    server = await startNatsServer();
    proxy = await startLossyProxy(server.port);
    const admin = await server.admin();
    await admin.create({ name: "CHAIN", subjects: ["chain.>"], duplicateMs: WINDOW_MS });
    await admin.create({ name: "WINDOW", subjects: ["window.>"] });
    await admin.close();
    node = await startNode();
  });
  afterAll(async () => {
    node?.child.kill("SIGKILL");
    await node?.ended;
    proxy?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startNode(): Promise<Running> {
    const started = spawnUniknode([
      // It forges only what the test mines.
      ...["dev", "--data", join(folder, "data"), "--http-port", `${port}`, "--instant"],
      ...["--webhook-token", TOKEN, "--rate-limit", "0", "--log-level", "warn"],
      ...["--webhook-timeout", "1", "--webhook-retries", Array(30).fill("1s").join(",")],
    ]);
    await started.printed(/API\s+http/);
    return started;
  }
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: TOKEN },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    return JSON.parse(text) as T;
  }
  const mine = (blocks: number) => call("POST", "/dev/mine", { blocks });
  const restartNode = async () => {
    node.child.kill("SIGKILL");
    await node.ended;
    node = await startNode();
  };
  const restartServer = async () => {
    await server.end("SIGKILL");
    await mine(2);
    await server.start();
  };
  /** Loses acknowledgements until an attempt of each webhook has timed out. */
  const loseReplies = async (...webhooks: number[]) => {
    proxy.loseReplies(true);
    await mine(2);
    const hasTimedOut = async (webhook: number) =>
      (await deliveries(webhook)).filter(isPending).some(({ attempts }) => attempts.length > 0);
    for (const webhook of webhooks) await expect.poll(() => hasTimedOut(webhook), POLL).toBe(true);
    proxy.loseReplies(false);
  };
  /** Loses acknowledgements until the stream has a message that the node does not know of, and kills the node and the server. */
  const killBoth = async () => {
    const admin = await server.admin();
    const count = async () => (await admin.messages("CHAIN")).length;
    const before = await count();
    proxy.loseReplies(true);
    await mine(2);
    await expect.poll(count, POLL).toBeGreaterThan(before);
    await admin.close();
    await Promise.all([server.end("SIGKILL"), restartNode()]);
    proxy.loseReplies(false);
    await server.start();
  };

  async function register(order: "strict" | "parallel", subject: string): Promise<number> {
    const { data } = await call<{ data: { id: number } }>("POST", "/webhooks", {
      ...{ events: ["block.applied", "round.created"], conditions: [EVERY_EVENT], order },
      target: server.urlOf(subject, { port: proxy.port }),
    });
    return data.id;
  }
  async function deliveries(webhook: number): Promise<Delivery[]> {
    const all: Delivery[] = [];
    let path: string | null = `/webhooks/${webhook}/deliveries?limit=100`;
    while (path !== null) {
      const page: { data: Delivery[]; meta: { next: string | null } } = await call("GET", path);
      all.push(...page.data);
      path = page.meta.next?.replace(/^\/api(\/v2)?/, "") ?? null;
    }
    return all.filter(({ sequence }) => sequence !== undefined).reverse();
  }
  const drained = (webhook: number) =>
    expect.poll(async () => (await deliveries(webhook)).filter(isPending).length, POLL).toBe(0);
  /** Waits until no delivery is pending, and returns what the stream and the log contain. */
  async function settled(webhook: number, stream: string, subject: string) {
    await drained(webhook);
    const admin: StreamAdmin = await server.admin();
    const messages = await admin.messages(stream, subject);
    await admin.close();
    return { messages, log: await deliveries(webhook) };
  }
  const bodies = (messages: readonly StreamMessage[]): Body[] =>
    messages.map(({ body, headers }) => ({
      ...JSON.parse(body),
      sequence: Number(headers["webhook-sequence"]),
    }));

  /** Every delivery is one message, and every fact whose block was reverted is retracted. */
  function expectOnce({ messages, log }: Awaited<ReturnType<typeof settled>>): void {
    const received = bodies(messages);
    const ids = received.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(messages.map(({ headers }) => headers["Nats-Msg-Id"])).toEqual(ids);
    // A fact whose block was reverted before its acknowledgement is not sent again: the stream may have it.
    const cancelled = new Set(
      log.filter(({ state }) => state === "cancelled").map(({ messageId }) => messageId),
    );
    const completed = log.filter(({ messageId }) => !cancelled.has(messageId));
    expect(completed.filter(({ state }) => state !== "delivered")).toEqual([]);
    expect(ids.filter((id) => !cancelled.has(id)).toSorted()).toEqual(
      completed.map(({ messageId }) => messageId).toSorted(),
    );
    const retractions = received.filter(({ reverts }) => reverts !== undefined);
    expect(retractions.length).toBeGreaterThanOrEqual(6);
    for (const { reverts = "", sequence } of retractions) {
      const fact = received.find(({ id }) => id === reverts);
      expect(fact === undefined ? cancelled.has(reverts) : fact.sequence < sequence).toBe(true);
    }
    const retracted = new Set(retractions.map(({ reverts }) => reverts));
    expect(ids.filter((id) => cancelled.has(id) && !retracted.has(id))).toEqual([]);
  }

  test("A stream of a node's facts has each delivery once across crashes of both, in order after the duplicate window.", async () => {
    const strict = await register("strict", "chain.strict");
    const parallel = await register("parallel", "window.parallel");
    for (let round = 0; round < 2; round++) {
      await mine(5);
      await restartServer();
      await restartNode();
      for (const webhook of [strict, parallel]) await drained(webhook);
      await loseReplies(strict, parallel);
      await call("POST", "/dev/reorg", { depth: 3 });
      await mine(2);
      await drained(strict);
      await killBoth();
    }
    const inOrder = await settled(strict, "CHAIN", "chain.strict");
    expectOnce(inOrder);
    const sequences = bodies(inOrder.messages).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    const found = inOrder.log.filter(({ attempts }) => attempts.at(-1)?.response?.includes("duplicate"));
    expect(found.length).toBeGreaterThanOrEqual(2);
    expectOnce(await settled(parallel, "WINDOW", "window.parallel"));
    for (const webhook of [strict, parallel]) await call("DELETE", `/webhooks/${webhook}`);
  });

  test("A stream of the facts of a node works with ping, dry run, replay and sending again.", async () => {
    const webhook = await register("strict", "chain.again");
    const { data: ping } = await call<{ data: { state: string; attempts: { response: string }[] } }>(
      "POST",
      `/webhooks/${webhook}/ping`,
      {},
    );
    expect(ping.state).toBe("delivered");
    expect(JSON.parse(ping.attempts[0]?.response ?? "")).toMatchObject({ stream: "CHAIN" });
    const { data: trial } = await call<{ data: object }>("POST", "/webhooks/ping", {
      target: server.urlOf("chain.again", { user: "node:wrong" }),
    });
    expect(trial).toMatchObject({ accepted: false, error: "NATS_AUTHORIZATION" });
    const { data: dryRun } = await call<{ data: { fired: { count: number } } }>("POST", "/webhooks/test", {
      ...{ event: "block.applied", target: server.urlOf("chain.again"), blocks: 5 },
      conditions: [EVERY_EVENT],
    });
    expect(dryRun.fired.count).toBeGreaterThan(0);
    await mine(3);
    const before = await settled(webhook, "CHAIN", "chain.again");
    await call("POST", `/webhooks/${webhook}/replay`, { fromHeight: 1, toHeight: 5 });
    const state = async () =>
      (await call<{ data: { state: string } }>("GET", `/webhooks/${webhook}/replay`)).data.state;
    await expect.poll(state, POLL).toBe("finished");
    const after = await settled(webhook, "CHAIN", "chain.again");
    expect(after.messages.length - before.messages.length).toBeGreaterThanOrEqual(5);
    const [first] = after.log;
    await call("POST", `/webhooks/${webhook}/deliveries/${first?.messageId}/retry`, {});
    const again = await settled(webhook, "CHAIN", "chain.again");
    const added = again.messages.slice(after.messages.length).map(({ headers }) => headers["Nats-Msg-Id"]);
    expect(added).toEqual([first?.messageId]);
    await call("DELETE", `/webhooks/${webhook}`);
  });
});
