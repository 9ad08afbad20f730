import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkpointText, parseCheckpoint, readCheckpoint } from "../../src/proofs/index.ts";
import { provenExample } from "../../test-support/proofs/example.ts";
import { createRandom } from "../../test-support/proofs/scene.ts";

const { checkpoint } = provenExample(createRandom(1), 0);

test("A checkpoint is read from its lines and from its JSON.", () => {
  const lines = checkpointText(checkpoint);
  expect(parseCheckpoint(lines)).toEqual(checkpoint);
  expect(parseCheckpoint(lines.replaceAll("\n", "\r\n"))).toEqual(checkpoint);
  expect(parseCheckpoint(JSON.stringify(checkpoint, null, 2))).toEqual(checkpoint);
  // A QR code of version 40 has 2,953 bytes.
  expect(lines.length).toBeLessThan(2_400);
});

describe("A checkpoint is refused with an error that names the next step, if", () => {
  const { network, keys } = checkpoint;
  const without = (part: Partial<typeof network>) => ({ ...checkpoint, network: { ...network, ...part } });
  test.each<[string, unknown]>([
    ["it is not an object", []],
    ["the network is missing", { ...checkpoint, network: undefined }],
    ["the nethash is invalid", without({ nethash: "f8" })],
    ["the address version is not a byte", without({ addressVersion: 256 })],
    ["the epoch is not a time", without({ epoch: "2017-99-21T13:00:00.000Z" })],
    ["the time of a slot is zero", without({ blockTime: 0 })],
    ["the numbers of delegates are missing", without({ delegates: [] })],
    ["the first number of delegates begins late", without({ delegates: [{ height: 2, count: 23 }] })],
    [
      "the number of delegates changes within a round",
      without({
        delegates: [
          { height: 1, count: 23 },
          { height: 30, count: 20 },
        ],
      }),
    ],
    ["the height is not a whole number", { ...checkpoint, height: 1.5 }],
    ["the id is a partial one", { ...checkpoint, id: "16878283292378148193" }],
    ["the time is negative", { ...checkpoint, timestamp: -1 }],
    ["a key occurs twice", { ...checkpoint, keys: [...keys.slice(1), keys[1]] }],
    ["there are more keys than delegates", { ...checkpoint, keys: [...keys, `02${"0".repeat(64)}`] }],
    ["the keys are missing", { ...checkpoint, keys: [] }],
    ["a key is in upper case", { ...checkpoint, keys: [keys[0]?.toUpperCase()] }],
  ])("%s.", (_, value) => {
    expect(() => readCheckpoint(value)).toThrow(/^the checkpoint is invalid: .+; print a new one with/);
    expect(() => parseCheckpoint(JSON.stringify(value))).toThrow("the checkpoint is invalid");
  });

  test.each(["", "uniknode checkpoint 2", "{", "uniknode checkpoint 1", "x".repeat(100_000)])(
    "A checkpoint with the text %j is refused with an error that names the next step.",
    (text) => expect(() => parseCheckpoint(text)).toThrow("the checkpoint is invalid"),
  );
});

test("Every checkpoint of a known network is named by its nethash.", () => {
  const folder = fileURLToPath(new URL("../../checkpoints/", import.meta.url));
  for (const file of readdirSync(folder).filter((name) => name !== "README.md")) {
    const { network } = parseCheckpoint(readFileSync(`${folder}${file}`, "utf8"));
    expect(file).toBe(`${network.nethash}.txt`);
  }
});
