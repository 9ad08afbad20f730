/** Registrations that are accepted although they are probably mistakes. */
import { EVERY_EVENT } from "@uniknode/client";
import { expect, test, vi } from "vitest";
import { serve } from "./serve.ts";

const event = "transaction.applied";
const condition = (key: string, condition: string, value?: unknown) => ({
  key,
  condition,
  ...(value !== undefined && { value }),
});

const warningsIn = (headers: Readonly<Record<string, unknown>>): string[] =>
  JSON.parse(`${headers["webhook-warnings"]}`);
const WITH_WARNINGS = { "webhook-warnings": expect.anything() };

test.each<[string, object, string]>([
  [
    "a member that no event has",
    condition("ammount", "gte", "5"),
    'no event of this webhook has a member "ammount", so that the condition is never true; did you mean "amount"?',
  ],
  ["the same with ne", condition("ammount", "ne", "5"), "so that the condition is always true"],
  ["a member below one that no event has", condition("amount.value", "eq", "5"), 'member "amount.value"'],
  [
    "an operand that is not a number",
    condition("amount", "gte", "abc"),
    '"gte" compares numbers, and "abc" is not a number, so that the condition is never true',
  ],
  [
    "an operand that is not a number, by another operator",
    condition("fee", "lt", null),
    '"lt" compares numbers',
  ],
  ["an interval without numbers", condition("amount", "between", "5..5"), "the range contains no number"],
  [
    "a text for a number",
    condition("type", "eq", "transfer"),
    '"eq" with "transfer" is never true of "type", which is a number',
  ],
  [
    "an amount with decimals",
    condition("amount", "eq", 1.5),
    'never true of "amount", which is a number without decimals',
  ],
  ["the same as text", condition("amount", "eq", "1.5"), 'never true of "amount"'],
  ["a negative amount", condition("amount", "lt", 0), '"lt" with 0 is never true of "amount"'],
  ["a negative number", condition("type", "lte", "-1"), 'never true of "type"'],
  ["a text for an object", condition("asset", "eq", "abc"), 'never true of "asset", which is an object'],
  ["a list for an object", condition("asset", "eq", "[1]"), 'never true of "asset"'],
  [
    "an id of another form",
    condition("id", "eq", "zzz"),
    'never true of "id", which is text of pairs of the digits',
  ],
  ["a part that no id has", condition("id", "contains", "x"), 'never true of "id"'],
  ["a part that no number has", condition("amount", "contains", "x"), 'never true of "amount"'],
  ["a number as truth", condition("amount", "truthy"), 'is never true of "amount"'],
])("warn of %s", async (_name, item, warning) => {
  const { create, ask } = await serve();
  const registration = { event, conditions: [condition("id", "ne", ""), item] };
  const { status, headers, body } = await create(registration);
  const warnings = [expect.stringContaining(warning)];
  expect([status, Object.keys(body), warningsIn(headers)]).toEqual([201, ["data"], warnings]);
  expect(warningsIn(headers)[0]).toMatch(/^"conditions" at position 1: /);
  const tried = await ask("POST", "/api/webhooks/test", { body: registration });
  expect(tried.body.data.warnings).toEqual(warningsIn(headers));
  const changed = await ask("PUT", "/api/webhooks/1", { body: { conditions: [item] } });
  expect([changed.status, changed.text, warningsIn(changed.headers)]).toEqual([200, "{}", warnings]);
  const paused = await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
  expect([paused.text, paused.headers]).toEqual(["{}", expect.not.objectContaining(WITH_WARNINGS)]);
});

test.each<[string, object[]]>([
  [
    "transaction.applied",
    [condition("amount", "gte", "100"), condition("asset.nft.unik.tokenId", "eq", "1")],
  ],
  [
    "transaction.applied",
    [
      condition("amount", "eq", "1.0"),
      condition("amount", "lte", 0),
      condition("amount", "contains", "00"),
      condition("amount", "regexp", "^[a-z]+$"),
      condition("asset", "eq", '{"payments":[]}'),
      condition("id", "eq", "00ff"),
      condition("id", "contains", "f0f"),
    ],
  ],
  ["wallet.saved", [condition("balance", "lt", 0), condition("balance", "contains", "-5")]],
  [
    "transaction.pool.added",
    [condition("amount", "gte", 5), condition("0.id", "ne", "x"), condition("recipientId", "eq", "u")],
  ],
  ["round.created", [condition("votes", "gt", "5"), condition("isDelegate", "truthy")]],
  ["wallet.saved", [condition("attributes.x.y", "eq", "5"), condition("isResigned", "eq", "true")]],
  ["forger.started", [EVERY_EVENT]],
])("do not warn of conditions that can be true: %s", async (event, conditions) => {
  const { create, ask } = await serve();
  expect((await create({ event, conditions })).headers).not.toHaveProperty("webhook-warnings");
  const { headers } = await ask("PUT", "/api/webhooks/1", { body: { conditions } });
  expect(headers).not.toHaveProperty("webhook-warnings");
  const { body } = await ask("POST", "/api/webhooks/test", { body: { event, conditions } });
  expect(body.data).not.toHaveProperty("warnings");
});

test("Warnings name a second webhook that receives the same events at the same target.", async () => {
  const { create, ask } = await serve();
  const first = await create({ event, name: "first" });
  expect(first.headers).not.toHaveProperty("webhook-warnings");
  const second = await create({ event, name: "second" });
  expect([second.status, Object.keys(second.body)]).toEqual([201, ["data"]]);
  expect(warningsIn(second.headers)).toEqual([
    "webhook 1 has the same target, events and conditions: the target receives them twice",
  ]);
  const other = await create({ event: "transaction.forged" });
  expect(other.headers).not.toHaveProperty("webhook-warnings");
  const changed = await ask("PUT", "/api/webhooks/3", { body: { event } });
  expect(warningsIn(changed.headers)).toEqual([expect.stringMatching(/^webhook 1 has the same target/)]);
});

test("A webhook whose registration succeeded is returned with its secret, also if the search for a second one fails.", async () => {
  const { create, webhooks } = await serve();
  vi.spyOn(webhooks.register, "twinOf").mockRejectedValue(new Error("the database is gone"));
  const { status, body } = await create();
  expect([status, body.data.token]).toEqual([201, expect.any(String)]);
});

test("An update succeeds without warnings if the webhook is removed before they are found.", async () => {
  const { create, ask, webhooks } = await serve();
  await create();
  const find = webhooks.register.find.bind(webhooks.register);
  vi.spyOn(webhooks.register, "find").mockImplementationOnce(find).mockRejectedValue(new Error("it is gone"));
  const { status, body } = await ask("PUT", "/api/webhooks/1", {
    body: { conditions: [condition("height", "gt", "1")] },
  });
  expect([status, body]).toEqual([200, {}]);
});

test("A member of one of several events is known.", async () => {
  const { create } = await serve();
  const conditions = [condition("height", "gt", "1"), condition("amount", "gt", "1")];
  const { headers } = await create({ event: "block.applied", events: ["transaction.*"], conditions });
  expect(headers).not.toHaveProperty("webhook-warnings");
});

test("The header with warnings is short ASCII text; the dry run lists all warnings.", async () => {
  const { create, ask } = await serve();
  const conditions = Array.from({ length: 50 }, (_, index) => condition(`é\u{1f600}\n${index}`, "eq", "1"));
  const { headers } = await create({ event, conditions });
  const text = `${headers["webhook-warnings"]}`;
  expect(text).toMatch(/^[ -~]+$/);
  expect(text.length).toBeLessThanOrEqual(2_048);
  const listed = warningsIn(headers);
  const all = (await ask("POST", "/api/webhooks/test", { body: { event, conditions } })).body.data.warnings;
  expect(all).toHaveLength(50);
  expect(listed.length).toBeGreaterThan(2);
  expect(listed).toEqual([
    ...all.slice(0, listed.length - 1),
    "there are more warnings: POST /api/v2/webhooks/test lists all",
  ]);
});

test("A webhook can have a name.", async () => {
  const { create, ask } = await serve();
  expect((await create({ name: "Payments to the shop" })).body.data.name).toBe("Payments to the shop");
  await ask("PUT", "/api/webhooks/1", { body: { target: "https://other.example/" } });
  expect((await ask("GET", "/api/webhooks")).body.data).toMatchObject([{ name: "Payments to the shop" }]);
  await ask("PUT", "/api/webhooks/1", { body: { name: null } });
  expect((await ask("GET", "/api/webhooks/1")).body.data).not.toHaveProperty("name");
  for (const name of [1, true, "x".repeat(101), "a\nb", "a\u202eb", []]) {
    expect((await ask("PUT", "/api/webhooks/1", { body: { name } })).status).toBe(422);
  }
});

test("A target is pinged, or gets a given text, before it is registered.", async () => {
  const { ask, calls, log } = await serve(undefined, {
    reply: () => ({ status: 401, excerpt: "who are you?" }),
  });
  const target = "https://receiver.example/hook";
  const { status, body } = await ask("POST", "/api/webhooks/ping", { body: { target } });
  expect([status, body.data]).toEqual([
    200,
    {
      accepted: false,
      startedAt: expect.any(Number),
      durationMs: 0,
      status: 401,
      response: "who are you?",
      reason: "HTTP 401",
    },
  ]);
  expect(calls).toMatchObject([{ target, message: { event: "ping" } }]);
  expect(log(0, 9)).toEqual([]);
  const text = '{ "edited": 1.0 }';
  await ask("POST", "/api/webhooks/ping", { body: { target, body: text } });
  expect(calls[1]).toMatchObject({ target, body: text, headers: { "webhook-id": expect.any(String) } });
  expect(calls[1]?.id).not.toBe(calls[0]?.id);
  expect(log(0, 9)).toEqual([]);
  for (const wrong of [
    {},
    { target: "ftp://x" },
    { target, ping: true },
    { target, body: {} },
    { body: text },
    [],
  ]) {
    expect((await ask("POST", "/api/webhooks/ping", { body: wrong })).status).toBe(422);
  }
});

test("Few pings of targets are in flight at once.", async () => {
  const response = Promise.withResolvers<number>();
  const { ask, calls } = await serve(undefined, { reply: () => response.promise });
  const body = { target: "https://receiver.example/hook" };
  const pings = [1, 2, 3, 4].map(() => ask("POST", "/api/webhooks/ping", { body }));
  await expect.poll(() => calls.length).toBe(4);
  expect((await ask("POST", "/api/webhooks/ping", { body })).body).toMatchObject({
    statusCode: 409,
    code: "PING_RUNNING",
  });
  response.resolve(200);
  expect((await Promise.all(pings)).map(({ body }) => body.data.accepted)).toEqual([true, true, true, true]);
  expect((await ask("POST", "/api/webhooks/ping", { body })).status).toBe(200);
});
