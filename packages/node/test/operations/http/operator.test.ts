import { expect, onTestFinished, test } from "vitest";
import { createAccess } from "../../../src/http/webhooks/access.ts";
import { createOperatorRoutes } from "../../../src/operations/http/operator.ts";
import { openFixture } from "../../../test-support/http/fixture.ts";
import { createOperator } from "../../../test-support/http/operator.ts";

const PATHS = ["/operations/node", "/operations/series", "/operations/options"];

async function serve(operator = createOperator()) {
  const access = createAccess({ token: "secret" });
  const fixture = openFixture({}, { plugins: [createOperatorRoutes(access, operator)] });
  onTestFinished(fixture.close);
  await fixture.app.ready();
  return async (url: string, headers: Record<string, string> = { authorization: "secret" }) => {
    const response = await fixture.app.inject({ url: `/api/v2${url}`, headers });
    return { status: response.statusCode, body: response.json() };
  };
}

test.each(PATHS)("%s requires the token", async (path) => {
  const get = await serve();
  expect((await get(path, {})).status).toBe(401);
  expect((await get(path, { authorization: "another" })).status).toBe(401);
  expect((await get(path, { cookie: "uniknode_console=secret" })).status).toBe(401);
  expect((await get(path)).status).toBe(200);
});

test("The series has columns of equal length, from a given time on.", async () => {
  const get = await serve();
  const { data } = (await get("/operations/series")).body;
  expect(data).toMatchObject({ intervalSeconds: 10, times: [100, 110] });
  expect(data.figures).toMatchObject({ height: [5, 6], slotsMissed: [null, 1], peers: [null, null] });
  expect((await get("/operations/series?since=100")).body.data).toMatchObject({
    times: [110],
    figures: { height: [6] },
  });
});

test.each(["since=yesterday", "since=-1", "since=1.5", "until=1"])(
  "The series refuses the query %s.",
  async (query) => {
    const get = await serve();
    expect((await get(`/operations/series?${query}`)).status).toBe(422);
  },
);

test("The reasons of missed slots are listed with their times.", async () => {
  const get = await serve();
  const { data } = (await get("/operations/node")).body;
  expect(data.forger).toMatchObject({
    delegates: [{ publicKey: "02aa", lastForged: { slot: 1, blockId: "12" } }, { publicKey: "03bb" }],
    slots: { forged: 7, missed: 2 },
    lastMissed: [{ publicKey: "03bb", slot: 2, reason: "the node was not in sync", timestamp: { epoch: 8 } }],
  });
  expect(data).toMatchObject({ ready: true, chain: { synced: true }, disk: { freeBytes: 4_096 } });
});

test("Mirrors and API servers are listed with their lag.", async () => {
  const get = await serve();
  const { data } = (await get("/operations/node")).body;
  expect(data.processes).toEqual([
    {
      ...{ kind: "mirror", address: "192.0.2.2", height: data.chain.height - 2, blocksBehind: 2 },
      lastSeenSeconds: 3,
    },
    { kind: "server", address: "192.0.2.3", name: "api:4004", lastSeenSeconds: 9 },
  ]);
});

test("Parts that only consensus has are null while it does not respond.", async () => {
  const operator = createOperator();
  const get = await serve({ ...operator, overview: createOperator(null).overview });
  const { status, body } = await get("/operations/node");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ chain: null, pool: null, peers: null, forger: { slots: null } });
  expect(body.data.forger.lastMissed).toHaveLength(1);
});

test("Options have their value and origin.", async () => {
  const get = await serve();
  expect((await get("/operations/options")).body.data).toEqual([
    { option: "httpPort", value: 4_003, origin: "default" },
    { option: "webhookToken", value: "***", origin: "environment", source: "environment variable X" },
    { option: "webhookHosts", origin: "default" },
  ]);
});
