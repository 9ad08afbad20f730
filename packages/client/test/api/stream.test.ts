/** Connections of a stream that fail. */
import { expect, test } from "vitest";
import { type ApiError, createClient } from "../../src/index.ts";

test("The error of a connection is passed on before the next one.", async () => {
  const responses = [new Response("{}", { status: 429, headers: { "retry-after": "0" } })];
  const errors: ApiError[] = [];
  const client = createClient({
    url: "http://127.0.0.1:4003",
    fetch: async () => responses.shift() ?? new Response('id: 7\ndata: {"event":"a"}\n\n'),
  });
  for await (const { position } of client.events.stream({ onRetry: (error) => errors.push(error) })) {
    expect(position).toBe("7");
    break;
  }
  expect(errors).toMatchObject([{ code: "API_RATE_LIMITED", retryAfterMs: 0 }]);
});
