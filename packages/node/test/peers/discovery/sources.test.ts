/** Lists of seed peers from URLs and files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { readSources } from "../../../src/peers/discovery/sources.ts";

/** Reads the sources, and returns the addresses, and the reasons of failed sources. */
async function read(...sources: string[]) {
  const reasons: string[] = [];
  const logger = pino(
    { level: "warn" },
    { write: (line: string) => void reasons.push((JSON.parse(line) as { reason: string }).reason) },
  );
  return { ips: await readSources(sources, logger), reasons };
}

function fileOf(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-sources-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "peers.json");
  writeFileSync(path, content);
  return path;
}

test.each([
  ["a list", '[{"ip": "203.0.113.7", "port": 4001}]'],
  ["an object with a list", '{"list": [{"ip": "203.0.113.7"}]}'],
  ["entries without an address", '[null, 1, {"ip": 1}, {"ip": "example.org"}, {"ip": "203.0.113.7"}]'],
])("Addresses come from %s.", async (_what, content) => {
  expect(await read(fileOf(content))).toEqual({ ips: ["203.0.113.7"], reasons: [] });
});

test.each([
  ["not JSON", "peers", "it is not JSON"],
  ["not a list", '{"peers": []}', "it must be a list of peers"],
  ["null", "null", "it must be a list of peers"],
  ["too long", `[${" ".repeat(1_000_000)}]`, "the text is longer than 1000000 bytes"],
  ["nested", "[".repeat(65) + "]".repeat(65), "it has more than 64 nested levels"],
])("A source that is %s is skipped with the reason.", async (_what, content, reason) => {
  expect(await read(fileOf(content), fileOf('[{"ip": "203.0.113.8"}]'))).toEqual({
    ips: ["203.0.113.8"],
    reasons: [reason],
  });
});

test("A URL that sends without end is read up to the bound.", async () => {
  const server = createServer((_request, response) => {
    const send = () => void response.write("x".repeat(100_000), (error) => error ?? send());
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  expect(await read(`http://127.0.0.1:${port}/`)).toEqual({
    ips: [],
    reasons: ["the text is longer than 1000000 bytes"],
  });
});
