/** Sessions of a dev chain, which outlive the process. */

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { MAX_SESSIONS, SESSION_FILE, SessionFile, Sessions } from "../../../src/http/console/sessions.ts";
import { present } from "../../../src/platform/present.ts";

const HOUR_MS = 3_600_000;

function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-sessions-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const clock = { nowMs: 1_700_000_000_000 };
  return {
    folder,
    path: join(folder, SESSION_FILE),
    clock,
    lines,
    start: (token = "token") =>
      new Sessions({ nowMs: () => clock.nowMs, token, storage: new SessionFile(folder, logger) }),
  };
}

test("A session survives a restart until it expires or is ended.", () => {
  const { start, clock } = openFolder();
  const first = start();
  const [one, other] = [first.open(), first.open()];
  first.end(other);
  const second = start();
  expect([second.endOf(one), second.endOf(other)]).toEqual([one.expiresMs, undefined]);
  clock.nowMs += 12 * HOUR_MS;
  expect(start().endOf(one)).toBeUndefined();
});

test("The file contains no secret, and only its owner can read it.", () => {
  const { start, path } = openFolder();
  const { cookie, key } = start().open();
  const text = readFileSync(path, "utf8");
  expect([text.includes(cookie), text.includes(key)]).toEqual([false, false]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("With another webhook token, earlier sessions are invalid.", () => {
  const { start } = openFolder();
  const session = start("one").open();
  expect(start("another").endOf(session)).toBeUndefined();
  expect(start("one").endOf(session)).toBeDefined();
});

test("The file contains as many sessions as allowed.", () => {
  const { start } = openFolder();
  const first = start();
  const opened = Array.from({ length: MAX_SESSIONS + 5 }, () => first.open());
  const second = start();
  expect(second.figures().sessions).toBe(MAX_SESSIONS);
  expect(second.endOf(present(opened.at(-1), "a session"))).toBeDefined();
});

test.each([
  ["empty", ""],
  ["cut off", '[["ab'],
  ["of another kind", '{"sessions":[]}'],
  ["with other members", '[["x",1]]'],
  ["with an invalid time", `[["${"a".repeat(64)}","tomorrow"]]`],
  ["too large", `[${" ".repeat(40_000)}]`],
])("A file that is %s signs out, is logged, and is replaced.", (_what, text) => {
  const { start, path, lines } = openFolder();
  writeFileSync(path, text);
  const first = start();
  expect(first.figures().sessions).toBe(0);
  expect(lines).toEqual([expect.stringContaining("failed to read the console sessions")]);
  const session = first.open();
  expect(start().endOf(session)).toBeDefined();
});

test("If the folder is not writable, sign in still works, and the log names the effect of a restart.", () => {
  const { start, folder, lines, path } = openFolder();
  const sessions = start();
  rmSync(folder, { recursive: true });
  expect(sessions.endOf(sessions.open())).toBeDefined();
  expect(existsSync(path)).toBe(false);
  expect(lines).toEqual([expect.stringContaining("a restart will sign out")]);
});
