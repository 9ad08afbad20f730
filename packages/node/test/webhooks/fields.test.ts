import { describe, expect, test } from "vitest";
import { BODY, serve } from "./serve.ts";

describe("fields", () => {
  const refusals: [string, unknown][] = [
    ["no event", { target: BODY.target, conditions: BODY.conditions }],
    ["no conditions", { event: BODY.event, target: BODY.target }],
    ["no target", { event: BODY.event, conditions: BODY.conditions }],
    ["conditions that are null", { event: BODY.event, target: BODY.target, conditions: null }],
    ["text", "text"],
    ["nothing", ""],
    ["broken JSON", '{"event":'],
    ["null", "null"],
    ["an array", []],
    ["a number", "5"],
    ["deep nesting", `{"conditions":${"[".repeat(100_000)}`],
    ["a token", { ...BODY, token: "00" }],
    ["an id", { ...BODY, id: 5 }],
    ["an unknown member", { ...BODY, foo: 1 }],
    ["a prototype", `{"__proto__":{},${JSON.stringify(BODY).slice(1)}`],
  ];
  test.each(refusals)("%s returns 422", async (_name, body) => {
    const { ask } = await serve();
    expect((await ask("POST", "/api/webhooks", { body })).status).toBe(422);
  });

  const condition = { key: "a", condition: "eq", value: "1" };
  const invalid: { [field: string]: unknown[] } = {
    event: [
      "no.such.event",
      "transaction.*",
      "",
      5,
      null,
      "shutdown",
      "internal.milestone.changed",
      "stateBuilder.finished",
      ["block.applied"],
    ],
    target: [
      "not a url",
      "",
      "receiver.example/hook",
      "//receiver.example/hook",
      "ftp://receiver.example/",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "http://",
      "http:///path",
      "http:receiver.example",
      "http:\\\\receiver.example",
      "https://user:secret@receiver.example/",
      "https://user@receiver.example/",
      "https://@receiver.example/",
      "http://receiver.example:99999/",
      "http://receiver.example:0/",
      "http://[::1/",
      " http://receiver.example/",
      "http://receiver.example/ x",
      "http://receiver.example/\u0000",
      "http://receiver.example/?x=\u007f",
      "http://receiver.example/#\u0085",
      "nats://user:\u0000@receiver.example/chain.blocks",
      `http://receiver.example/${"x".repeat(2_048)}`,
      5,
      null,
    ],
    events: [
      [],
      "transaction.*",
      {},
      5,
      ["no.such.event"],
      ["block.applied", "no.*"],
      ["transaction"],
      ["transaction*"],
      ["*.applied"],
      ["transaction.*.added"],
      [""],
      [null],
      Array.from({ length: 51 }, () => "block.applied"),
    ],
    match: ["", "All", "none", true, null],
    order: ["", "Strict", "fifo", true, null, ["strict"]],
    enabled: ["1", 1, "yes", "", null, " true ", "truee", [true], 0],
    conditions: [
      [],
      {},
      "[]",
      null,
      [null],
      ["x"],
      [[]],
      [{ ...condition, foo: 1 }],
      [{ condition: "eq", value: "1" }],
      [{ ...condition, key: "" }],
      [{ ...condition, key: 5 }],
      [{ ...condition, key: "k".repeat(257) }],
      [{ ...condition, condition: "like" }],
      [{ ...condition, condition: "toString" }],
      [{ key: "a", value: "1" }],
      [{ key: "a", condition: "eq" }],
      [{ ...condition, condition: "regexp", value: "[" }],
      [{ ...condition, condition: "regexp", value: "x".repeat(513) }],
      [{ ...condition, condition: "between", value: "5" }],
      [{ ...condition, condition: "not-between" }],
      [{ ...condition, value: "x".repeat(4_097) }],
      [{ ...condition, value: ["x".repeat(4_093)] }],
      [condition, { ...condition, condition: "x" }],
      Array.from({ length: 51 }, () => condition),
    ],
  };
  test.each(Object.entries(invalid))("%s is checked on creation and on update", async (field, values) => {
    const { ask, create } = await serve();
    const { body: before } = await create();
    for (const value of values) {
      expect([value, (await create({ [field]: value })).status]).toEqual([value, 422]);
      const updated = await ask("PUT", "/api/webhooks/1", { body: { [field]: value } });
      expect([value, updated.status]).toEqual([value, 422]);
    }
    const { token: _token, ...webhook } = before.data;
    expect((await ask("GET", "/api/webhooks")).body.data).toEqual([webhook]);
  });

  const valid: { [field: string]: unknown[] } = {
    event: [
      "state:started",
      "state.started",
      "transaction.reverted",
      "forger.started",
      "wallet.created.cold",
      "unik.minted",
    ],
    target: [
      "http://127.0.0.1:8080",
      "HTTPS://Receiver.Example:8443/hook?x=a@b#c",
      "http://[::1]:80/",
      "http://receiver.example?x",
      `http://receiver.example/${"x".repeat(2_048 - 24)}`,
    ],
    events: [["transaction.*"], ["*"], ["block.applied", "unik.*", "transaction.pool.*"], ["state:started"]],
    match: ["all"],
    order: ["strict"],
    enabled: ["true", "FALSE", "True", true, false],
    conditions: [
      [{ key: "k".repeat(256), condition: "eq", value: "x".repeat(4_096) }],
      [{ key: "a", condition: "truthy" }],
      [{ key: "a", condition: "eq", value: null }],
      Array.from({ length: 50 }, () => condition),
      [{ key: "a", condition: "regexp", value: "x".repeat(512) }],
      [{ key: "a", condition: "between", value: { min: 1, max: "2" } }],
    ],
  };
  test.each(Object.entries(valid))("%s is accepted and listed", async (field, values) => {
    const { ask, create } = await serve();
    for (const value of values) {
      const expected = field === "enabled" ? `${value}`.toLowerCase() === "true" : value;
      const created = await create({ [field]: value });
      expect([value, created.status]).toEqual([value, 201]);
      expect(created.body.data[field]).toEqual(expected);
      const { id } = created.body.data;
      expect((await ask("PUT", `/api/webhooks/${id}`, { body: { [field]: value } })).status).toBe(200);
      expect((await ask("GET", `/api/webhooks/${id}`)).body.data[field]).toEqual(expected);
    }
  });

  test.each([
    ["order", "parallel", "strict"],
    ["match", "any", "all"],
    ["events", null, ["unik.*"]],
  ])("%s is shown unless it is the default", async (field, usual, other) => {
    const { ask, create } = await serve();
    const plain = ["id", "event", "target", "enabled", "conditions"];
    await create();
    await create({ [field]: usual });
    const { body } = await create({ [field]: other });
    expect(body.data[field]).toEqual(other);
    const { data } = (await ask("GET", "/api/webhooks")).body;
    expect(data.map((webhook: object) => Object.keys(webhook).sort())).toEqual(
      [plain, plain, [...plain, field]].map((names) => names.sort()),
    );
    await ask("PUT", "/api/webhooks/3", { body: { enabled: "false" } });
    expect((await ask("GET", "/api/webhooks/3")).body.data[field]).toEqual(other);
    await ask("PUT", "/api/webhooks/3", { body: { [field]: usual } });
    expect((await ask("GET", "/api/webhooks/3")).body.data).not.toHaveProperty(field);
  });

  test("A list of events can replace the event.", async () => {
    const { ask, create } = await serve();
    const { target, conditions } = BODY;
    const { status, body } = await ask("POST", "/api/webhooks", {
      body: { target, conditions, events: ["unik.*", "block.applied"] },
    });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ event: "unik.*", events: ["unik.*", "block.applied"] });
    const put = async (changes: object) => (await ask("PUT", "/api/webhooks/1", { body: changes })).status;
    expect(await put({ events: ["block.reverted"] })).toBe(200);
    expect((await ask("GET", "/api/webhooks/1")).body.data.event).toBe("block.reverted");
    // No event would remain.
    expect(await put({ events: null })).toBe(422);
    expect(await put({ events: null, event: "block.applied" })).toBe(200);
    const { data } = (await ask("GET", "/api/webhooks/1")).body;
    expect(data).toEqual({ id: 1, event: "block.applied", target, enabled: true, conditions });
    await create();
    expect((await ask("PUT", "/api/webhooks/2", { body: { events: ["*"] } })).status).toBe(200);
    expect((await ask("GET", "/api/webhooks/2")).body.data).toMatchObject({
      event: BODY.event,
      events: ["*"],
    });
  });

  test("The field enabled defaults to true.", async () => {
    const { create } = await serve();
    expect((await create()).body.data.enabled).toBe(true);
  });
});
