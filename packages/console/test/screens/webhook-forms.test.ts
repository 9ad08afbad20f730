import { expect, test } from "vitest";
import { headersOf, requestOf } from "../../src/screens/webhooks/forms.ts";

test("The request of a delivery is a command for the kind of its target.", () => {
  expect(requestOf("https://receiver.example/hook", "msg_1", '{"a":1}')).toBe(
    `curl -X POST -H "Content-Type: application/json" -H 'webhook-id: msg_1' \\\n  -d '{"a":1}' 'https://receiver.example/hook'`,
  );
  expect(requestOf("nats://node:x@nats.example:4222/chain.blocks", "msg_1", '{"a":1}')).toBe(
    `nats publish --server 'nats://node:x@nats.example:4222' -H 'Nats-Msg-Id: msg_1' \\\n  -H 'webhook-id: msg_1' 'chain.blocks' '{"a":1}'`,
  );
});

test("The headers of an attempt name the text that its signature signs.", () => {
  expect(headersOf({ messageId: "msg_1", sequence: 7 }, 1_700_000_000_999).split("\n")).toEqual([
    "content-type: application/json",
    "authorization: FIRST HALF OF THE TOKEN",
    "webhook-id: msg_1",
    "webhook-timestamp: 1700000000",
    'webhook-signature: v1,BASE64 of HMAC-SHA256(key, "msg_1.1700000000." + body)',
    "webhook-sequence: 7",
  ]);
});
