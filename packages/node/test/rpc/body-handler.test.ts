/** Bodies that are refused before they are parsed. */
import { ApiError } from "@uniknode/client";
import { expect, test } from "vitest";
import { createBodyHandler } from "../../src/rpc/body-handler.ts";
import { Nonces, type RpcContext } from "../../src/rpc/define-method.ts";

const ADDRESS = "127.0.0.1";
const open = (signal: AbortSignal) => ({ signal, nonces: new Nonces().open() }) as RpcContext;
const handle = createBodyHandler({ echo: async (params) => params }, open, () => {});

test.each([
  ["[".repeat(100_000), "it has more than 64 nested levels"],
  [`[${"{},".repeat(340_000)}{}]`, "it has more than 50000 values"],
])("Bodies that are too complex are refused: %.10s.", async (body, data) => {
  expect(await handle(body, ADDRESS)).toEqual({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "Invalid Request", data },
  });
});

test("A call of the maximum depth gets its result.", async () => {
  const params = JSON.parse("[".repeat(63) + "]".repeat(63));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params });
  expect(await handle(body, ADDRESS)).toEqual({ jsonrpc: "2.0", id: 1, result: params });
});

const bodyOf = (count: number): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "hang", params: {} })),
  );
const untilAborted = (_params: unknown, { signal }: RpcContext) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

test("A batch that times out ends, and its other calls get an error, because they were not started.", async () => {
  const slow = createBodyHandler({ hang: untilAborted }, open, () => {}, 100);
  const late = (id: number, data: RegExp) => ({
    id,
    error: { code: 503, data: expect.stringMatching(data) },
  });
  expect(await slow(bodyOf(3), ADDRESS)).toMatchObject([
    late(0, /^timeout after 0.1 s/),
    late(1, /^not executed/),
    late(2, /^not executed/),
  ]);
});

test("Batches of one client and of all are bounded, exclude no single call, and free their slots.", async () => {
  const methods = { hang: untilAborted, echo: async (params: unknown) => params };
  const busy = createBodyHandler(methods, open, () => {}, 300);
  const running = [ADDRESS, "192.0.2.7"].flatMap((from) => [1, 2, 3, 4].map(() => busy(bodyOf(1), from)));
  const refused = { id: null, error: { code: 429, data: expect.stringMatching(/^too many batches/) } };
  expect(await busy(bodyOf(1), ADDRESS)).toMatchObject(refused);
  expect(await busy(bodyOf(1), "192.0.2.8")).toMatchObject(refused);
  const single = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: {} });
  expect(await busy(single, ADDRESS)).toMatchObject({ id: 1, result: {} });
  await Promise.all(running);
  expect(await busy(bodyOf(1), ADDRESS)).toMatchObject([{ id: 0, error: { code: 503 } }]);
});

test("Single calls of one client are bounded.", async () => {
  const busy = createBodyHandler({ hang: untilAborted }, open, () => {}, 100);
  const single = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "hang", params: {} });
  const running = Array.from({ length: 64 }, () => busy(single, ADDRESS));
  expect(await busy(single, ADDRESS)).toMatchObject({ id: null, error: { code: 429 } });
  await Promise.all(running);
});

test("A page of a proxy with status 200 is an error.", async () => {
  const failures: unknown[] = [];
  const method = () =>
    Promise.reject(new ApiError({ code: "API_RESPONSE_INVALID", status: 200, body: "" }, "GET /api/x"));
  const behindProxy = createBodyHandler({ method }, open, (_, error) => void failures.push(error));
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "method" });
  expect(await behindProxy(call, ADDRESS)).toMatchObject({ id: 1, error: { code: 503 } });
  expect(failures).toHaveLength(1);
});
