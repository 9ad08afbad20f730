import { describe, expect, test } from "vitest";
import { type Ask, BODY, serve, TOKEN } from "./serve.ts";

describe("the register", () => {
  test("The register creates, shows, lists, updates and deletes, under both prefixes.", async () => {
    const { ask, create } = await serve();
    const created = await create({ enabled: "True" });
    expect(created.status).toBe(201);
    const webhook = { id: 1, ...BODY, enabled: true };
    expect(created.body).toEqual({
      data: { ...webhook, token: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    for (const prefix of ["/api", "/api/v2"]) {
      expect((await ask("GET", `${prefix}/webhooks/1`)).body).toEqual({ data: webhook });
      expect((await ask("GET", `${prefix}/webhooks`)).body).toEqual({
        meta: {
          count: 1,
          pageCount: 1,
          totalCount: 1,
          next: null,
          previous: null,
          self: "/api/v2/webhooks?page=1&limit=100",
          first: "/api/v2/webhooks?page=1&limit=100",
          last: "/api/v2/webhooks?page=1&limit=100",
        },
        data: [webhook],
      });
    }
    const updated = await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
    expect([updated.status, updated.text]).toEqual([200, "{}"]);
    expect((await ask("GET", "/api/webhooks/1")).body.data).toEqual({ ...webhook, enabled: false });
    expect((await ask("PUT", "/api/v2/webhooks/1", { body: {} })).text).toBe("{}");
    expect((await ask("GET", "/api/webhooks/1")).body.data).toEqual({ ...webhook, enabled: false });

    const deleted = await ask("DELETE", "/api/webhooks/1");
    expect([deleted.status, deleted.text]).toEqual([200, "{}"]);
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const body = method === "PUT" ? { body: {} } : {};
      expect((await ask(method, "/api/webhooks/1", body)).status).toBe(404);
    }
    // Ids are never reused.
    expect((await create()).body.data.id).toBe(2);
  });

  test("A page of a search links to the other pages of the search.", async () => {
    const { ask, create } = await serve();
    await create({ name: "Shop" });
    await create();
    await create({ name: "Shop & more" });
    const { body } = await ask("GET", "/api/webhooks?search=shop&state=active&limit=1");
    expect(body.data).toMatchObject([{ id: 1 }]);
    expect(body.meta).toMatchObject({
      totalCount: 2,
      next: "/api/v2/webhooks?page=2&limit=1&search=shop&state=active",
    });
    expect((await ask("GET", body.meta.next)).body.data).toMatchObject([{ id: 3 }]);
    const ordered = await ask("GET", "/api/webhooks?orderBy=id:desc&limit=2");
    expect(ordered.body.data).toMatchObject([{ id: 3 }, { id: 2 }]);
    expect((await ask("GET", ordered.body.meta.next)).body.data).toMatchObject([{ id: 1 }]);
    for (const query of [
      "search=",
      "state=broken",
      "orderBy=queued:asc",
      `search=${"a".repeat(101)}`,
      "search=%00",
    ])
      expect((await ask("GET", `/api/webhooks?${query}`)).status).toBe(422);
  });

  test("An update removes the event of a webhook if patterns remain.", async () => {
    const { ask, create } = await serve();
    await create();
    const refused = await ask("PUT", "/api/webhooks/1", { body: { event: null } });
    expect([refused.status, refused.body.message]).toEqual([422, '"event" or "events" is required']);
    const patterns = { event: null, events: ["transaction.*"] };
    expect((await ask("PUT", "/api/webhooks/1", { body: patterns })).status).toBe(200);
    // Clients of the old interface read "event".
    expect((await ask("GET", "/api/webhooks/1")).body.data).toMatchObject({
      event: "transaction.*",
      events: ["transaction.*"],
    });
    expect((await ask("POST", "/api/webhooks", { body: { ...BODY, ...patterns } })).status).toBe(422);
  });

  test("The register returns every value as it was sent.", async () => {
    const { ask } = await serve();
    const conditions = `[{"key":"a","condition":"eq","value":9007199254740993},{"key":"b","condition":"ne","value":1.50},
      {"key":"c","condition":"contains","value":{"x":[null,true,-0]}},{"key":"d","condition":"truthy"},
      {"key":"e","condition":"falsy","value":"ignored"}]`;
    const { text } = await ask("POST", "/api/webhooks", {
      body: `{"event":"block.applied","target":"http://r.example","conditions":${conditions}}`,
    });
    expect(text).toContain(`"conditions":${conditions.replace(/\s+/g, "")}`);
    expect((await ask("GET", "/api/webhooks/1")).text).toContain(conditions.replace(/\s+/g, ""));
  });

  test("The register accepts only decimal ids.", async () => {
    const { ask, create } = await serve();
    await create();
    for (const id of [
      "2",
      "01",
      "+1",
      "1.0",
      "0",
      "-1",
      "%31%20",
      "nope",
      "99999999999999999999",
      "__proto__",
    ]) {
      const response = await ask("GET", `/api/webhooks/${id}`);
      expect([id, response.status, response.body]).toEqual([
        id,
        404,
        {
          statusCode: 404,
          error: "Not Found",
          code: "WEBHOOK_UNKNOWN",
          message: `webhook ${decodeURIComponent(id)} not found: GET /api/v2/webhooks lists the webhooks`,
        },
      ]);
    }
  });

  test("The register notifies the node of every change before it responds.", async () => {
    const notified: string[][] = [];
    const holder: { names?: () => Set<string> } = {};
    const { ask, create, store } = await serve(undefined, {
      webhooksChanged: async () => void notified.push([...(holder.names?.() ?? [])]),
    });
    holder.names = store.eventNames;
    await create();
    await ask("PUT", "/api/webhooks/1", { body: { event: "state:started" } });
    await ask("PUT", "/api/webhooks/1", { body: { enabled: "false" } });
    await ask("DELETE", "/api/webhooks/1");
    // While a webhook exists, blocks may have been delivered to it.
    expect(notified).toEqual([
      ["block.forged", "block.reverted"],
      ["state.started", "block.reverted"],
      ["block.reverted"],
      [],
    ]);
  });

  test("The register is bounded.", async () => {
    const { create } = await serve(undefined, { options: { webhookLimit: 2 } });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(422);
  });
});

describe("pages", () => {
  test("The pages of several webhooks have counts and links.", async () => {
    const { ask, create } = await serve();
    for (let count = 0; count < 5; count++) await create();
    const second = await ask("GET", "/api/webhooks?limit=2&page=2");
    expect(second.body.data.map(({ id }: { id: number }) => id)).toEqual([3, 4]);
    expect(second.body.meta).toEqual({
      count: 2,
      pageCount: 3,
      totalCount: 5,
      next: "/api/v2/webhooks?page=3&limit=2",
      previous: "/api/v2/webhooks?page=1&limit=2",
      self: "/api/v2/webhooks?page=2&limit=2",
      first: "/api/v2/webhooks?page=1&limit=2",
      last: "/api/v2/webhooks?page=3&limit=2",
    });
    const beyond = await ask("GET", "/api/webhooks?limit=2&page=4");
    expect(beyond.body).toMatchObject({ data: [], meta: { count: 0, next: null } });
    expect(beyond.body.meta.previous).toBe("/api/v2/webhooks?page=3&limit=2");
    expect((await ask("GET", "/api/webhooks?limit=2&page=5")).body.meta.previous).toBeNull();
  });

  test("The only page of an empty list has counts and links.", async () => {
    const { ask } = await serve();
    expect((await ask("GET", "/api/v2/webhooks?limit=7")).body).toEqual({
      meta: {
        count: 0,
        pageCount: 1,
        totalCount: 0,
        next: null,
        previous: null,
        self: "/api/v2/webhooks?page=1&limit=7",
        first: "/api/v2/webhooks?page=1&limit=7",
        last: "/api/v2/webhooks?page=1&limit=7",
      },
      data: [],
    });
  });

  test.each(["page=0", "page=abc", "page=-1", "limit=0", "limit=101", "limit=1e1", "page=1&page=2", "foo=1"])(
    "?%s is refused",
    async (query) => {
      const { ask } = await serve();
      expect((await ask("GET", `/api/webhooks?${query}`)).status).toBe(422);
    },
  );
});

test.each([
  ["deep", "[".repeat(65), "The body is nested deeper than 64 levels"],
  ["full", `[${"0,".repeat(50_000)}`, "The body has more than 50000 members and items"],
])("Bodies that are too %s are refused before they are parsed.", async (_, body, message) => {
  const { ask, create } = await serve();
  const { id } = (await create()).body.data;
  for (const [method, path] of [
    ["POST", "/api/webhooks"],
    ["PUT", `/api/webhooks/${id}`],
    ["POST", "/api/webhooks/test"],
    ["POST", `/api/webhooks/${id}/rotate`],
    ["POST", `/api/webhooks/${id}/replay`],
  ] as const) {
    const response = await ask(method, path, { body });
    expect([path, response.status, response.body.message]).toEqual([path, 422, message]);
  }
});

describe("access", () => {
  test("Checks run in order: token, content type, body, id.", async () => {
    const { ask } = await serve();
    const bad = { body: "{", headers: { "content-type": "text/plain" } };
    const status = async (given: Ask) => (await ask("PUT", "/api/webhooks/9", given)).status;
    expect(await status(bad)).toBe(401);
    expect(await status({ ...bad, headers: { ...bad.headers, authorization: TOKEN } })).toBe(415);
    expect(await status({ body: "{" })).toBe(422);
    expect(await status({ body: { foo: 1 } })).toBe(422);
    expect(await status({ body: {} })).toBe(404);
  });

  test("Access accepts the token raw or with Bearer, and names what is required.", async () => {
    const { ask } = await serve();
    const status = async (authorization?: string) =>
      (await ask("GET", "/api/webhooks", { headers: authorization === undefined ? {} : { authorization } }))
        .status;
    expect(await status(TOKEN)).toBe(200);
    expect(await status(`Bearer ${TOKEN}`)).toBe(200);
    expect(await status(`bearer ${TOKEN}`)).toBe(200);
    for (const wrong of [
      undefined,
      "",
      "Bearer",
      `Bearer${TOKEN}`,
      `Basic ${TOKEN}`,
      TOKEN.slice(1),
      `${TOKEN}x`,
    ]) {
      expect([wrong, await status(wrong)]).toEqual([wrong, 401]);
    }
    const { headers, body } = await ask("GET", "/api/webhooks", { headers: {} });
    expect(headers["www-authenticate"]).toBe('Bearer realm="webhooks"');
    expect(body).toMatchObject({ statusCode: 401, error: "Unauthorized", code: "TOKEN_MISSING" });
  });

  test("Access is refused without a token.", async () => {
    for (const access of [{}, { token: "" }]) {
      const { ask } = await serve(access);
      for (const authorization of ["", "undefined", "Bearer "]) {
        expect((await ask("GET", "/api/webhooks", { headers: { authorization } })).status).toBe(401);
      }
    }
  });

  test("Access requires JSON if there is a body, and only then.", async () => {
    const { ask } = await serve();
    const send = async (method: "POST" | "GET" | "DELETE", type?: string) => {
      const headers: Record<string, string> = { authorization: TOKEN };
      if (type !== undefined) headers["content-type"] = type;
      const path = method === "DELETE" ? "/api/webhooks/77" : "/api/webhooks";
      return (await ask(method, path, { headers, ...(method === "POST" && { body: BODY }) })).status;
    };
    expect(await send("POST", "application/json; charset=utf-8")).toBe(201);
    expect(await send("POST", "Application/JSON")).toBe(201);
    for (const type of [undefined, "text/plain", "application/jsonp", "application/x-www-form-urlencoded"]) {
      expect([type, await send("POST", type)]).toEqual([type, 415]);
    }
    expect(await send("GET")).toBe(200);
    expect(await send("GET", "text/plain")).toBe(200);
    expect(await send("DELETE")).toBe(404);
    expect(await send("DELETE", "application/json")).toBe(404);
    const { body } = await ask("POST", "/api/webhooks", { headers: { authorization: TOKEN }, body: BODY });
    expect(body).toEqual({
      statusCode: 415,
      error: "Unsupported Media Type",
      code: "UNSUPPORTED_CONTENT_TYPE",
      message: "Content-Type must be application/json, and is missing",
    });
  });
});
