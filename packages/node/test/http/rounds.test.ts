import { afterAll, expect, test } from "vitest";
import { alice, bob, carol } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";

const fixture = openFixture({}, {}, longer);
afterAll(() => fixture.close());

test("GET /rounds/{id}/delegates lists the delegates of a round by votes, then by public key.", async () => {
  const alike = [bob, carol].map(({ publicKey }) => publicKey).sort();
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/rounds/2/delegates?foo=1`);
    expect(response.json()).toEqual({
      data: [
        { publicKey: alice.publicKey, votes: "12345678901234567" },
        ...alike.map((publicKey) => ({ publicKey, votes: "5" })),
      ],
    });
  }
});

test("GET /rounds/{id}/delegates returns 404 for unknown rounds and paths, and 422 for invalid rounds.", async () => {
  const unknown = await fixture.get("/api/rounds/3/delegates");
  expect(unknown.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Round not found" });
  expect((await fixture.get("/api/rounds/2")).json().message).toBe("Not Found");
  for (const round of ["0", "x", "-1", "1.5", "99999999999999999999"]) {
    expect((await fixture.get(`/api/rounds/${round}/delegates`)).statusCode).toBe(422);
  }
});
