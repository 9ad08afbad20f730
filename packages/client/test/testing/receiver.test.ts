/** The receiver of a scenario accepts deliveries of its webhook only. */
import { createHmac } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../../src/testing/receiver.ts";

const SECRET = "ab".repeat(32);
const MESSAGE = { id: "msg_1", event: "block.applied", timestamp: Date.now(), webhookId: 1 };

function deliveryWith(secret: string, body = JSON.stringify(MESSAGE)): RequestInit {
  const seconds = `${Math.floor(Date.now() / 1_000)}`;
  const signature = createHmac("sha256", Buffer.from(secret, "hex"))
    .update(`${MESSAGE.id}.${seconds}.${body}`)
    .digest("base64");
  return {
    method: "POST",
    body,
    headers: {
      "webhook-id": MESSAGE.id,
      "webhook-timestamp": seconds,
      "webhook-signature": `v1,${signature}`,
    },
  };
}

test("a genuine delivery is accepted, and a forged or oversized one is refused", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const statusOf = async (delivery: RequestInit) => (await fetch(receiver.target, delivery)).status;
  const early = statusOf(deliveryWith(SECRET));
  receiver.verifyWith(SECRET);
  expect(await early).toBe(204);
  expect(await statusOf(deliveryWith("cd".repeat(32)))).toBe(401);
  expect(await statusOf({ method: "POST", body: "{}" })).toBe(401);
  expect(
    await statusOf(deliveryWith(SECRET, JSON.stringify({ ...MESSAGE, data: "x".repeat(2 ** 24) }))),
  ).toBe(401);
});
