import { afterAll, expect, test } from "vitest";
import { chain, heads, PREMINE } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

/** Everything that is not the treasury's debt, in digits. */
const SUPPLY = 9_531_999_990_000_001n + 400n + 11n + 0n + 1_027n - PREMINE + PREMINE;

test("tells the head and all digits of the supply", async () => {
  const answer = await fixture.get("/api/blockchain");
  expect(answer.statusCode).toBe(200);
  expect(SUPPLY > BigInt(Number.MAX_SAFE_INTEGER)).toBe(true);
  expect(answer.body).toBe(
    `{"data":{"block":{"height":${chain.blocks.length},"id":"${heads.head.id}"},"supply":${SUPPLY}}}`,
  );
});

test("ignores parameters and the API version", async () => {
  const plain = await fixture.get("/api/v2/blockchain");
  for (const version of ["2", "1", "x"]) {
    const answer = await fixture.get("/api/blockchain?foo=1", { "api-version": version });
    expect(answer.body).toBe(plain.body);
  }
});
