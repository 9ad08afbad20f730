/** Audits of webhooks: complete for a true node, refused for one that hides or alters facts. */
import { rmSync } from "node:fs";
import { EVERY_EVENT, type StreamedEvent } from "@uniknode/client";
import { createVerifyingClient } from "@uniknode/client/proofs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { Node } from "../../src/processes/node/node.ts";
import { network } from "../../test-support/chain/forking.ts";
import { makeFolder, serveFolder, treeOf } from "../../test-support/facts/served.ts";

let data: string;
let node: Node;
let height: number;
let facts: StreamedEvent[];
let key: string;

beforeAll(async () => {
  data = await makeFolder(34);
  node = await serveFolder(data, { eventsPublic: true });
  const head = node.head().height;
  height = head - 2 * network.milestoneAt(head).activeDelegates;
  await treeOf(node.url, height);
  key = (await client().facts.checkpoint()).data.verifierKey;
  facts = [];
  for await (const fact of client().events.stream({ events: NAMES, fromHeight: 1 })) {
    facts.push(fact);
    if (fact.event === "block.applied" && fact.height === height) break;
  }
});
afterAll(async () => {
  await node.stop();
  rmSync(data, { recursive: true });
});

const NAMES = ["transaction.applied", "round.created", "round.applied", "round.missed", "block.applied"];
const client = () => createVerifyingClient({ url: node.url });
const WEBHOOK = { event: "transaction.applied", events: ["transaction.*", "round.*", "wallet.saved"] };
const received = () => facts.filter(({ event }) => /^(transaction|round)\./.test(event));

test("A receiver that has every fact is complete, and the report names the missing ones of another.", async () => {
  const all = received();
  expect(all.length).toBeGreaterThan(30);
  expect(await client().audit(WEBHOOK, 1, height, { keys: key, received: all })).toEqual({
    verdict: "complete",
    ...{ facts: all.length, selected: all.length, missing: [], extra: [], unverified: 0 },
    ...{ notCovered: ["wallet.saved"], signers: [key] },
  });
  const middle = Math.floor(height / 2);
  const upper = all.filter((fact) => (fact.height ?? 0) >= middle);
  // Deliveries of other blocks are ignored.
  expect(await client().audit(WEBHOOK, middle, height, { keys: key, received: all })).toMatchObject({
    verdict: "complete",
    facts: upper.length,
  });
  const [lost, changed, ...others] = all.filter(({ event }) => event === "transaction.applied");
  const altered = { ...present(changed), data: { ...(changed?.data as object), amount: "1" } };
  const report = await client().audit({ event: "transaction.applied" }, 1, height, {
    keys: key,
    received: [...others, altered],
  });
  expect(report).toMatchObject({
    verdict: "incomplete",
    missing: [{ id: lost?.id }, { id: changed?.id }],
    extra: [{ data: { amount: "1" } }],
  });
});

test("A stream that breaks, and then repeats the facts of its last block, is read to its end.", async () => {
  let streams = 0;
  const breaking: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes("/events?") || streams++ > 0) return response;
    let text = "";
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        text += Buffer.from(chunk);
        if (text.includes("event: transaction.applied")) controller.terminate();
      },
    });
    return new Response(present(response.body).pipeThrough(cut), response);
  };
  const verifying = createVerifyingClient({ url: node.url, fetch: breaking });
  expect(await verifying.audit(WEBHOOK, 1, height, { keys: key, received: received() })).toMatchObject({
    verdict: "complete",
    facts: received().length,
  });
  expect(streams).toBeGreaterThan(1);
});

test("Deliveries contain the wallets of delegates at that time, and a receiver can have other webhooks.", async () => {
  const wallet = { balance: "1", nonce: "1", attributes: { delegate: { producedBlocks: 5 } } };
  const delivered = facts.map((fact) =>
    fact.event === "round.created"
      ? { ...fact, data: (fact.data as object[]).map((row) => ({ ...row, ...wallet })) }
      : fact,
  );
  expect(delivered.some(({ event }) => event === "round.created")).toBe(true);
  expect(delivered.some(({ event }) => event === "block.applied")).toBe(true);
  expect(await client().audit(WEBHOOK, 1, height, { keys: key, received: delivered })).toMatchObject({
    verdict: "complete",
    facts: received().length,
  });
});

test("Conditions are tested by the receiver; heights above the checkpoint and other keys are refused.", async () => {
  const conditions = [{ key: "amount", condition: "gt", value: 10 }] as const;
  const webhook = { event: "transaction.applied", conditions };
  const matches = ({ data }: StreamedEvent) => Number((data as { amount: string }).amount) > 10;
  const large = received().filter((fact) => fact.event === "transaction.applied" && matches(fact));
  expect(await client().audit(webhook, 1, height, { keys: key, received: large, matches })).toMatchObject({
    verdict: "complete",
    selected: large.length,
  });
  const everything = { ...WEBHOOK, conditions: [EVERY_EVENT] };
  expect(await client().audit(everything, 1, height, { keys: key, received: received() })).toMatchObject({
    verdict: "complete",
  });
  await expect(client().audit(webhook, 1, height, { keys: key, received: large })).rejects.toThrow(
    "pass `matches`",
  );
  await expect(client().audit(WEBHOOK, 5, 4, { keys: key, received: [] })).rejects.toMatchObject({
    ...{ name: "TypeError", code: "API_ARGUMENT", isRetryable: false },
  });
  await expect(client().audit(WEBHOOK, 1, 1, { keys: "key", received: [] })).rejects.toMatchObject({
    ...{ name: "TypeError", code: "API_ARGUMENT", isRetryable: false },
  });
  expect(await client().audit(WEBHOOK, 1, height + 1, { keys: key, received: [] })).toMatchObject({
    verdict: "refused",
    step: "HEIGHT",
  });
  expect(await client().audit(WEBHOOK, 1, height, { keys: [], received: [] })).toMatchObject({
    verdict: "refused",
    step: "CHECKPOINT",
  });
});

/** Alters the responses of the node to requests of a path. */
const lying =
  (path: RegExp, alter: (body: Buffer) => Buffer | string): typeof fetch =>
  async (request, options) => {
    const response = await fetch(request, options);
    if (!path.test(String(request)) || !response.body) return response;
    if (!response.headers.get("content-type")?.includes("event-stream"))
      return new Response(alter(Buffer.from(await response.arrayBuffer())), response);
    // A message is complete as soon as a later one has begun.
    const messages = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => controller.enqueue(Buffer.from(alter(Buffer.from(chunk)))),
      }),
    );
    return new Response(messages, response);
  };

describe("A fact whose content the node does not send", () => {
  /** Sends other members of the first transfer, as of a content that is too large. */
  const truncating = (data: object) =>
    lying(/\/events/, (body) =>
      body.toString().replaceAll(/^data: (.*"event":"transaction\.applied".*)$/gm, (line, json: string) => {
        const fact = JSON.parse(json) as StreamedEvent;
        return fact.id === first().id ? `data: ${JSON.stringify({ ...fact, truncated: true, data })}` : line;
      }),
    );
  const first = () => present(received().find(({ event }) => event === "transaction.applied"));
  const others = () => received().filter(({ id }) => id !== first().id);
  const auditOf = (data: object, has: StreamedEvent[], matches?: (fact: StreamedEvent) => boolean) =>
    createVerifyingClient({ url: node.url, fetch: truncating(data) }).audit(WEBHOOK, 1, height, {
      ...{ keys: key, received: has },
      ...(matches && { matches }),
    });

  test("A node cannot hide a missing fact: its conditions are not tested.", async () => {
    const tested: StreamedEvent[] = [];
    const report = await auditOf({ id: "0" }, others(), (fact) => {
      tested.push(fact);
      return fact.id !== first().id;
    });
    expect(report).toMatchObject({
      verdict: "incomplete",
      ...{ unverified: 1, selected: others().length, missing: [], extra: [] },
    });
    expect(tested.map(({ id }) => id)).not.toContain(first().id);
  });

  test("A node cannot confirm an altered fact.", async () => {
    const altered = { ...(first().data as object), amount: "1" };
    const report = await auditOf(altered, [...others(), { ...first(), data: altered }]);
    expect(report).toMatchObject({ verdict: "incomplete", unverified: 1, missing: [], extra: [] });
  });

  test("It is compared with the leaf if the receiver has it whole.", async () => {
    const report = await auditOf({ id: "0" }, received());
    expect(report).toMatchObject({
      verdict: "complete",
      ...{ unverified: 0, selected: received().length, missing: [], extra: [] },
    });
  });
});

describe("A node is refused that", () => {
  let isFirst = true;
  const text = (alter: (body: string) => string) => (body: Buffer) => alter(body.toString());
  const once = (alter: (body: string) => string) =>
    text((body) => {
      const altered = isFirst ? alter(body) : body;
      if (altered !== body) isFirst = false;
      return altered;
    });

  test.each<[string, string, RegExp, (body: Buffer) => Buffer | string]>([
    ["leaves out a fact", "CONTENT", /\/events/, once((body) => body.replace(/id: .*\n[\s\S]*?\n\n/, ""))],
    ["alters a fact", "CONTENT", /\/events/, once((body) => body.replace(/"fee":"\d/, '"fee":"9'))],
    [
      "alters a leaf",
      "LEAVES",
      /tile\/entries/,
      (body) => {
        body[70] = body[70] === 48 ? 49 : 48;
        return body;
      },
    ],
    [
      "alters the checkpoint",
      "CHECKPOINT",
      /checkpoint/,
      text((body) => body.replace(/\\n\d+\\n/, "\\n5\\n")),
    ],
    [
      "names another block",
      "CONTENT",
      /\/events/,
      once((body) => body.replace(/"blockId":"\w{8}/, '"blockId":"00000000')),
    ],
  ])("%s (%s)", async (_, step, path, alter) => {
    isFirst = true;
    const lied = createVerifyingClient({ url: node.url, fetch: lying(path, alter) });
    const report = await lied.audit(WEBHOOK, 1, height, { keys: key, received: received() });
    expect(report).toMatchObject({ verdict: "refused", step });
  });

  test.each<[string, string, () => Promise<Response>]>([
    ["cannot be reached", "API_UNREACHABLE", () => Promise.reject(new TypeError("fetch failed"))],
    [
      "limits the rate",
      "API_RATE_LIMITED",
      async () => new Response("{}", { status: 429, headers: { "retry-after": "60" } }),
    ],
  ])("A node that %s is not refused: the error can be retried.", async (_case, code, respond) => {
    const { promise: requested, resolve: request } = Promise.withResolvers<void>();
    const failing: typeof fetch = async (url, options) => {
      if (!String(url).includes("/events")) return fetch(url, options);
      request();
      return respond();
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const audited = createVerifyingClient({ url: node.url, fetch: failing });
    const report = audited
      .audit(WEBHOOK, 1, height, { keys: key, received: received() })
      .catch((error: unknown) => error);
    await requested;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await report).toMatchObject({ code, isRetryable: true });
  });

  test("A node is refused that sends none of the facts for 30 s (CONTENT).", async () => {
    const { promise: requested, resolve: request } = Promise.withResolvers<void>();
    const silent: typeof fetch = async (url, options) => {
      if (!String(url).includes("/events")) return fetch(url, options);
      request();
      return new Promise((_, reject) => {
        options?.signal?.addEventListener("abort", () => reject(options.signal?.reason));
      });
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const audited = createVerifyingClient({ url: node.url, fetch: silent });
    const report = audited.audit(WEBHOOK, 1, height, { keys: key, received: received() });
    await requested;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await report).toMatchObject({ verdict: "refused", step: "CONTENT" });
  });
});
