/** Options of the peers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { peerOptions, toPeersOptions } from "../../src/config/peers.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { ConfigError } from "../../src/platform/coded-error.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-peers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = (flags: Record<string, unknown>, network = "unknown") =>
  toPeersOptions(resolveConfig(peerOptions, { flags, environment: {} }), network);

test("Port and seeds are those of the network.", () => {
  expect(options({}, "livenet")).toMatchObject({ port: 4001, seeds: ["212.47.252.24"] });
  expect(options({}, "sandbox")).toMatchObject({ port: 4002, seeds: ["51.15.218.206"] });
  expect(options({})).toMatchObject({ port: 4002, seeds: [], version: "5.7.2" });
});

test("Addresses are given without a port, or with that of the network.", () => {
  const peers = "203.0.113.7, 203.0.113.8:4001,2001:db8::7,[2001:db8::8]:4001";
  expect(options({ peers }, "livenet").seeds).toEqual([
    "203.0.113.7",
    "203.0.113.8",
    "2001:db8::7",
    "2001:db8::8",
  ]);
});

test.each([
  ["203.0.113.7:9999", {}],
  ["203.0.113.9,[2001:db8::8]:4002", {}],
  ["203.0.113.7:4001", { p2pPort: "9999" }],
])("The port of %s is refused: nodes of a network listen on one port.", (peers, flags) => {
  expect(() => options({ peers, ...flags }, "livenet")).toThrow(/listen on one port, (4001|9999) here/);
});

describe("a peers file", () => {
  const write = (content: unknown) => {
    const path = join(folder, "peers.json");
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  test("A peers file has the format of old nodes.", () => {
    const peersFile = write({ list: [{ ip: "203.0.113.7", port: 4001 }], sources: ["https://example.org"] });
    expect(options({ peersFile, peers: "203.0.113.9" }).seeds).toEqual(["203.0.113.9", "203.0.113.7"]);
    expect(options({ peersFile }).sources).toEqual(["https://example.org"]);
  });

  test.each([
    [{}],
    [{ list: ["203.0.113.7"] }],
    [{ list: [{ ip: "example.org" }] }],
    [{ list: [], sources: "https://example.org" }],
    [{ list: [], sources: ["peers.json"] }],
  ])("A peers file is refused with the reason: %j.", (content) => {
    expect(() => options({ peersFile: write(content) })).toThrow(ConfigError);
  });
});

test.each(["example.org", "203.0.113", "203.0.113.7;203.0.113.8"])("%s is not an address", (peers) => {
  expect(() => options({ peers })).toThrow(/IP addresses are expected/);
});
