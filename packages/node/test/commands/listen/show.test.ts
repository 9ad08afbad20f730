/** How arrivals look. */
import { DeliveryError } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { arrivalJson, arrivalLine } from "../../../src/commands/listen/show.ts";

const delivery = { id: "msg_1", event: "block.applied", timestamp: 1, webhookId: 1, sequence: 7, height: 9 };
const arrival = (members: object = {}, attempt = 1) => ({
  receivedMs: Date.parse("2026-01-02T03:04:05"),
  status: 204,
  attempt,
  delivery: { ...delivery, ...members },
});
const refused = {
  receivedMs: Date.parse("2026-01-02T03:04:05"),
  status: 401,
  refusal: new DeliveryError({ code: "DELIVERY_SIGNATURE_WRONG" }, "no signature fits"),
};

describe("a line", () => {
  test("tells time, event, sequence, height, attempt, what was answered, and a little of the data", () => {
    const data = { version: 0, id: "ab".repeat(32), numberOfTransactions: 2, payloadHash: "cd".repeat(32) };
    expect(arrivalLine(arrival({ data }, 3))).toBe(
      "03:04:05  block.applied             #7  height 9  attempt 3  verified, answered 204  id abababababab  numberOfTransactions 2",
    );
  });

  test("leaves out what a ping does not have", () => {
    const ping = { event: "ping", sequence: undefined, height: undefined };
    expect(arrivalLine(arrival(ping))).toBe(
      "03:04:05  ping                      attempt 1  verified, answered 204",
    );
  });

  test("names what it takes back", () => {
    expect(arrivalLine(arrival({ reverts: "msg_0" }))).toContain("takes back msg_0");
  });

  test("shows the beginning of data that has no telling member", () => {
    const line = arrivalLine(arrival({ data: { delegate: { username: "x".repeat(200) } } }));
    expect(line).toMatch(/ {2}\{"delegate":\{"username":"x+ \.\.\.$/);
    expect(line.length).toBeLessThan(200);
    expect(arrivalLine(arrival({ data: [1, 2] }))).toMatch(/ {2}\[1,2\]$/);
  });

  test("does not obey a delivery: control characters are escaped", () => {
    const evil = "\u001b[2J\nfaked line";
    for (const members of [
      { event: evil },
      { data: { error: evil } },
      { data: { other: evil } },
      { reverts: evil },
    ]) {
      const line = arrivalLine(arrival(members));
      expect(line).toContain("\\u001b[2J\\nfaked line");
      expect(line).not.toContain("\u001b");
      expect(line).not.toContain("\n");
    }
  });

  test("says why something is not verified", () => {
    expect(arrivalLine(refused)).toBe(
      "03:04:05  NOT VERIFIED, answered 401: no signature fits (DELIVERY_SIGNATURE_WRONG)",
    );
  });
});

test("as JSON nothing is left out", () => {
  const data = { amount: "1", asset: { a: 1 } };
  expect(JSON.parse(arrivalJson(arrival({ data }, 2)))).toEqual({
    receivedAt: refused.receivedMs,
    answered: 204,
    verified: true,
    attempt: 2,
    delivery: { ...delivery, data },
  });
  expect(JSON.parse(arrivalJson(refused))).toEqual({
    receivedAt: refused.receivedMs,
    answered: 401,
    verified: false,
    code: "DELIVERY_SIGNATURE_WRONG",
    message: "no signature fits",
  });
});
