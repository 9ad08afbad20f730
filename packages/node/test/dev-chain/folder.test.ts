/** Data folder of a dev chain, which can be reset. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { claimFolder, resetFolder } from "../../src/dev-chain/folder.ts";
import { openSessionFile } from "../../src/http/console/session-file.ts";
import { createSessions } from "../../src/http/console/sessions.ts";

test("A reset ends console sessions, and keeps files that are not of the chain.", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  claimFolder(folder, { mnemonic: "test", accounts: 1, blockTime: 1 });
  writeFileSync(join(folder, "notes.txt"), "mine");
  const start = () =>
    createSessions({
      nowMs: Date.now,
      token: "token",
      storage: openSessionFile(folder, pino({ level: "silent" })),
    });
  const session = start().open();
  expect(start().endOf(session)).toBeDefined();
  resetFolder(folder);
  expect(existsSync(folder) && readdirSync(folder)).toEqual(["notes.txt"]);
  expect(start().endOf(session)).toBeUndefined();
});
