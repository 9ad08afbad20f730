/** Passphrases in files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keysFromPassphrase } from "@uniknode/protocol";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import { readKeys } from "../../src/submission/passphrases.ts";

const PHRASE = "clé de la maison";

let folder: string;
let warnings: string[];
let written: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-secrets-"));
  warnings = [];
  written = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    warnings.push(`${text}`);
    return true;
  });
});
afterEach(() => {
  written.mockRestore();
  rmSync(folder, { recursive: true, force: true });
});

async function keysOf(content: string | Uint8Array) {
  const file = join(folder, "passphrase");
  writeFileSync(file, content);
  const options = { name: "passphrase", variable: "NO_SUCH_VARIABLE", flag: "--passphrase-file" };
  return (await readKeys({ ...options, file })).publicKey;
}

test.each([
  ["a line without an end", PHRASE],
  ["a line", `${PHRASE}\n`],
  ["a line of Windows and a second line", `${PHRASE}\r\nother`],
  ["a byte order mark", `\uFEFF${PHRASE}\n`],
])("%s is the passphrase without its end and its mark", async (_, content) => {
  expect(await keysOf(content)).toEqual(keysFromPassphrase(PHRASE).publicKey);
  expect(warnings).toEqual([]);
});

test("Invalid UTF-8 is refused: files with different bytes would have one address.", async () => {
  for (const byte of [0xe9, 0xff]) {
    const content = Buffer.concat([Buffer.from("cl"), Buffer.from([byte]), Buffer.from(" de la maison\n")]);
    await expect(keysOf(content)).rejects.toThrow(/cannot be read: it is not UTF-8; name a file/);
  }
});

test.each([`${PHRASE} \n`, ` ${PHRASE}`, `${PHRASE}\t`])(
  "%j is used as it is, with a warning",
  async (content) => {
    expect(await keysOf(content)).toEqual(keysFromPassphrase(content.replace("\n", "")).publicKey);
    expect(warnings).toEqual(["warning: the passphrase begins or ends with a blank, which is part of it\n"]);
  },
);

const GENERATED = "tiny border lens sample arena stairs movie pitch office eye culture long";

test.each([
  [GENERATED, []],
  [GENERATED.replace("long", "lonq"), ["word 12 of the passphrase is not in the list of words"]],
  [GENERATED.replace("tiny", "Tiny").replace("long", "lonq"), ["words 1 and 12 of the passphrase are not"]],
  ["twelve words that were not taken from that list of words at all", []],
  [`${GENERATED.replace("long", "lonq")} `, ["begins or ends with a blank"]],
])("%j has the expected warnings, without its text", async (content, expected) => {
  await keysOf(content);
  expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text)));
  expect(warnings.join("")).not.toContain("lonq");
});
