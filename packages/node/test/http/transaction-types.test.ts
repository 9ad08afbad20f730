import { transactionTypes } from "@uniknode/protocol";
import { afterAll, expect, test } from "vitest";
import { publishedSchema } from "../../src/http/responses/schemas.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

test("The API returns the active types, with or without parameters, under both prefixes.", async () => {
  for (const path of ["/api/transactions/types", "/api/v2/transactions/types?foo=1"]) {
    const { data } = (await fixture.get(path)).json();
    expect(data["1"]).toMatchObject({ Transfer: 0, SecondSignature: 1, MultiPayment: 6, HtlcLock: 8 });
    // Disabled by the network, and not yet active.
    expect(data["1"]).not.toHaveProperty("DelegateRegistration");
    expect(data["2"]).not.toHaveProperty("Entity");
    expect(data["2001"]).toMatchObject({ UnsVote: 5, UnsCertifiedNftTransfer: 6 });
  }
});

test("The API returns static fees, those of entities in every case.", async () => {
  const { data } = (await fixture.get("/api/transactions/fees")).json();
  expect(data["1"]).toMatchObject({ transfer: "10000000", multiSignature: "500000000", htlcClaim: "0" });
  expect(data["2"]).toEqual({
    entityRegistration: "5000000000",
    entityResignation: "500000000",
    entityUpdate: "500000000",
  });
  expect(data["2001"]).toMatchObject({ UnsVote: "100000000" });
});

test("The API publishes a schema for each active type.", async () => {
  const [schemas, types] = await Promise.all(
    ["schemas", "types"].map(async (path) => (await fixture.get(`/api/transactions/${path}`)).json().data),
  );
  for (const [group, members] of Object.entries(types as Record<string, Record<string, number>>)) {
    expect(Object.keys(schemas[group]).sort()).toEqual(Object.values(members).map(String).sort());
  }
  expect(schemas["1"]["0"]).toMatchObject({
    type: { transactionType: 0 },
    amount: { bignumber: { minimum: 1, bypassGenesis: true } },
    recipientId: { $ref: "address" },
  });
  expect(schemas["2001"]["5"].typeGroup).toEqual({ type: "integer", minimum: 0, const: 2001 });
});

test("The API publishes a schema of each action of an entity: register, resign, update.", () => {
  const { asset } = publishedSchema(2, 6) as { asset: { anyOf: EntityAction[] } };
  expect(asset).toMatchObject({ type: "object", anyOf: expect.any(Array) });
  expect(asset.anyOf.map(({ properties }) => properties.action.const)).toEqual([0, 2, 1]);
  const required = ["type", "subType", "action", "data"];
  expect(asset.anyOf).toMatchObject([
    { required, properties: { data: { required: ["name"] } } },
    { required: [...required, "registrationId"], properties: { data: { maxProperties: 0 } } },
    {
      required: [...required, "registrationId"],
      properties: { registrationId: { $ref: "transactionId" }, data: { additionalProperties: false } },
    },
  ]);
  const [registered, , updated] = asset.anyOf.map(({ properties }) =>
    Object.keys(properties.data.properties ?? {}),
  );
  expect([registered, updated]).toEqual([["name", "ipfsData"], ["ipfsData"]]);
});

type EntityAction = {
  readonly properties: {
    readonly action: { readonly const: number };
    readonly data: { readonly properties?: object };
  };
};

test.each(transactionTypes.map(({ key, typeGroup, type, schema }) => ({ key, typeGroup, type, schema })))(
  "The API publishes the members that $key has.",
  ({ typeGroup, type, schema }) => {
    const published = publishedSchema(typeGroup, type);
    expect(Object.keys(published)).toEqual(expect.arrayContaining(Object.keys(schema.properties)));
    expect(published.type).toEqual({ transactionType: type });
  },
);
