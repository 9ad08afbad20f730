/** The register as the interface document describes it (interface.md 5): nothing less is accepted, nothing else is returned. */
import { EVERY_EVENT } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { EVENTS } from "../../src/events/catalogue.ts";
import { DATA_SCHEMAS } from "../../src/events/schemas.ts";
import { compileConditions } from "../../src/subscriptions/conditions/conditions.ts";
import { Meter } from "../../src/subscriptions/conditions/cost.ts";
import { CHAINS } from "../../test-support/chain/fixtures.ts";
import { eventsOfChain } from "../../test-support/events/samples.ts";
import { blockApplied, heights } from "../../test-support/webhooks/support.ts";
import { BODY, serve } from "./serve.ts";

const HINT = '[{"key":"always","condition":"ne","value":"never"}] is true for every event';

describe.each(["/api", "/api/v2"])("below %s", (prefix) => {
  test.each([
    ["without conditions", { conditions: undefined }, `"conditions" is required; ${HINT}`],
    ["with an empty list of conditions", { conditions: [] }, `"conditions" must not be empty; ${HINT}`],
  ])("A registration %s is refused, and registers nothing.", async (_case, given, message) => {
    const { ask, store } = await serve();
    for (const path of ["/webhooks", "/webhooks/test"]) {
      const refused = await ask("POST", `${prefix}${path}`, { body: { ...BODY, match: "all", ...given } });
      expect([path, refused.status, refused.body.message]).toEqual([path, 422, message]);
    }
    expect(store.count()).toBe(0);
  });

  test("A strict client finds exactly the members of the interface in every response.", async () => {
    const { ask } = await serve();
    // "fee" is a mistake, which a header reports.
    const created = await ask("POST", `${prefix}/webhooks`, { body: { ...BODY, enabled: "true" } });
    const webhook = { id: 1, ...BODY, enabled: true };
    expect(created.headers).toHaveProperty("webhook-warnings");
    expect(created.body).toEqual({ data: { ...webhook, token: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    expect((await ask("GET", `${prefix}/webhooks/1`)).text).toBe(
      JSON.stringify({
        data: { id: 1, event: BODY.event, target: BODY.target, enabled: true, conditions: BODY.conditions },
      }),
    );
    for (const body of [BODY, { event: "block.applied" }, { conditions: BODY.conditions }, {}]) {
      const { status, text } = await ask("PUT", `${prefix}/webhooks/1`, { body });
      expect([body, status, text]).toEqual([body, 200, "{}"]);
    }
    const { status, text } = await ask("DELETE", `${prefix}/webhooks/1`);
    expect([status, text]).toEqual([200, "{}"]);
  });

  test("An update cannot empty the conditions.", async () => {
    const { ask, create } = await serve();
    await create();
    const { status, body } = await ask("PUT", `${prefix}/webhooks/1`, {
      body: { enabled: "false", conditions: [] },
    });
    expect([status, body.message]).toEqual([422, `"conditions" must not be empty; ${HINT}`]);
    const { data } = (await ask("GET", `${prefix}/webhooks/1`)).body;
    expect(data).toEqual({ id: 1, ...BODY, enabled: true });
  });
});

test("A webhook has other members only for a client that requests its health.", async () => {
  const { ask, create, emit } = await serve(undefined, { reply: () => 500 });
  await create({ event: "block.applied", conditions: [EVERY_EVENT] });
  await emit(blockApplied(1));
  const members = ["conditions", "enabled", "event", "id", "target"];
  const membersOf = async (path: string) =>
    [(await ask("GET", path)).body.data].flat().map((webhook) => Object.keys(webhook).sort());
  for (const path of ["/api/webhooks", "/api/v2/webhooks?page=1", "/api/webhooks/1", "/api/v2/webhooks/1"]) {
    expect(await membersOf(path)).toEqual([members]);
    const withHealth = `${path}${path.includes("?") ? "&" : "?"}health=true`;
    expect(await membersOf(withHealth)).toEqual([[...members, "failing", "queued"].sort()]);
    expect((await ask("GET", `${withHealth}x`)).status).toBe(422);
  }
});

test("A webhook that was registered without conditions receives every event, also after changes of other members.", async () => {
  const { ask, create, database, emit, calls } = await serve();
  await create({ event: "block.applied" });
  database.prepare("UPDATE webhooks SET conditions = '[]'").run();
  // The register is read again after a change.
  expect((await ask("PUT", "/api/webhooks/1", { body: { name: "old" } })).status).toBe(200);
  await emit(blockApplied(1));
  const changes = { target: "https://other.example/", enabled: "true", match: "all" };
  expect((await ask("PUT", "/api/webhooks/1", { body: changes })).text).toBe("{}");
  await emit(blockApplied(2));
  expect(heights(calls)).toEqual([1, 2]);
  expect((await ask("GET", "/api/webhooks/1")).body.data.conditions).toEqual([]);
});

test.each(["transaction.*", "*", "transactions.*"])(
  'The pattern %s as "event" is refused with the member that takes patterns.',
  async (event) => {
    const { create, ask } = await serve();
    const expected = `"event" must be the name of one event; "events" takes patterns: ["${event}"]`;
    const created = await create({ event });
    expect([created.status, created.body.code, created.body.message]).toEqual([
      422,
      "UNKNOWN_EVENT",
      expected,
    ]);
    await create();
    expect((await ask("PUT", "/api/webhooks/1", { body: { event } })).body.message).toBe(expected);
  },
);

describe("EVERY_EVENT", () => {
  const holds = compileConditions([EVERY_EVENT]);
  const isTrue = (data: unknown) => holds(data, new Meter(1_000));

  test.each(CHAINS)("EVERY_EVENT is true for every event of %s.", async (name) => {
    const seen = new Set<string>();
    for (const event of await eventsOfChain(name)) {
      seen.add(event.name);
      expect([event.name, isTrue(event.data)]).toEqual([event.name, true]);
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  test("EVERY_EVENT is true for every content that the schemas of the catalogue allow.", () => {
    for (const name of Object.keys(EVENTS)) {
      const { items, ...schema } = { ...DATA_SCHEMAS[name] } as Schema;
      // A list holds if one element does, so that it needs one.
      if (schema.type === "array") expect([name, schema.minItems]).toEqual([name, 1]);
      const content = items ?? schema;
      if (content.type !== "object") continue;
      expect([name, content.additionalProperties]).toEqual([name, false]);
      expect(Object.keys(content.properties ?? {})).not.toContain(EVERY_EVENT.key);
    }
    for (const content of [undefined, null, true, "always", 7, {}, [{}], [1]])
      expect(isTrue(content)).toBe(true);
  });
});

type Schema = {
  readonly type?: string;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: object;
  readonly additionalProperties?: unknown;
};
