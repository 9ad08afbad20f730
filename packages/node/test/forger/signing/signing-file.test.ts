/** The signing record as a file: its content is never lost, damage is refused, and a crash costs nothing. */

import { spawn } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Signing } from "../../../src/forger/signing/guard.ts";
import { SigningFile, SigningRecordError } from "../../../src/forger/signing/signing-file.ts";
import { failureReason } from "../../../src/forger/slot-block.ts";
import { present } from "../../../src/platform/present.ts";
import { dataErrorOf } from "../../../src/store/engine/data-error.ts";
import { createDraws } from "../../../test-support/random.ts";

const NETHASH = "ab".repeat(32);
const OTHER_NETHASH = "cd".repeat(32);
const ALICE = `02${"11".repeat(32)}`;
const BOB = `03${"22".repeat(32)}`;

const signing = (publicKey: string, slot: number): Signing => ({
  publicKey,
  slot,
  height: slot - 1,
  blockId: slot.toString(16).padStart(64, "0"),
});

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-signing-"));
  path = join(folder, "record");
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (known: Signing[] = [], nethash = NETHASH) => new SigningFile(path, { nethash, known });

/** Result of a process that opens the record now. */
function slotsOf(...publicKeys: string[]): (number | undefined)[] {
  const record = open();
  const slots = publicKeys.map((publicKey) => record.lastSigned(publicKey)?.slot);
  record.close();
  return slots;
}

function write(...signings: Signing[]): void {
  const record = open();
  for (const one of signings) record.add(one);
  record.close();
}

const errorOf = (work: () => unknown): SigningRecordError => {
  try {
    work();
  } catch (error) {
    return error as SigningRecordError;
  }
  throw new Error("no error was thrown");
};

describe("the record", () => {
  test("The record stores the highest slot of every key, and the block that was signed there.", () => {
    write(signing(ALICE, 5), signing(BOB, 6), signing(ALICE, 8), signing(ALICE, 7));
    const record = open();
    expect(record.isNew).toBe(false);
    expect(record.lastSigned(ALICE)).toMatchObject(signing(ALICE, 8));
    expect(record.lastSigned(BOB)).toMatchObject(signing(BOB, 6));
    expect(record.lastSigned(`02${"33".repeat(32)}`)).toBeUndefined();
    record.close();
  });

  test("The record is readable text, for its owner alone.", () => {
    write(signing(ALICE, 5));
    expect(readFileSync(path, "utf8")).toMatch(
      new RegExp(`^uniknode-signing-record 1\n${NETHASH} ${ALICE} 5 4 0{63}5 [0-9a-f]{8}\n$`),
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("The record separates networks and preserves the entries of others.", () => {
    write(signing(ALICE, 5));
    const other = open([], OTHER_NETHASH);
    expect(other.lastSigned(ALICE)).toBeUndefined();
    other.add(signing(ALICE, 900));
    other.close();
    expect(slotsOf(ALICE)).toEqual([5]);
  });

  test("The record takes later slots from the data folder, and no earlier ones.", () => {
    expect(errorOf(() => statSync(path))).toBeInstanceOf(Error);
    const created = open([signing(ALICE, 5)]);
    expect(created.isNew).toBe(true);
    created.close();
    open([signing(ALICE, 3), signing(BOB, 9)]).close();
    expect(slotsOf(ALICE, BOB)).toEqual([5, 9]);
  });

  test("The record does not grow with the number of signings.", () => {
    const record = open();
    for (let slot = 1; slot <= 1_100; slot++) record.add(signing(ALICE, slot));
    record.close();
    const lines = () => readFileSync(path, "utf8").trimEnd().split("\n").length;
    expect(lines()).toBeLessThanOrEqual(1_002);
    expect(slotsOf(ALICE)).toEqual([1_100]);
    expect(lines()).toBe(2);
  });

  test("The record is rewritten completely when it is moved away, or replaced by an older copy.", () => {
    const record = open();
    record.add(signing(ALICE, 5));
    copyFileSync(path, join(folder, "copy"));
    renameSync(path, join(folder, "moved"));
    record.add(signing(BOB, 6));
    copyFileSync(join(folder, "copy"), path);
    record.add(signing(ALICE, 7));
    record.close();
    expect(slotsOf(ALICE, BOB)).toEqual([7, 6]);
  });

  test("The record is followed through a symbolic link, with one lock for both names.", () => {
    write(signing(ALICE, 5));
    const link = join(folder, "link");
    symlinkSync(path, link);
    const record = open();
    const error = errorOf(() => new SigningFile(link, { nethash: NETHASH, known: [] }));
    expect(error.code).toBe("SIGNING_RECORD_IN_USE");
    record.close();
    const linked = new SigningFile(link, { nethash: NETHASH, known: [] });
    linked.add(signing(ALICE, 6));
    linked.close();
    expect(slotsOf(ALICE)).toEqual([6]);
  });
});

describe("an untrustworthy record is refused", () => {
  const contents: [string, (content: string) => string][] = [
    ["an empty file", () => ""],
    ["another file", () => '{"secrets": []}\n'],
    ["a digit that was changed", (content) => content.replace(` ${ALICE} 5 `, ` ${ALICE} 4 `)],
    ["a changed digit in the last line", (content) => content.replace(` ${BOB} 6 `, ` ${BOB} 5 `)],
    ["half a line in the middle", (content) => content.replace(/ 5 4 \w+ \w+\n/, "\n")],
    ["an empty line in the middle", (content) => content.replace("\n", "\n\n")],
    ["zeros in the middle", (content) => content.replace(` ${ALICE} `, ` ${"\0".repeat(66)} `)],
  ];

  test.each(contents)("%s", (_, damage) => {
    write(signing(ALICE, 5), signing(BOB, 6));
    const damaged = damage(readFileSync(path, "utf8"));
    writeFileSync(path, damaged);
    const error = errorOf(open);
    expect(error.code).toBe("SIGNING_RECORD_DAMAGED");
    expect(error.isRetryable).toBe(false);
    expect(error.message).toContain(`${path} is damaged (`);
    expect(error.message).toContain("move the file away");
    expect(readFileSync(path, "utf8")).toBe(damaged);
  });

  test("A record of a later version is refused.", () => {
    writeFileSync(path, "uniknode-signing-record 2\n");
    expect(errorOf(open).message).toContain("unsupported version");
  });

  test("An oversized file is refused without being read.", () => {
    write(signing(ALICE, 5));
    truncateSync(path, 5 * 1024 * 1024);
    expect(errorOf(open).message).toContain("larger than");
  });

  test("A folder at the path of the record is refused.", () => {
    path = folder;
    const error = errorOf(open);
    expect(error.code).toBe("SIGNING_RECORD_UNUSABLE");
    // Another file would be empty, and chown would not help.
    expect(error.message).not.toMatch(/--signing-record|chown/);
    rmSync(`${folder}.lock`, { force: true });
  });
});

test("A signature that cannot be written counts, and the next one is written with it.", () => {
  const record = open();
  record.add(signing(ALICE, 5));
  rmSync(path);
  // A folder is at the path of the new file.
  const [part, away] = [`${path}.part`, join(folder, "away")];
  const blocker = mkdtempSync(`${path}.`);
  renameSync(blocker, part);
  const error = errorOf(() => record.add(signing(ALICE, 6)));
  expect(error).toBeInstanceOf(SigningRecordError);
  expect(error.code).toBe("SIGNING_RECORD_UNUSABLE");
  expect(record.lastSigned(ALICE)?.slot).toBe(6);
  renameSync(part, away);
  record.add(signing(BOB, 7));
  record.close();
  expect(slotsOf(ALICE, BOB)).toEqual([6, 7]);
});

test("A full disk of the record is not reported as the disk of the database.", () => {
  const record = open();
  record.add(signing(ALICE, 5));
  rmSync(path);
  symlinkSync("/dev/full", `${path}.part`);
  const error = errorOf(() => record.add(signing(ALICE, 6)));
  record.close();
  expect(failureReason(error)).toContain(
    `failed to create the block: the signing record ${path} cannot be used: ENOSPC`,
  );
  expect(dataErrorOf(error, join(folder, "node.sqlite"), "")).toBe(error);
});

describe("one process holds it at a time", () => {
  test("The next process gets the record when the first has released it, or was refused because of damage.", () => {
    const record = open();
    const error = errorOf(open);
    expect(error.code).toBe("SIGNING_RECORD_IN_USE");
    expect(error.isRetryable).toBe(true);
    record.close();
    open().close();
    writeFileSync(path, "damaged");
    expect(errorOf(open).code).toBe("SIGNING_RECORD_DAMAGED");
    expect(errorOf(open).code).toBe("SIGNING_RECORD_DAMAGED");
  });
});

describe("a crash during a signature", () => {
  test("A crash during a signature, anywhere in the line, preserves earlier signatures.", () => {
    write(signing(ALICE, 5));
    const record = open();
    const before = statSync(path).size;
    record.add(signing(BOB, 6));
    record.close();
    const whole = readFileSync(path);
    for (let length = before; length < whole.length; length += 3) {
      for (const zeros of [0, whole.length - length]) {
        writeFileSync(path, whole.subarray(0, length));
        appendFileSync(path, Buffer.alloc(zeros));
        const [alice, bob] = slotsOf(ALICE, BOB);
        expect([length, alice]).toEqual([length, 5]);
        expect([undefined, 6]).toContain(bob);
      }
    }
  });

  test("A crash during a signature whose first half did not reach the disk preserves earlier signatures.", () => {
    write(signing(ALICE, 5));
    const before = statSync(path).size;
    const record = open();
    record.add(signing(BOB, 6));
    record.close();
    const torn = readFileSync(path).fill(0, before, before + 70);
    writeFileSync(path, torn);
    expect(slotsOf(ALICE, BOB)).toEqual([5, undefined]);
  });

  test("Random runs with crashes, old data folders and clocks that go back never sign a slot twice.", () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = createDraws(seed);
      rmSync(path, { force: true });
      const left = new Set<string>();
      /** Slot in the data folder at some time. */
      const backups: Signing[][] = [[]];
      const known = new Map<string, Signing>();
      for (let life = 0; life < 8; life++) {
        const record = open(random.pick(backups));
        for (let count = random.integer(0, 12); count > 0; count--) {
          const one = signing(random.pick([ALICE, BOB]), random.integer(1, 60));
          if ((record.lastSigned(one.publicKey)?.slot ?? -1) >= one.slot) continue;
          const before = readFileSync(path);
          record.add(one);
          if (random.chance(0.15)) {
            // The crash came before `add` returned: any part of the line may be there, and no block was sent.
            const written = readFileSync(path);
            if (written.length > before.length) {
              writeFileSync(path, written.subarray(0, random.integer(before.length, written.length)));
            }
            break;
          }
          const block = `${one.publicKey} ${one.slot}`;
          expect([seed, block, left.has(block)]).toEqual([seed, block, false]);
          left.add(block);
          known.set(one.publicKey, one);
          backups.push([...known.values()]);
        }
        record.close();
      }
    }
  });

  test("A process that is killed at any moment loses no signature.", async () => {
    const random = createDraws(7);
    let last = 0;
    for (let life = 0; life < 5; life++) {
      const child = spawn(
        process.execPath,
        ["--input-type=module-typescript", "--eval", SIGNER, path, NETHASH, ALICE],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const killAfter = last + random.integer(5, 400);
      createInterface(child.stdout).on("line", (line) => {
        last = Number(line);
        if (last >= killAfter) child.kill("SIGKILL");
      });
      await new Promise((resolve) => child.once("close", resolve));
      const record = open();
      expect(record.lastSigned(ALICE)?.slot).toBeGreaterThanOrEqual(last);
      last = present(record.lastSigned(ALICE), "the result of lastSigned").slot;
      record.close();
    }
    expect(last).toBeGreaterThan(100);
  });
});

/** Another process that signs slot after slot and prints each as soon as its block may be sent. */
const SIGNER = `
  import { writeSync } from "node:fs";
  import { SigningFile } from ${JSON.stringify(new URL("../../../src/forger/signing/signing-file.ts", import.meta.url))};
  const [path, nethash, publicKey] = process.argv.slice(1);
  const record = new SigningFile(path, { nethash, known: [] });
  for (let slot = (record.lastSigned(publicKey)?.slot ?? 0) + 1; ; slot++) {
    record.add({ publicKey, slot, height: slot, blockId: slot.toString(16).padStart(64, "0") });
    writeSync(1, slot + "\\n");
  }`;
