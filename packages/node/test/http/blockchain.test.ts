import { afterAll, describe, expect, test } from "vitest";
import { alice, chain, heads, PREMINE, unik } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

/** Supply without the treasury's debt, in digits. */
const SUPPLY = 9_531_999_990_000_001n + 400n + 11n + 0n + 1_027n - PREMINE + PREMINE;

test("GET /blockchain returns the head and all digits of the supply.", async () => {
  const response = await fixture.get("/api/blockchain");
  expect(response.statusCode).toBe(200);
  expect(SUPPLY > BigInt(Number.MAX_SAFE_INTEGER)).toBe(true);
  expect(response.body).toBe(
    `{"data":{"block":{"height":${chain.blocks.length},"id":"${heads.head.id}"},"supply":${SUPPLY}}}`,
  );
});

test("GET /blockchain ignores parameters and the API version.", async () => {
  const plain = await fixture.get("/api/v2/blockchain");
  for (const version of ["2", "1", "x"]) {
    const response = await fixture.get("/api/blockchain?foo=1", { "api-version": version });
    expect(response.body).toBe(plain.body);
  }
});

describe("Prefixes of identifiers", () => {
  const find = async (prefix: string) =>
    (await fixture.get(`/api/blockchain/identifiers/${prefix}`)).json<{ data: unknown[] }>().data;

  test("Prefixes of identifiers match blocks, transactions, uniks and wallets.", async () => {
    const { id: block, height } = heads.head;
    expect(await find(block.slice(0, 12))).toEqual([{ kind: "block", id: block, height }]);
    expect(await find(unik.bob.slice(0, 12))).toEqual([{ kind: "unik", id: unik.bob }]);
    expect(await find(alice.address.slice(0, 8))).toEqual([{ kind: "wallet", id: alice.address }]);
    const { id } = chain.sent.hello.data;
    expect(await find(id.slice(0, 20))).toEqual([{ kind: "transaction", id }]);
  });

  test.each(["zzzz", "0123456789abcdef"])("Prefixes of identifiers match nothing for %s.", async (prefix) => {
    expect(await find(prefix)).toEqual([]);
  });

  test.each(["abc", "a".repeat(65), "ab%25d", "abc'", "abcd%20"])(
    "Prefixes of identifiers are refused: %j.",
    async (prefix) => {
      const response = await fixture.get(`/api/blockchain/identifiers/${prefix}`);
      expect(response.statusCode).toBe(422);
    },
  );
});
