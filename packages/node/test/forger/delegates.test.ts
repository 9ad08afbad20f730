/** Keys with which a node forges, in the formats of operators (forger.md 1). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptBip38, keysFromPassphrase } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { delegatesFromSecrets, openDelegates, readSecrets, secretsOf } from "../../src/forger/delegates.ts";
import { ConfigError } from "../../src/platform/coded-error.ts";

const PASSWORD = "open sesame";
let folder: string;
let bip38: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-delegates-"));
  bip38 = await encryptBip38(keysFromPassphrase("three").privateKey, PASSWORD);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(content: unknown): string {
  const path = join(folder, "delegates.json");
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test("Passphrases and encrypted keys of file and environment are combined.", async () => {
  const delegates = fileOf({ secrets: ["one", " two "], bip38 });
  const opened = await openDelegates(
    secretsOf({ delegates, forgerSecrets: ["two", " four "], forgerSecret: "four" }),
    PASSWORD,
  );
  expect([...opened.keys()].sort()).toEqual(
    [...delegatesFromSecrets(["one", "two", "three", "four"]).keys()].sort(),
  );
});

test("An encrypted key can be alone, or among the passphrases.", async () => {
  const three = delegatesFromSecrets(["three"]);
  for (const content of [{ bip38 }, { secrets: [], bip38 }, { secrets: [bip38], bip38: "" }]) {
    expect(await openDelegates(readSecrets(fileOf(content)), PASSWORD)).toEqual(three);
  }
});

describe("the error names", () => {
  const SECRET = "clutch captain shoe salt awake";

  test.each([
    SECRET,
    `{"secrets": ["${SECRET}" "two"]}`,
    `{"secrets": ["${SECRET}`,
    `"${SECRET}"`,
    `{${SECRET}}`,
  ])("The error names a malformed file, without its content: %#.", (text) => {
    const path = join(folder, "malformed.json");
    writeFileSync(path, text);
    let message = "";
    try {
      readSecrets(path);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(
      /^delegates file .*malformed\.json cannot be read: it (is not JSON|must be an object)/,
    );
    for (const word of SECRET.split(" ")) expect(message).not.toContain(word.slice(0, 4));
  });

  test("The error names an encrypted key without a password, or with a wrong one.", async () => {
    await expect(openDelegates([bip38], undefined)).rejects.toThrow(
      /give its password in UNIKNODE_FORGER_PASSWORD/,
    );
    await expect(openDelegates([bip38], "close sesame")).rejects.toThrow(
      /UNIKNODE_FORGER_PASSWORD does not decrypt/,
    );
    await expect(openDelegates([bip38], "close sesame")).rejects.toThrow(ConfigError);
  });

  test.each([
    [{}, /delegates file .*: it must be an object with at least one passphrase/],
    [{ secrets: [] }, /delegates file .*: it must be an object with at least one passphrase/],
    [{ secrets: [1] }, /delegates file .*: \/secrets\/0 must be a passphrase/],
    [{ secrets: "one" }, /delegates file .*: \/secrets must be a list/],
    [{ secrets: [" "] }, /delegates file .*: \/secrets\/0 must be a passphrase/],
  ])("%j, which contains no secret", (content, message) => {
    expect(() => readSecrets(fileOf(content))).toThrow(message);
  });

  test.each([{ secrets: ["one"], bip38: "one" }, { bip38: 1 }])(
    "%j, which contains no encrypted key",
    (content) => {
      expect(() => readSecrets(fileOf(content))).toThrow(
        /delegates file .*: \/bip38 must be an encrypted key/,
      );
    },
  );
});
