/** Requests of every route: sensible, odd and hostile ones. Each gets a documented response. */

import { createSlots } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { createTimestampOf } from "../../src/http/core/values.ts";
import { createDevRoutes } from "../../src/http/dev/routes.ts";
import { createAccess } from "../../src/http/webhooks/access.ts";
import { createWebhookRoutes } from "../../src/http/webhooks/routes.ts";
import { createOperatorRoutes } from "../../src/operations/http/operator.ts";
import { Failures } from "../../src/webhooks/delivery/failures.ts";
import { chain, heads } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { createOperator } from "../../test-support/http/operator.ts";
import { listen, openStreams, TOKEN as STREAM_TOKEN } from "../../test-support/stream/support.ts";
import { always, blockApplied, createService } from "../../test-support/webhooks/support.ts";
import { fuzz } from "./fuzz.ts";

const TOKEN = "of the operator";
/** Operations that require a token. */
const GUARDED = /^\/(webhooks|dev|events|operations)/;

const refusals = (statuses: ReadonlyMap<number, number>): number =>
  (statuses.get(422) ?? 0) + (statuses.get(400) ?? 0);

test("Requests without a token get documented responses.", async () => {
  const fixture = openFixture({}, {}, longer);
  onTestFinished(fixture.close);
  await fixture.app.ready();
  const statuses = await fuzz(fixture.app, { isMeant: (path) => !GUARDED.test(path) });
  // Both sides of the validation are reached.
  expect(statuses.get(200)).toBeGreaterThan(100);
  expect(refusals(statuses)).toBeGreaterThan(50);
});

/** More webhooks than the requests remove. */
const WEBHOOKS = 100;

test("Requests with the token, of webhooks and of commands of the dev chain, get documented responses.", async () => {
  const { webhooks } = createService({ chain: [[blockApplied(1)]] });
  const { head } = heads;
  const unchanged = { head, reverted: [], applied: [], now: 41, isForging: true };
  const timestampOf = createTimestampOf(createSlots(chain.network).unixMsOf);
  const failures = new Failures(async () => ({ status: 204 }), 1_000);
  const receivers = { failures, register: webhooks.register };
  const account = { address: "D1", passphrase: "words", publicKey: "02" };
  const accounts = { accounts: [account], delegates: [], factory: account, foundation: account };
  const dev = { gateway: { dev: async () => unchanged }, timestampOf, receivers, accounts };
  const access = createAccess({ token: TOKEN });
  const plugins = [
    createWebhookRoutes(access, webhooks),
    createDevRoutes(access, dev),
    createOperatorRoutes(access, createOperator()),
  ];
  const fixture = openFixture({}, { plugins });
  onTestFinished(fixture.close);
  await fixture.app.ready();
  for (let count = 0; count < WEBHOOKS; count += 1) {
    const { id } = await webhooks.register.create(always());
    await webhooks.ping(`${id}`);
  }
  let last = 0;
  const statuses = await fuzz(fixture.app, {
    isMeant: (path) => GUARDED.test(path) && path !== "/events",
    headers: { authorization: TOKEN },
    fill: (path) => {
      last = (last % WEBHOOKS) + 1;
      return path.replace("{id}", `${last}`).replace("{delivery}", "1");
    },
  });
  for (const status of [200, 201, 202]) expect(statuses.get(status), `${status}`).toBeGreaterThan(0);
  expect(refusals(statuses)).toBeGreaterThan(50);
});

test("Requests of stream readers, which do not end, get documented statuses.", async () => {
  const { fixture, port } = await openStreams();
  const statuses = await fuzz(fixture.app, {
    isMeant: (path) => path === "/events",
    send: async ({ url }) => {
      const listener = await listen(`http://127.0.0.1:${port}${url}`, { authorization: STREAM_TOKEN });
      listener.close();
      return { statusCode: listener.status };
    },
  });
  expect(statuses.get(200)).toBeGreaterThan(0);
  expect(refusals(statuses)).toBeGreaterThan(0);
});
