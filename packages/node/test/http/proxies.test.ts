/** Proxies that the operator did not name, and what is said about them. */
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { type Exposure, warnOfUnnamedProxy } from "../../src/http/connections/proxies.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

function createLog() {
  const lines: { level: number; msg: string; remoteAddress?: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, logger };
}

test("the first request that an unnamed proxy passes on is warned about, once", async () => {
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
  expect(lines[0]!.msg).toContain("--http-trust-proxy");
});

const warning = (exposure: Exposure) => {
  const { lines, logger } = createLog();
  warnOfUnnamedProxy(exposure, logger);
  return lines.map(({ msg }) => msg).join();
};

test("options that a proxy would void are warned about where only a proxy can be in front", () => {
  for (const host of ["10.0.0.5", "192.168.1.2", "fd00::1"]) {
    expect(warning({ host, rateLimit: 100 })).toMatch(/--rate-limit would .* --http-trust-proxy/);
  }
  expect(warning({ host: "127.0.0.1", rateLimit: 0, legacyCallers: "127.0.0.1" })).toContain(
    "--webhook-legacy",
  );
});

test("a loopback node has no warning about its rate limit", () => {
  for (const host of ["127.0.0.1", "127.0.0.2", "localhost", "::1", "::ffff:127.0.0.1"]) {
    expect(warning({ host, rateLimit: 100 })).toBe("");
  }
});

test("nothing is warned about where clients come by themselves, or the proxy is named", () => {
  expect(warning({ host: "0.0.0.0", rateLimit: 100 })).toBe("");
  expect(warning({ host: "203.0.113.5", rateLimit: 100 })).toBe("");
  expect(warning({ host: "127.0.0.1", rateLimit: 0 })).toBe("");
  expect(warning({ host: "127.0.0.1", rateLimit: 100, trustedProxies: "127.0.0.1" })).toBe("");
});
