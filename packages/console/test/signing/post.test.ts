import { createClient } from "@uniknode/client";
import { expect, test } from "vitest";
import { post } from "../../src/signing/post.ts";

/** Returns the outcome of a submission to which a node responds with the given ids and errors. */
async function outcomeOf(data: Partial<Record<"accept" | "excess", string[]>>, errors?: object) {
  const body = { data: { accept: [], broadcast: [], excess: [], invalid: [], ...data }, errors };
  const api = createClient({ url: "http://127.0.0.1", fetch: async () => Response.json(body), retries: 0 });
  return (await post(api, [{ id: "a" }]))[0];
}

const refusal = (type: string) => ({ a: [{ type, message: "Text." }] });

test("A transaction in the pool or in a block counts as accepted, one that the node received before as uncertain, and others as refused.", async () => {
  expect(await outcomeOf({ accept: ["a"] })).toMatchObject({ became: "accepted", reasons: [] });
  expect(await outcomeOf({}, refusal("ERR_FORGED"))).toMatchObject({ id: "a", became: "accepted" });
  expect(await outcomeOf({}, refusal("ERR_DUPLICATE"))).toMatchObject({ id: "a", became: "uncertain" });
  expect(await outcomeOf({}, refusal("ERR_APPLY"))).toEqual({
    id: "a",
    became: "refused",
    reasons: [{ type: "ERR_APPLY", message: "Text." }],
  });
  expect(await outcomeOf({ excess: ["a"] })).toMatchObject({
    became: "refused",
    reasons: [{ type: "ERR_EXCESS" }],
  });
});
