/** Bodies that are refused before they are parsed. */
import { expect, test } from "vitest";
import { createAnswerer } from "../../src/rpc/answer.ts";
import type { RpcContext } from "../../src/rpc/method.ts";

const answer = createAnswerer({ echo: async (params) => params }, {} as RpcContext, () => {});

test.each([
  ["[".repeat(100_000), "nested deeper than 64 levels"],
  [`[${"{},".repeat(340_000)}{}]`, "more than 50000 members and items"],
])("bodies that are too complex are no request: %.10s", async (body, data) => {
  expect(await answer(body)).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "Invalid Request", data },
  });
});

test("a call that is as deep as allowed is answered", async () => {
  const params = JSON.parse("[".repeat(63) + "]".repeat(63));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params });
  expect(await answer(body)).toEqual({ jsonrpc: "2.0", id: 1, result: params });
});
