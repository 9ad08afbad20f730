import { afterAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { alice, bob, chain, unik } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const unknown = "0".repeat(64);

test("GET /uniks counts tokens by type as text.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const { data, chainmeta } = (await fixture.get(`${prefix}/nfts/status`)).json();
    expect(data).toEqual([{ nftName: "UNIK", individual: "2", organization: "0", network: "1" }]);
    expect(chainmeta.height).toBe(4);
  }
});

describe("lists", () => {
  test("GET /uniks lists every token, including those without properties, by id.", async () => {
    const response = await fixture.get("/api/v2/uniks");
    expect(rowsOf(response).map(({ id }) => id)).toEqual([unik.alice, unik.bob, unik.dave, unik.bare]);
    expect(rowsOf(response)[0]).toEqual({
      id: unik.alice,
      ownerId: alice.address,
      type: "1",
      explicitValues: ["alice", "wonder"],
      defaultExplicitValue: "alice",
    });
    expect(response.json().meta).toEqual({
      totalCountIsEstimate: false,
      count: 4,
      pageCount: 1,
      totalCount: 4,
      next: null,
      previous: null,
      self: "/api/v2/uniks?page=1&limit=100",
      first: "/api/v2/uniks?page=1&limit=100",
      last: "/api/v2/uniks?page=1&limit=100",
    });
  });

  test("GET /uniks lists bare tokens under the name nft.", async () => {
    const response = await fixture.get("/api/nfts?orderBy=ownerId:desc&limit=1&page=2");
    expect(Object.keys(present(rowsOf(response)[0], "a row"))).toEqual(["id", "ownerId"]);
    expect(response.json().meta.previous).toBe("/api/nfts?orderBy=ownerId%3Adesc&limit=1&page=1");
  });

  test("GET /uniks lists tokens in any order, of which only two have an effect.", async () => {
    const owners = rowsOf(await fixture.get("/api/uniks?orderBy=ownerId:asc")).map(({ ownerId }) => ownerId);
    expect(owners).toEqual(owners.toSorted());
    const ids = rowsOf(await fixture.get("/api/uniks?orderBy=whatever")).map(({ id }) => id);
    expect(ids).toEqual([unik.alice, unik.bob, unik.dave, unik.bare]);
    expect(rowsOf(await fixture.get("/api/uniks?orderBy=id:desc&limit=1"))[0]).toMatchObject({
      id: unik.bare,
    });
  });

  test.each(["limit=0", "page=x", "ownerId=a"])("GET /uniks returns 400 with %s.", async (parameters) => {
    const response = await fixture.get(`/api/uniks?${parameters}`);
    const [key] = parameters.split("=");
    expect(response.json()).toMatchObject({
      statusCode: 400,
      error: "Bad Request",
      validation: { source: "query", keys: [key] },
    });
  });
});

describe("searches", () => {
  test("POST /uniks/search finds tokens by ids, and returns the ones that exist.", async () => {
    const response = await fixture.post("/api/uniks/search", {
      id: [unik.bob.toUpperCase(), unik.dave, unknown],
    });
    expect(rowsOf(response).map(({ id }) => id)).toEqual([unik.bob, unik.dave]);
    expect(rowsOf(await fixture.post("/api/v2/uniks/search", { id: unik.bob }))).toHaveLength(1);
  });

  test("POST /uniks/search finds tokens by owner, in an order, by pages.", async () => {
    const body = { ownerId: alice.address, orderBy: "id:desc" };
    const response = await fixture.post("/api/nfts/search?limit=1", body);
    expect(rowsOf(response)).toEqual([{ id: unik.bare, ownerId: alice.address }]);
    expect(response.json().meta.totalCount).toBe(2);
    expect(rowsOf(await fixture.post("/api/uniks/search", {}))).toHaveLength(4);
  });

  test.each([
    [{ id: "zz" }, ["id", "id"]],
    [{ id: [] }, ["id", "id"]],
    [{ id: Array.from({ length: 101 }, () => unknown) }, ["id", "id"]],
    // An item is named by its position.
    [{ id: [unknown, "zz"] }, ["id", "id.1"]],
    [{ ownerId: "zz" }, ["ownerId"]],
    [{ orderBy: "" }, ["orderBy"]],
    // The body as a whole has no name.
    [[], [""]],
    [{ foo: 1 }, ["foo"]],
  ])("POST /uniks/search returns 400 with %j.", async (body, keys) => {
    const response = await fixture.post("/api/uniks/search", body);
    expect(response.json()).toMatchObject({ statusCode: 400, validation: { source: "payload", keys } });
  });

  test.each([undefined, "", "null", "5", '"text"'])(
    "POST /uniks/search returns 400 with a body that is %s.",
    async (payload) => {
      const headers = { "content-type": "application/json" };
      const request = { method: "POST", url: "/api/uniks/search", headers } as const;
      const response = await fixture.app.inject({ ...request, ...(payload !== undefined && { payload }) });
      expect(response.json()).toMatchObject({
        statusCode: 400,
        validation: { source: "payload", keys: [""] },
      });
    },
  );
});

describe("shows", () => {
  test("GET /uniks/{id} shows a token with its first and last transaction.", async () => {
    for (const id of [unik.bob, unik.bob.toUpperCase()]) {
      const { data, chainmeta } = (await fixture.get(`/api/v2/uniks/${id}`)).json();
      expect(data).toEqual({
        id: unik.bob,
        ownerId: bob.address,
        transactions: {
          first: { id: chain.sent.mint.data.id },
          last: { id: chain.sent.vote.data.id },
        },
        type: "1",
        explicitValues: ["bob"],
        defaultExplicitValue: "bob",
      });
      expect(chainmeta.height).toBe(4);
    }
  });

  test("GET /uniks/{id}/properties shows stored properties by key, then built-in ones.", async () => {
    const response = await fixture.get(`/api/uniks/${unik.alice}/properties`);
    const properties = Object.assign({}, ...rowsOf(response));
    expect(rowsOf(response).slice(0, 3)).toEqual([
      { explicitValues: "alice,wonder" },
      { type: "1" },
      { "usr/empty": "" },
    ]);
    expect(properties).toMatchObject({
      "Badges/Security/SecondPassphrase": "true",
      "Badges/Rightness/Everlasting": "false",
      "LifeCycle/Status": "2",
    });
    expect(properties).not.toHaveProperty("Badges/Rightness/Verified");
    expect(response.json()).toMatchObject({ meta: { count: 14, totalCount: 14 }, chainmeta: { height: 4 } });
  });

  test("GET /uniks/{id}/properties shows pages of properties over both kinds.", async () => {
    const all = rowsOf(await fixture.get(`/api/uniks/${unik.dave}/properties`));
    const second = await fixture.get(`/api/uniks/${unik.dave}/properties?limit=5&page=2`);
    expect(rowsOf(second)).toEqual(all.slice(5, 10));
    expect(second.json().meta).toMatchObject({ totalCount: all.length, count: 5, pageCount: 3 });
    expect(rowsOf(await fixture.get(`/api/uniks/${unik.dave}/properties?page=9`))).toEqual([]);
  });

  test("GET /uniks/{id}/properties shows pages and walks of any size with the same properties.", async () => {
    for (const id of [unik.alice, unik.bob, unik.dave, unik.bare]) {
      const path = `/api/uniks/${id}/properties`;
      const all = rowsOf(await fixture.get(path));
      for (let limit = 1; limit <= all.length + 1; limit++) {
        for (let page = 1; page <= Math.ceil(all.length / limit) + 1; page++) {
          const response = await fixture.get(`${path}?limit=${limit}&page=${page}`);
          expect(rowsOf(response)).toEqual(all.slice((page - 1) * limit, page * limit));
          expect(response.json().meta.totalCount).toBe(all.length);
        }
        const walked: unknown[] = [];
        for (let cursor = "start"; cursor !== null; ) {
          const response = await fixture.get(`${path}?limit=${limit}&cursor=${cursor}`);
          walked.push(...rowsOf(response));
          cursor = response.json().meta.nextCursor;
          const [key] = Object.keys(walked.at(-1) as object);
          const place = cursor && JSON.parse(Buffer.from(cursor, "base64url").toString());
          expect(place).toEqual(cursor && [key, walked.length - 1]);
        }
        expect(walked).toEqual(all);
      }
    }
  });

  test("A walk continues after the key whose cursor is the longest.", async () => {
    // The cursor also has the position, which has two digits from the eleventh property on.
    const writes = Array.from({ length: 11 }, (_, index) => ({
      table: "properties" as const,
      key: `${unik.alice}/${"\u0001".repeat(245 + index)}`,
      after: "1",
    }));
    const { get, close } = openFixture({}, {}, { blocks: [], writes });
    const path = `/api/uniks/${unik.alice}/properties`;
    const first = await get(`${path}?limit=11&cursor=start`);
    expect(rowsOf(first).at(-1)).toEqual({ ["\u0001".repeat(255)]: "1" });
    const second = await get(`${path}?limit=1&cursor=${first.json().meta.nextCursor}`);
    expect(rowsOf(second)).toEqual([{ explicitValues: "alice,wonder" }]);
    await close();
  });

  test("A cursor whose property does not exist shows the properties from its index on.", async () => {
    const path = `/api/uniks/${unik.alice}/properties`;
    const all = rowsOf(await fixture.get(path));
    for (const index of [0, 2, 5, all.length, 1_000]) {
      const cursor = Buffer.from(JSON.stringify(["usr/removed", index])).toString("base64url");
      const rows = rowsOf(await fixture.get(`${path}?limit=4&cursor=${cursor}`));
      expect(rows).toEqual(all.slice(index, index + 4));
    }
  });

  test.each([
    [unik.alice, "usr%2Fempty", ""],
    [unik.alice, "type", "1"],
    [unik.bob, "Badges%2FNP%2FDelegate", "true"],
    [unik.alice, "Badges%2FNP%2FDelegate", "false"],
    [unik.bob, "Badges%2FSecurity%2FSecondPassphrase", "false"],
    [unik.dave, "Badges%2FRightness%2FEverlasting", "true"],
  ])("The API shows the property of %s called %s.", async (id, key, value) => {
    const response = await fixture.get(`/api/v2/uniks/${id}/properties/${key}`);
    expect(response.json()).toMatchObject({ data: value, chainmeta: { height: 4 } });
  });

  test.each([
    [`/uniks/${unknown}`, `Non fungible token ${unknown} not found`],
    [`/uniks/${unknown}/properties`, `Non fungible token ${unknown} not found`],
    [`/uniks/${unknown}/properties/type`, "Not Found"],
    [`/uniks/${unik.bob}/properties/nothing`, "Not Found"],
    [`/uniks/${unik.bare}/properties/explicitValues`, "Not Found"],
    [`/uniks/${unik.alice}/properties/usr/empty`, "Not Found"],
    [`/uniks/${unik.alice}/transactions`, "Not Found"],
    ["/foos", "Not Found"],
  ])("The API shows nothing at %s.", async (path, message) => {
    expect((await fixture.get(`/api${path}`)).json()).toEqual({
      statusCode: 404,
      error: "Not Found",
      message,
    });
  });

  test.each([
    ["/uniks/zz", ["id"], "params"],
    [`/uniks/${unik.bob}/properties/${"a".repeat(256)}`, ["key"], "params"],
    [`/uniks/${unik.bob}/properties?orderBy=key:asc`, ["orderBy"], "query"],
  ])("The API shows nothing malformed: %s.", async (path, keys, source) => {
    expect((await fixture.get(`/api${path}`)).json()).toMatchObject({
      statusCode: 400,
      validation: { source, keys },
    });
  });

  test("The API shows a property key of 255 encoded characters.", async () => {
    const response = await fixture.get(`/api/uniks/${unik.bob}/properties/${"%2F".repeat(255)}`);
    expect(response.statusCode).toBe(404);
  });
});

describe("for several errors, names", () => {
  const zz = { ownerId: "zz", id: "zz" };

  test.each([
    ["the first parameter in the order of the document", "?limit=0&page=0", undefined, "query", ["page"]],
    ["known parameters before unknown ones", "?foo=1&limit=0", undefined, "query", ["limit"]],
    ["all unknown parameters", "?foo=1&limit=5&bar=2", undefined, "query", ["foo", "bar"]],
    ["the path before the query", "/zz/properties?limit=0", undefined, "params", ["id"]],
    ["the query before the body", "/search?limit=0", { foo: 1 }, "query", ["limit"]],
    ["the first member in the order of the document", "/search", zz, "payload", ["id", "id"]],
    ["known members before unknown ones", "/search", { foo: 1, ...zz }, "payload", ["id", "id"]],
    ["all unknown members", "/search", { foo: 1, orderBy: "id:asc", bar: 2 }, "payload", ["foo", "bar"]],
  ])("%s", async (_what, path, body, source, keys) => {
    const url = `/api/uniks${path}`;
    const response = await (body ? fixture.post(url, body) : fixture.get(url));
    expect(response.json()).toMatchObject({ statusCode: 400, validation: { source, keys } });
  });

  test("The response names some of several errors, if there are too many to list.", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `foo${index}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const { validation } = (await fixture.post("/api/uniks/search", body)).json();
    expect(validation.keys).toEqual(names.slice(0, 100));
  });
});
