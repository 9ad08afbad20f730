import { expect, test } from "vitest";
import { feedBlocksOf, mirrorOptions } from "../../src/config/mirror.ts";
import { runOptions } from "../../src/config/options.ts";
import { maskConfig, resolveConfig } from "../../src/config/resolve.ts";

const read = (flags: Record<string, unknown>, environment: Record<string, string> = {}) =>
  resolveConfig(runOptions, { flags, environment });

test("A node with a mirror stores the changes of blocks, of as many as its option says", () => {
  const mirror = "postgres://127.0.0.1/chain";
  expect(feedBlocksOf(read({}))).toBe(0);
  expect(feedBlocksOf(read({ mirror }))).toBe(10_000);
  expect(feedBlocksOf(read({}, { UNIKNODE_MIRROR: mirror }))).toBe(10_000);
  expect(feedBlocksOf(read({ mirror, feedBlocks: "500" }))).toBe(500);
  expect(feedBlocksOf(read({ feedBlocks: "500" }))).toBe(500);
});

test("The database of a mirror is a URL of PostgreSQL, and secret", () => {
  expect(() => read({ mirror: "mysql://127.0.0.1/chain" })).toThrow(
    "postgres://user:password@127.0.0.1:5432/uniknode",
  );
  const config = read({ mirror: "postgresql://user:password@127.0.0.1/chain" });
  expect(JSON.stringify(maskConfig(runOptions, config))).not.toContain("password");
  const { databaseUrl } = resolveConfig(mirrorOptions, {
    flags: { databaseUrl: "postgres://127.0.0.1/chain" },
    environment: {},
  });
  expect(databaseUrl).toBe("postgres://127.0.0.1/chain");
});
