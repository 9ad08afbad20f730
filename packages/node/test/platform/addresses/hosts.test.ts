import { expect, test } from "vitest";
import { createCrossSiteTest } from "../../../src/platform/addresses.ts";

const reasonOf = createCrossSiteTest(["node.example", "2001:DB8::1"], "--http-hosts");
const ask = (host: string, origin?: string) => reasonOf({ host, origin, localAddress: "::ffff:192.0.2.7" });

test.each([
  "localhost",
  "LOCALHOST:4003",
  "127.0.0.1:4003",
  "127.9.9.9",
  "[::1]:4003",
  "192.0.2.7:80",
  "[::ffff:192.0.2.7]",
  "Node.Example:4003",
  "[2001:db8:0::1]",
])("%s is a name of this machine", (host) => {
  expect(ask(host)).toBeUndefined();
});

test.each([
  "",
  "evil.example",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil.example@localhost",
  "localhost/",
  "192.0.2.8",
  "[2001:db8::2]",
  "node.example.",
  "localhost, evil.example",
])("%j is not", (host) => {
  expect(ask(host)).toBe(
    "the Host header is not a name of this machine; add further names with --http-hosts",
  );
});

test("Only a page of the same host is allowed.", () => {
  expect(ask("node.example:4003", "http://node.example:4003")).toBeUndefined();
  expect(ask("node.example", "https://node.example")).toBeUndefined();
  const others = [
    "https://evil.example",
    "http://node.example:8080",
    "http://localhost:4003",
    "null",
    "",
    "nonsense",
  ];
  for (const origin of others) {
    expect([origin, ask("node.example:4003", origin)]).toEqual([
      origin,
      "requests from other origins are refused",
    ]);
  }
});
