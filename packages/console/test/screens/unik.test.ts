/** The page of a unik: groups of its properties, and what its transactions have changed. */
import { expect, test } from "vitest";
import { groupsOf, nameOf } from "../../src/screens/uniks/properties.tsx";
import { changesOf } from "../../src/screens/uniks/property-history.tsx";

test("Properties are badges, authentications, the stage of the life cycle, and the ones of the owner.", () => {
  const groups = groupsOf([
    ["type", "1"],
    ["explicitValues", "anna"],
    ["Badges/XPLevel", "1"],
    ["Badges/NP/Delegate", "true"],
    ["Authentications/CosmicNonce", "1"],
    ["LifeCycle/Status", "3"],
    ["LifeCycle/Other", "7"],
    ["Badges", "mine"],
    ["usr/shape", "round"],
  ]);
  expect(groups).toEqual({
    badges: [
      ["Badges/XPLevel", "1"],
      ["Badges/NP/Delegate", "true"],
    ],
    authentications: [["Authentications/CosmicNonce", "1"]],
    stage: "3",
    own: [
      ["LifeCycle/Other", "7"],
      ["Badges", "mine"],
      ["usr/shape", "round"],
    ],
  });
});

test.each([
  ["Badges/Security/SecondPassphrase", "Second passphrase"],
  ["Badges/XPLevel", "XP level"],
  ["Badges/NP/UNIKIssuer", "UNIK issuer"],
  ["Badges/Trust/TrustIn", "Trust in"],
  ["Authentications/CosmicNonce", "Cosmic nonce"],
  ["Badges/", ""],
  ["plain", "plain"],
])("The last part of %s is shown as %j.", (key, name) => {
  expect(nameOf(key)).toBe(name);
});

test("A change has the value of the last earlier transaction, and none for a new or a removed property.", () => {
  const asset = (properties: object) => ({ nft: { unik: { tokenId: "00", properties } } });
  const newestFirst = [
    asset({ colour: "red" }),
    asset({ colour: null, shape: "round" }),
    undefined,
    asset({ type: "1", colour: "blue" }),
  ];
  expect(changesOf(newestFirst)).toEqual([
    [{ key: "colour", before: undefined, after: "red" }],
    [
      { key: "colour", before: "blue", after: undefined },
      { key: "shape", before: undefined, after: "round" },
    ],
    [],
    [
      { key: "type", before: undefined, after: "1" },
      { key: "colour", before: undefined, after: "blue" },
    ],
  ]);
});
