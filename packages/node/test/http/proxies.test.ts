/** Proxies that the operator did not name, and the warnings about them. */

import type { FastifyPluginAsync } from "fastify";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Exposure, warnOfUnnamedProxy } from "../../src/http/connections/admission.ts";
import { present } from "../../src/platform/present.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

function createLog() {
  const lines: { level: number; msg: string; remoteAddress?: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger };
}

test("The first request through an unnamed proxy causes a warning, once.", async () => {
  const { lines, logger } = createLog();
  const fixture = openFixture({ trustedProxies: "10.0.0.1" }, { logger });
  onTestFinished(fixture.close);
  const ask = (remoteAddress: string, headers: Record<string, string>) =>
    fixture.app.inject({ url: "/", remoteAddress, headers });
  await ask("127.0.0.1", {});
  await ask("10.0.0.1", { "x-forwarded-for": "203.0.113.5" });
  expect(lines).toEqual([]);
  await ask("127.0.0.1", { "x-forwarded-for": "203.0.113.5" });
  await ask("127.0.0.1", { "x-forwarded-for": "203.0.113.6" });
  expect(lines).toMatchObject([{ level: 40, remoteAddress: "127.0.0.1" }]);
  expect(present(lines[0], "a line").msg).toContain("--http-trust-proxy");
});

const warning = (exposure: Exposure) => {
  const { lines, logger } = createLog();
  warnOfUnnamedProxy(exposure, logger);
  return lines.map(({ msg }) => msg).join();
};

test("Options without effect through a proxy cause a warning if there must be a proxy.", () => {
  for (const host of ["10.0.0.5", "192.168.1.2", "fd00::1"]) {
    expect(warning({ httpHost: host, rateLimit: 100 })).toMatch(/--rate-limit would .* --http-trust-proxy/);
  }
});

test("A loopback node has no warning.", () => {
  for (const host of ["127.0.0.1", "127.0.0.2", "localhost", "::1", "::ffff:127.0.0.1"]) {
    expect(warning({ httpHost: host, rateLimit: 100 })).toBe("");
  }
});

test("Clients without a proxy, and named proxies, cause no warning.", () => {
  expect(warning({ httpHost: "0.0.0.0", rateLimit: 100 })).toBe("");
  expect(warning({ httpHost: "203.0.113.5", rateLimit: 100 })).toBe("");
  expect(warning({ httpHost: "127.0.0.1", rateLimit: 0 })).toBe("");
  expect(warning({ httpHost: "127.0.0.1", rateLimit: 100, httpTrustProxy: "127.0.0.1" })).toBe("");
});

describe("the client that a trusted proxy names", () => {
  /**
   * Returns the statuses of requests in one window of a limit of one request, through a proxy on 127.0.0.1.
   */
  async function statuses(forwarded: readonly string[], trustedProxies = "127.0.0.1, 10.0.0.0/8") {
    const fixture = openFixture({ trustedProxies, rateLimit: { limit: 1, windowMs: 60_000 } });
    onTestFinished(fixture.close);
    const seen: number[] = [];
    for (const header of forwarded) {
      const headers = { "x-forwarded-for": header };
      seen.push((await fixture.get("/api/blockchain", headers)).statusCode);
    }
    return seen;
  }
  const SAME = (count: number) => [200, ...Array.from({ length: count - 1 }, () => 429)];

  test.each([
    ["ports of IPv4", ["203.0.113.7:40001", "203.0.113.7:40002", "203.0.113.7", " 203.0.113.7:1 "]],
    [
      "brackets, ports and spellings of IPv6",
      ["[2001:db8::1]:1", "[2001:db8::1]", "2001:db8::1", "[2001:DB8:0:0::1]:2", "2001:db8:0::1%eth0"],
    ],
    ["IPv4 as IPv6", ["203.0.113.7", "::ffff:203.0.113.7", "[::ffff:203.0.113.7]:5", "[::ffff:cb00:7107]"]],
    ["ports of trusted proxies behind it", ["203.0.113.7:1, 10.0.0.1:5", "203.0.113.7:2, 10.9.9.9"]],
    ["empty entries", ["203.0.113.7", ",203.0.113.7,", ", ,203.0.113.7 , 10.0.0.1"]],
    [
      "the client itself wrote before",
      ["1.1.1.1, 203.0.113.7", "2.2.2.2:5, 203.0.113.7:6", "x, 203.0.113.7"],
    ],
  ])("The client that a trusted proxy names is one client, whatever %s.", async (_what, headers) => {
    expect(await statuses(headers)).toEqual(SAME(headers.length));
  });

  test("The client is the trusted proxy itself if it names no address.", async () => {
    const headers = [
      ...["unknown", "_hidden", "203.0.113.7:", "203.0.113.7:x", "203.0.113.7:123456", "203.0.113.7/24"],
      ...["203.0.113", "203.0.113.256", "0313.0.113.7", "0xcb007107", "3405803783", "203.0.113.7 x"],
      ...["[2001:db8::1", "2001:db8::1]", "[203.0.113.7]:1:2", "[2001:db8::1]:x", "1:2:3:4:5:6:7:8:9"],
      ...["example.com", "'", '"203.0.113.7"', "for=203.0.113.7", "203.0.113.7;5", "1.1.1.1, unknown", ""],
    ];
    expect(await statuses(headers)).toEqual(SAME(headers.length));
  });

  test("A trusted proxy names different clients if addresses differ.", async () => {
    const headers = ["203.0.113.7:1", "203.0.113.8:1", "[2001:db8:1::1]:1", "[2001:db8:2::1]:1", "unknown"];
    expect(await statuses(headers)).toEqual([200, 200, 200, 200, 200]);
  });

  test("The client is the last known hop in an endless chain of proxies.", async () => {
    const chain = (client: string) => [client, ...Array.from({ length: 500 }, () => "10.0.0.1")].join(",");
    expect(await statuses([chain("203.0.113.7"), chain("203.0.113.8")])).toEqual(SAME(2));
  });

  test("The client is the sender if no proxy is trusted.", async () => {
    expect(await statuses(["203.0.113.7", "203.0.113.8:1"], "10.0.0.1")).toEqual(SAME(2));
  });
});

describe("a client that writes the headers of a proxy itself", () => {
  test("A client behind a proxy cannot replace the host of its request.", async () => {
    const plugin: FastifyPluginAsync = async (scope) => {
      scope.get("/host", ({ host }) => ({ host }));
    };
    const fixture = openFixture({ trustedProxies: "127.0.0.1" }, { plugins: [plugin] });
    onTestFinished(fixture.close);
    for (const forwardedHost of ["localhost", "attacker.example, localhost"]) {
      const headers = { host: "attacker.example", "x-forwarded-host": forwardedHost };
      expect((await fixture.get("/api/host", headers)).json()).toEqual({ host: "attacker.example" });
    }
  });

  test("A client is redirected relative to its request, whatever host and scheme the proxy sends.", async () => {
    const fixture = openFixture({ trustedProxies: "127.0.0.1" });
    onTestFinished(fixture.close);
    for (const headers of [
      {},
      { host: "attacker.example" },
      { "x-forwarded-host": "attacker.example" },
      { "x-forwarded-proto": "javascript" },
    ]) {
      expect((await fixture.get("/api/blocks/", headers)).headers.location).toBe("../blocks");
    }
  });
});
