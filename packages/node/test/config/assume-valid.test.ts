/** Option for the block up to which signatures are not checked. */
import { livenet, networkFilesFromJson } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { choosePin } from "../../src/config/assume-valid.ts";
import { runOptions } from "../../src/config/options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";

const ID = "ab".repeat(32);
const read = (assumeValid: unknown) =>
  resolveConfig({ assumeValid: runOptions.assumeValid }, { flags: { assumeValid }, environment: {} })
    .assumeValid;

describe("the option", () => {
  test("The option is a height and a full id, or none, or absent.", () => {
    expect(read(`4000000:${ID}`)).toBe(`4000000:${ID}`);
    expect(read("none")).toBe("none");
    expect(read(undefined)).toBeUndefined();
  });

  test.each([
    "",
    "4000000",
    `:${ID}`,
    `0:${ID}`,
    `1:${ID}`,
    `4294967296:${ID}`,
    `99999999999:${ID}`,
    `-5:${ID}`,
    `5.5:${ID}`,
    `5:${ID.toUpperCase()}`,
    `5:${ID.slice(1)}`,
    "5:17184958558311101492",
    5,
    true,
  ])("The option refuses %s and names the expected format.", (value) => {
    expect(() => read(value)).toThrow(/--assume-valid: none or HEIGHT:ID is expected: .*64 .*digits/);
  });
});

describe("the pin", () => {
  const own = { assumeValid: `7:${ID}` };
  const said = `9:${"cd".repeat(32)}`;

  test("The pin is that of the network unless another one is given.", () => {
    expect(choosePin(undefined, own, { forges: false })).toEqual({ height: 7, id: ID });
    expect(choosePin(said, own, { forges: false })).toEqual({ height: 9, id: "cd".repeat(32) });
    expect(choosePin("none", own, { forges: false })).toBeUndefined();
    expect(choosePin(undefined, {}, { forges: false })).toBeUndefined();
  });

  test("The pin is used by a forging node only if it is given.", () => {
    expect(choosePin(undefined, own, { forges: true })).toBeUndefined();
    expect(choosePin(said, own, { forges: true })).toEqual({ height: 9, id: "cd".repeat(32) });
  });
});

test("The pin can be in the file of a network, and invalid texts are refused.", () => {
  const files = (assumeValid: unknown) => ({
    network: { ...livenet.network, assumeValid },
    milestones: livenet.milestones,
    exceptions: livenet.exceptions,
  });
  expect(networkFilesFromJson(files(`7:${ID}`)).network.assumeValid).toBe(`7:${ID}`);
  for (const wrong of ["none", `1:${ID}`, `7:${ID}0`, 7]) {
    expect(() => networkFilesFromJson(files(wrong))).toThrow(/assumeValid.*HEIGHT:ID/);
  }
});
