/** Reasons of failed attempts in words. */
import { expect, test } from "vitest";
import { causeOf } from "../../src/screens/webhooks/cause.ts";

const TARGET = "https://receiver.example/hook?a=1";

test.each([
  ["ECONNREFUSED", "http://127.0.0.1:21005/", "Nothing listens at 127.0.0.1:21005."],
  ["ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:443", TARGET, "Nothing listens at receiver.example:443."],
  ["NAME_NOT_FOUND", TARGET, "receiver.example has no address."],
  ["TimeoutError: no response within 5000 ms", TARGET, "receiver.example:443 did not respond in time."],
  ["ECONNREFUSED", "nats://[::1]/subject", "Nothing listens at [::1]:4222."],
  ["HTTP 503", TARGET, "The receiver failed (HTTP 503)."],
  ["HTTP 404", TARGET, "The receiver has nothing at /hook (HTTP 404)."],
  ["HTTP 404", "https://receiver.example/$&%a", "The receiver has nothing at /$&%a (HTTP 404)."],
  ["HTTP 302", TARGET, "The receiver redirects to another address (HTTP 302)."],
])("The reason %j of %s is explained, with the next step.", (reason, target, text) => {
  const cause = causeOf(reason, target);
  expect(cause.text).toBe(text);
  expect(cause.advice).toMatch(/^[A-Z].*\.$/);
});

test.each([
  ["ECONNREFUSED", "Nothing listens at its target."],
  ["NAME_NOT_FOUND", "Its target has no address."],
  ["TimeoutError: no response within 5000 ms", "Its target did not respond in time."],
  ["HTTP 404", "The receiver has nothing at its path (HTTP 404)."],
  ["HTTP 503", "The receiver failed (HTTP 503)."],
])("The reason %j of an attempt is explained without its target, which is not recorded.", (reason, text) => {
  expect(causeOf(reason).text).toBe(text);
});

test.each([
  ["NATS_NO_STREAM: no stream of the server has the subject a", "No stream of the server has the subject a."],
  ["NEW_CODE: something else", "NEW_CODE: something else."],
  ["constructor: something else", "Constructor: something else."],
  ["the target failed for too long", "The target failed for too long."],
  ["", "The attempt failed."],
])("The reason %j, which has no explanation, is shown as a sentence.", (reason, text) => {
  expect(causeOf(reason, TARGET)).toEqual({ text });
});
