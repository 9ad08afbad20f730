/** Pure decisions about peers (p2p.md 6.1, 10 to 13). */
import { createNetwork, presets } from "@uniknode/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesAddress, normalizeAddress, peerAddress, subnetOf } from "../../src/peers/addresses.ts";
import { broadcastRecipients } from "../../src/peers/block-broadcast.ts";
import { networkHeight } from "../../src/peers/peer-table.ts";
import { localAddressOf } from "../../src/peers/peers-options.ts";
import { searchCommonHeight } from "../../src/peers/verify-chain.ts";
import { allowedVersions, isVersionAllowed } from "../../src/peers/versions.ts";
import { present } from "../../src/platform/present.ts";

test("An address has one normalized form.", () => {
  for (const text of ["2001:DB8:0:0::1", "2001:db8::1"]) expect(peerAddress(text)).toBe("2001:db8::1");
  expect(peerAddress("::ffff:a01:203")).toBe("10.1.2.3");
  for (const zone of ["eth0", "br-lan", "eth0.100", "a:b"]) {
    expect(peerAddress(`fe80::1%${zone}`)).toBeUndefined();
    expect(normalizeAddress(`fe80::1%${zone}`)).toBe("fe80::1");
  }
  expect(peerAddress("::ffff:0.1.2.3")).toBeUndefined();
  expect(peerAddress("127.8.8.8")).toBeUndefined();
});

test.each([
  ["2001:db8::7", ["2001:DB8:0::0007"], true],
  ["::ffff:10.1.2.3", ["10.1.2.3"], true],
  ["10.1.2.3", ["::ffff:a01:203"], true],
  ["10.1.2.3", ["::ffff:10.1.*"], true],
  ["10.1.2.3", ["*"], true],
  ["10.1.2.30", ["10.1.2.3"], false],
  ["10.1.2.3", ["10.1.2x3", "10"], false],
  ["10.1.2.3", [], false],
])("%s matches %j: %s", (address, patterns, expected) => {
  expect(matchesAddress(patterns)(address)).toBe(expected);
});

test("Connections come from the listening address, if it is specific.", () => {
  expect(localAddressOf({ host: "10.1.2.3" })).toBe("10.1.2.3");
  for (const host of ["::", "0.0.0.0", "localhost"]) expect(localAddressOf({ host })).toBeUndefined();
});

test("This host is not a peer of itself.", () => {
  expect(peerAddress("::ffff:10.1.2.3", new Set(["10.1.2.3"]))).toBeUndefined();
  expect(peerAddress("10.1.2.4", new Set(["10.1.2.3"]))).toBe("10.1.2.4");
});

test("Any text is an address in normalized form, or invalid.", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
      const address = peerAddress(text);
      if (address === undefined) return;
      expect(peerAddress(address)).toBe(address);
      expect(subnetOf(address)).not.toBe("");
    }),
  );
});

test("A subnet is the first three bytes of IPv4, and some of the last four of IPv6.", () => {
  expect(subnetOf("10.1.2.3")).toBe("10.1.2.0");
  expect(subnetOf("2001:db8::aabb:ccdd")).toBe(subnetOf("fe80::aabb:cc00"));
  expect(subnetOf("2001:db8::aabb:ccdd")).not.toBe(subnetOf("2001:db8::aabb:cddd"));
});

test("The height of the network is one that peers have.", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), (heights) => {
      const height = networkHeight(heights);
      expect(height === 0 ? heights.every((one) => one === 0) : heights.includes(height)).toBe(true);
    }),
  );
});

test("A block goes to fewer peers the more often it was seen.", () => {
  fc.assert(
    fc.property(fc.nat(10), fc.nat(500), (observations, peers) => {
      const recipients = broadcastRecipients(observations, peers);
      expect(recipients).toBeLessThanOrEqual(peers);
      expect(broadcastRecipients(observations + 1, peers)).toBeLessThanOrEqual(recipients);
    }),
  );
});

test("The search finds the highest common height of any two chains with few requests.", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.nat(10_000_000), (high, reach) => {
      const highest = Math.min(reach, high);
      const search = searchCommonHeight(1, high);
      let questions = 0;
      let step = search.next();
      while (!step.done) {
        const heights = step.value;
        expect(heights.length).toBeLessThanOrEqual(9);
        expect(heights).toEqual([...new Set(heights)].sort((a, b) => a - b));
        step = search.next(heights.findLast((height) => height <= highest));
        questions++;
      }
      expect(step.value ?? 0).toBe(highest);
      expect(questions).toBeLessThanOrEqual(9);
    }),
  );
});

test("The search has no work below the first block.", () => {
  expect(searchCommonHeight(1, 0).next()).toEqual({ done: true, value: undefined });
});

test("Versions are allowed by the milestone at the height.", () => {
  const livenet = createNetwork(present(presets.livenet));
  const last = present(livenet.milestones.at(-1)).height;
  const isAllowed = (text: string) => isVersionAllowed(text, allowedVersions(livenet, last), "livenet");
  expect(["5.7.2", "5.7.2-dev", "6.1.0", "7.0.0-dev"].every(isAllowed)).toBe(true);
  expect(["5.7.1", "7.0.0", "05.7.2", "5.7.2-01", "=5.7.2", "5.7.2\n", " 5.7.2", ""].some(isAllowed)).toBe(
    false,
  );
  expect(allowedVersions(createNetwork(present(presets.unitnet)), 1)).toContain("^2.7");
});

test("Pre-releases count by their order, except on mainnet.", () => {
  expect(isVersionAllowed("5.8.0-dev", ["^5.7.2"], "livenet")).toBe(true);
  expect(isVersionAllowed("5.8.0-dev", ["^5.7.2"], "mainnet")).toBe(false);
  expect(isVersionAllowed("6.0.0-dev", ["^5.7.2"], "mainnet")).toBe(false);
  expect(isVersionAllowed("5.8.0", ["no range", "^5.7.2"], "mainnet")).toBe(true);
});
