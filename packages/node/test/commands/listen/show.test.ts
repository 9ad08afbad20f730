/** Formats of received requests. */
import { stripVTControlCharacters } from "node:util";
import { DeliveryError } from "@uniknode/client";
import { describe, expect, test } from "vitest";
import { requestJson, requestLine } from "../../../src/commands/listen/command.ts";

const delivery = { id: "msg_1", event: "block.applied", timestamp: 1, webhookId: 1, sequence: 7, height: 9 };
const received = (members: object = {}, attempt = 1) => ({
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

describe("the line", () => {
  test("The line shows time, the status of the response, event, sequence, height and some of the data.", () => {
    const data = { version: 0, id: "ab".repeat(32), numberOfTransactions: 2, payloadHash: "cd".repeat(32) };
    expect(requestLine(received({ data }))).toBe(
      "03:04:05  204  block.applied  #7  height 9  verified  id abababababab  numberOfTransactions 2",
    );
  });

  test("The line shows the attempt from the second one on.", () => {
    expect(requestLine(received({}, 3))).toBe(
      "03:04:05  204  block.applied  #7  height 9  attempt 3  verified",
    );
  });

  test("The line omits members that a ping does not have.", () => {
    const ping = { event: "ping", sequence: undefined, height: undefined };
    expect(requestLine(received(ping))).toBe("03:04:05  204  ping  verified");
  });

  test("The line has colours only on request: green or red for the status, yellow for a retraction.", () => {
    const style = { hasColors: true };
    expect(requestLine(received(), style)).toBe(
      "\u001b[2m03:04:05\u001b[0m  \u001b[32m204\u001b[0m  \u001b[1mblock.applied\u001b[0m  #7  height 9  verified",
    );
    expect(requestLine({ ...received(), status: 503 }, style)).toContain("\u001b[31m503\u001b[0m");
    expect(requestLine(received({ reverts: "msg_0" }), style)).toContain("\u001b[33mblock.applied\u001b[0m");
    const refusal = requestLine(refused, style);
    expect(refusal).toBe(`\u001b[31m${requestLine(refused)}\u001b[0m`);
  });

  test("The line is cut to the width of the terminal, with and without colours.", () => {
    const data = { other: "x".repeat(200) };
    for (const columns of [12, 20, 40, 80]) {
      const line = requestLine(received({ data }), { hasColors: false, columns });
      expect(line).toHaveLength(columns);
      expect(line.endsWith("…")).toBe(true);
      const colored = requestLine(received({ data }), { hasColors: true, columns });
      expect(stripVTControlCharacters(colored)).toBe(line);
    }
    // A terminal can have an unknown width.
    const whole = requestLine(received({ data }));
    expect(requestLine(received({ data }), { hasColors: false, columns: 0 })).toBe(whole);
  });

  test("The line names the delivery that it retracts.", () => {
    expect(requestLine(received({ reverts: "msg_0" }))).toContain("retracts msg_0");
  });

  test("The line shows the beginning of data that has no member of the short form.", () => {
    const line = requestLine(received({ data: { delegate: { username: "x".repeat(200) } } }));
    expect(line).toMatch(/ {2}\{"delegate":\{"username":"x+ \.\.\.$/);
    expect(line.length).toBeLessThan(200);
    expect(requestLine(received({ data: [1, 2] }))).toMatch(/ {2}\[1,2\]$/);
  });

  test("The line escapes control characters.", () => {
    const evil = "\u001b[2J\nfaked line";
    for (const members of [
      { event: evil },
      { data: { error: evil } },
      { data: { other: evil } },
      { reverts: evil },
    ]) {
      const line = requestLine(received(members));
      expect(line).toContain("\\u001b[2J\\nfaked line");
      expect(line).not.toContain("\u001b");
      expect(line).not.toContain("\n");
    }
  });

  test("The line shows why a request is not verified.", () => {
    expect(requestLine(refused)).toBe(
      "03:04:05  NOT VERIFIED, responded 401: no signature fits (DELIVERY_SIGNATURE_WRONG)",
    );
  });
});

test("The JSON form has all members.", () => {
  const data = { amount: "1", asset: { a: 1 } };
  expect(JSON.parse(requestJson(received({ data }, 2)))).toEqual({
    receivedAt: refused.receivedMs,
    status: 204,
    verified: true,
    attempt: 2,
    delivery: { ...delivery, data },
  });
  expect(JSON.parse(requestJson(refused))).toEqual({
    receivedAt: refused.receivedMs,
    status: 401,
    verified: false,
    code: "DELIVERY_SIGNATURE_WRONG",
    message: "no signature fits",
  });
});
