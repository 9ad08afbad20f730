import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RpcStore } from "../../src/rpc/store.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";

test("The store removes the oldest transactions beyond the bound.", () => {
  const store = new RpcStore(":memory:", 3);
  onTestFinished(() => store.close());
  for (const id of ["a", "b", "c", "b", "d"]) store.saveTransaction(id, `{"id":"${id}"}`);
  expect(["a", "b", "c", "d"].map((id) => store.findTransaction(id) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test("The store counts keys, and keeps the first key of a user.", () => {
  const store = new RpcStore(":memory:");
  onTestFinished(() => store.close());
  store.saveKey("alice", "one");
  store.saveKey("alice", "two");
  store.saveKey("bob", "three");
  expect([store.keyCount(), store.findKey("alice")]).toEqual([2, "one"]);
});

test("The store opens its own file again, and refuses that of a node without a change.", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-rpc-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, "own.sqlite");
  for (const key of ["one", "two"]) {
    const store = new RpcStore(own);
    store.saveKey("alice", key);
    expect(store.findKey("alice")).toBe("one");
    store.close();
  }
  const other = join(folder, "node.sqlite");
  const node = openDatabase(other);
  migrate(node);
  node.close();
  const before = readFileSync(other);
  expect(() => new RpcStore(other)).toThrow(
    `--rpc-data ${other} cannot be used: it is the database of another`,
  );
  expect(readFileSync(other)).toEqual(before);
});
