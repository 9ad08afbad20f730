import { afterAll, expect, test } from "vitest";
import { bob, carol } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";
import { longer, more } from "../../test-support/http/longer.ts";

const fixture = openFixture({}, {}, longer);
const bare = openFixture();
afterAll(async () => {
  await fixture.close();
  await bare.close();
});

const [own, named] = [more.entity, more.delegateEntity].map(({ data }) => data.id);
const byId = [own, named].sort();
const idsOf = (response: { json(): unknown }) => rowsOf(response).map(({ id }) => id);

test("GET /entities lists entities by id, including resigned ones, under both prefixes.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/entities`);
    expect(idsOf(response)).toEqual(byId);
    expect(response.json().meta).toMatchObject({
      totalCount: 2,
      self: `${prefix}/entities?page=1&limit=100`,
    });
  }
  expect((await bare.get("/api/entities")).json()).toMatchObject({ data: [], meta: { last: null } });
});

test("GET /entities/{id} shows an entity by its registration.", async () => {
  expect((await fixture.get(`/api/entities/${own}`)).json()).toEqual({
    data: {
      id: own,
      publicKey: carol.publicKey,
      address: carol.address,
      type: 0,
      subType: 1,
      data: { name: "my-entity", ipfsData: "Qm1" },
      isResigned: false,
    },
  });
  const unknown = await fixture.get(`/api/entities/${more.claim.data.id}`);
  expect(unknown.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Entity not found" });
  expect((await fixture.get("/api/entities/zz")).statusCode).toBe(422);
});

test.each([
  ["orderBy=id:desc", byId.toReversed()],
  ["orderBy=type:desc", [named, own]],
  ["orderBy=subType:desc", [own, named]],
  ["orderBy=isResigned:desc", [named, own]],
  ["orderBy=type:asc&limit=1&page=2", [named]],
  [`publicKey=${bob.publicKey}`, [named]],
  ["type=4", [named]],
  ["subType=1", [own]],
  ["type=-1", []],
  ["name=ent", [own]],
  ["name=Ent", []],
  ["isResigned=true", [named]],
  ["isResigned=true&type=0", []],
])("GET /entities lists entities with %s.", async (parameters, found) => {
  expect(idsOf(await fixture.get(`/api/entities?${parameters}`))).toEqual(found);
});

test.each(["name=a%20b", `name=${"a".repeat(41)}`, "orderBy=name:asc", "type=x", "isResigned=1", "foo=1"])(
  "GET /entities refuses %s.",
  async (parameters) => {
    expect((await fixture.get(`/api/entities?${parameters}`)).statusCode).toBe(422);
  },
);

test.each([
  [{}, "?orderBy=type:asc", [own, named]],
  [{ publicKey: carol.publicKey }, "", [own]],
  [{ type: 4 }, "", [named]],
  [{ subType: -1 }, "", []],
  [{ type: "4", subType: 0 }, "", [named]],
  [{ name: "bobs_" }, "", [named]],
  [{ isResigned: false }, "", [own]],
  [{ isResigned: false, type: 4 }, "", []],
])("POST /entities/search finds %j%s.", async (body, query, found) => {
  expect(idsOf(await fixture.post(`/api/entities/search${query}`, body))).toEqual(found);
});

test.each([[{ data: {} }], [{ name: "" }], [{ type: 1.5 }], [{ orderBy: "id:asc" }], [[]]])(
  "POST /entities/search refuses the search %j.",
  async (body) => {
    expect((await fixture.post("/api/entities/search", body)).statusCode).toBe(422);
  },
);
