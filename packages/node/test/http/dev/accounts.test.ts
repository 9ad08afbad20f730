/** `GET /dev/accounts`, without a chain. */
import { expect, onTestFinished, test } from "vitest";
import type { AccountList } from "../../../src/http/dev/accounts.ts";
import { createDevRoutes } from "../../../src/http/dev/routes.ts";
import { createAccess } from "../../../src/http/webhooks/access.ts";
import { openFixture } from "../../../test-support/http/fixture.ts";

const account = { address: "D1", passphrase: "some words", publicKey: "02" };
const unik = { id: "ab", kind: "individual" } as const;
const known: AccountList = {
  accounts: [{ ...account, unik }],
  delegates: [account],
  factory: account,
  foundation: account,
};

async function get(accounts: AccountList | undefined, headers: Readonly<Record<string, string>>) {
  const gateway = { dev: () => Promise.reject(new Error("no command is run")) };
  const timestampOf = () => ({ epoch: 0, unix: 0, human: "" });
  const dev = { gateway, timestampOf, receivers: undefined, accounts };
  const fixture = openFixture({}, { plugins: [createDevRoutes(createAccess({ token: "token" }), dev)] });
  onTestFinished(fixture.close);
  return fixture.app.inject({ url: "/api/dev/accounts", headers: { ...headers } });
}

test("The accounts of a dev chain require the token.", async () => {
  const response = await get(known, { authorization: "token" });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ data: known });
  const refused = await get(known, {});
  expect(refused.statusCode).toBe(401);
  expect(refused.body).not.toContain(account.passphrase);
});

test("Other chains have no accounts.", async () => {
  const response = await get(undefined, { authorization: "token" });
  expect(response.statusCode).toBe(403);
  expect(response.headers["error-code"]).toBe("DEV_ONLY");
});
