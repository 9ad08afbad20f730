import { expect, test } from "vitest";
import { MAX_CODES, MAX_SESSIONS, Sessions } from "../../../src/http/console/sessions.ts";
import { present } from "../../../src/platform/present.ts";

const HOUR_MS = 3_600_000;

function open() {
  const clock = { nowMs: 1_700_000_000_000 };
  return { clock, sessions: new Sessions({ nowMs: () => clock.nowMs, token: "t" }) };
}

test("A code is valid once.", () => {
  const { sessions } = open();
  const { secret } = sessions.issueCode();
  expect([sessions.useCode(secret), sessions.useCode(secret)]).toEqual([true, false]);
});

test("A code expires after ten minutes, but that of the start only with its use.", () => {
  const { clock, sessions } = open();
  const codes = [sessions.issueCode(), sessions.issueCode("until used")];
  clock.nowMs += 600_000;
  expect(codes.map(({ secret }) => sessions.useCode(secret))).toEqual([false, true]);
});

test("A session expires after twelve hours, or when it is ended.", () => {
  const { clock, sessions } = open();
  const [one, other] = [sessions.open(), sessions.open()];
  sessions.end(other);
  clock.nowMs += 12 * HOUR_MS - 1;
  expect([sessions.endOf(one), sessions.endOf(other)]).toEqual([one.expiresMs, undefined]);
  clock.nowMs += 1;
  expect(sessions.endOf(one)).toBeUndefined();
});

test("A code is not a session, and a session not a code.", () => {
  const { sessions } = open();
  const { secret } = sessions.issueCode();
  expect(sessions.endOf({ cookie: secret, key: secret })).toBeUndefined();
  const { cookie, key } = sessions.open();
  expect([sessions.useCode(cookie), sessions.useCode(key)]).toEqual([false, false]);
});

test("Beyond the bounds the oldest ones end.", () => {
  const { sessions } = open();
  const codes = Array.from({ length: MAX_CODES + 1 }, () => sessions.issueCode());
  const opened = Array.from({ length: MAX_SESSIONS + 1 }, () => sessions.open());
  expect(sessions.figures()).toEqual({ codes: MAX_CODES, sessions: MAX_SESSIONS });
  expect(codes.map(({ secret }) => sessions.useCode(secret))).toEqual([
    false,
    ...codes.slice(1).map(() => true),
  ]);
  expect(sessions.endOf(present(opened[0], "the oldest session"))).toBeUndefined();
  expect(sessions.endOf(present(opened[1], "the next session"))).toBeDefined();
});

test("A session needs both of its secrets, and neither is part of the other.", () => {
  const { sessions } = open();
  const [one, other] = [sessions.open(), sessions.open()];
  for (const secrets of [
    { cookie: one.cookie, key: other.key },
    { cookie: one.key, key: one.cookie },
    { cookie: one.cookie, key: "" },
    { cookie: "", key: one.key },
    { cookie: `${one.cookie} ${one.key}`, key: "" },
  ]) {
    sessions.end(secrets);
    expect(sessions.endOf(secrets)).toBeUndefined();
  }
  expect(sessions.endOf(one)).toBe(one.expiresMs);
});
