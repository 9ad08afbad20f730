import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import {
  type MilestoneChange,
  NetworkError,
  networkFilesFromJson,
  presets,
  type UntrustedNetworkFiles,
} from "../../src/index.ts";
import * as schemas from "../../src/networks/schema.ts";

const livenet = presets.livenet;

/** Livenet's files with other contents, as a JSON parser returns them. */
const changed = (files: Partial<UntrustedNetworkFiles>): UntrustedNetworkFiles =>
  structuredClone({ ...livenet, ...files });

const withMilestone = (change: Record<string, unknown>) =>
  changed({ milestones: [...livenet.milestones, { height: 9_000_000, ...change }] });

function refusal(files: UntrustedNetworkFiles): string {
  try {
    networkFilesFromJson(files);
  } catch (error) {
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as NetworkError).code).toBe("INVALID_NETWORK_FILE");
    return (error as NetworkError).message;
  }
  throw new Error("the files were accepted");
}

test("The schemas of the files are valid schemas: they are not checked when files are read.", () => {
  const ajv = new Ajv();
  for (const schema of Object.values(schemas)) {
    if (typeof schema === "object") expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
  }
});

describe("network files", () => {
  test.each(Object.entries(presets))("Network files of %s are accepted.", (_, files) => {
    expect(networkFilesFromJson(structuredClone(files))).toEqual(files);
  });

  test.each([
    [{ ...livenet.network, wif: 256 }, "network.json: wif must be an integer from 0 to 255"],
    [{ ...livenet.network, pubKeyHash: 0 }, "network.json: pubKeyHash must be an integer from 1 to 255"],
    [{ ...livenet.network, name: "" }, "network.json: name must be text, not empty"],
    [{ ...livenet.network, nethash: "AB" }, "network.json: nethash must be 64 lower-case hexadecimal digits"],
    [
      { ...livenet.network, client: { token: "unik", symbol: "UNIK" } },
      "network.json: client.explorer is missing: add it",
    ],
    [
      { ...livenet.network, foundation: { publickey: "02" } },
      "network.json: foundation.publicKey is missing: add it; " +
        "network.json: foundation.publickey is unknown to this node: correct its name or remove it",
    ],
    [
      { ...livenet.network, forgeFactory: { unikidWhiteList: ["fb", "fc"] } },
      "network.json: forgeFactory.unikidWhiteList.0 must be 64 lower-case hexadecimal digits; " +
        "network.json: forgeFactory.unikidWhiteList.1 must be 64 lower-case hexadecimal digits",
    ],
    [null, "network.json: the content must be an object"],
  ])("A wrong network.json is refused with the name of each wrong member (%#).", (network, message) => {
    expect(refusal(changed({ network }))).toBe(message);
  });

  test.each([
    [{}, "milestones.json: the content must be a list of at least one milestone"],
    [[], "milestones.json: the content must be a list of at least one milestone"],
    [[{ reward: 1 }], "milestones.json: 0.height is missing: add it"],
    [[{ height: 2, reward: 1 }], "milestones.json: no milestone has height 1: add one with all parameters"],
  ])("A list that cannot be merged is refused (%#).", (milestones, message) => {
    expect(refusal(changed({ milestones }))).toBe(message);
  });

  test.each([
    [{ unsTokenEcoV4: true }, "unsTokenEcoV4 is unknown to this node: correct its name or remove it"],
    [{ aip11: 1 }, "aip11 must be true or false"],
    [{ reward: 0.5 }, `reward must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`],
    [{ vendorFieldLength: 256 }, "vendorFieldLength must be an integer from 0 to 255"],
    [{ block: false }, "block must be an object"],
    [
      { voterMaximumWeight: true },
      "voterMaximumWeight must be false, or an object with an amount called individual",
    ],
    [{ urlCheckers: ["0"] }, "urlCheckers.0 must be 64 lower-case hexadecimal digits"],
  ])("A wrong milestone is refused at the height at which it starts (%#).", (change, message) => {
    const files = withMilestone(change);
    (files.milestones as MilestoneChange[]).push({ height: 9_000_001, p2p: { minimumVersions: [] } });
    expect(refusal(files)).toBe(`milestones.json, height 9000000: ${message}`);
  });

  test("A change can name a part of an object; the merged milestone must be complete.", () => {
    expect(() => networkFilesFromJson(withMilestone({ block: { maxPayload: 5 } }))).not.toThrow();
    const milestones = presets.unitnet.milestones.concat({
      height: 5,
      nbDelegatesByType: { individual: 51, organization: 0 },
    });
    expect(refusal(changed({ milestones }))).toBe(
      "milestones.json, height 5: nbDelegatesByType.network is missing: add it",
    );
  });

  test("The value false removes a limit.", () => {
    expect(() => networkFilesFromJson(withMilestone({ voterMaximumWeight: false }))).not.toThrow();
  });

  test("An epoch must be a time that exists.", () => {
    const milestones = livenet.milestones.map((change) =>
      change.height === 1 ? { ...change, epoch: "2017-13-21T13:00:00.000Z" } : change,
    );
    expect(refusal(changed({ milestones }))).toBe("milestones.json, height 1: epoch must be an existing day");
  });

  test("A change of the number of delegates inside a round is refused.", () => {
    const files = changed({ milestones: [...livenet.milestones, { height: 25, activeDelegates: 24 }] });
    expect(() => networkFilesFromJson(files)).toThrow(
      expect.objectContaining({ code: "InvalidMilestoneConfigurationError" }),
    );
  });

  test("A change of the number of delegates inside a round is refused, also if an entry in between repeats the number.", () => {
    const { milestones, network } = livenet;
    const size = Number(milestones[0]?.activeDelegates);
    const changes = [
      { height: size + 2, activeDelegates: size },
      { height: 2 * size + 2, activeDelegates: size + 1 },
    ];
    const files = changed({ network, milestones: [...milestones.slice(0, 1), ...changes] });
    expect(refusal(files)).toMatch(
      /^milestones\.json: activeDelegates changes at height \d+, inside a round/,
    );
  });

  test("Exceptions are lists of ids.", () => {
    const id = "ab".repeat(32);
    const exceptions = {
      blocks: ["10370119864814436559", id],
      blocksTransactions: { "10370119864814436559": [id] },
      transactions: [id],
      outlookTable: { "1": "2" },
      transactionIdFixTable: { [id]: id },
      wrongTransactionOrder: { [id]: [id] },
      negativeBalances: { key: { "1": "-5" } },
    };
    expect(networkFilesFromJson(changed({ exceptions })).exceptions).toEqual(exceptions);
    expect(refusal(changed({ exceptions: { blocks: ["x"], transaction: [] } }))).toBe(
      "exceptions.json: transaction is unknown to this node: correct its name or remove it; " +
        "exceptions.json: blocks.0 must be a block id: 1 to 20 decimal digits or 64 lower-case hexadecimal digits",
    );
  });

  test("The errors of all files are reported at once.", () => {
    const message = refusal({ network: {}, milestones: 1, exceptions: [] });
    for (const file of ["network.json", "milestones.json", "exceptions.json"]) {
      expect(message).toContain(`${file}: `);
    }
  });
});
