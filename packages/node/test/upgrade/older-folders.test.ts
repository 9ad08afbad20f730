/**
 * Data folders of released versions, and of the last development version before the first migration: this version opens them, with
 * everything in them, and continues.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { clockOptions, setClock } from "../../test-support/process/clock.ts";
import { apiUrlOf, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { describeChain, WEBHOOK_TOKEN } from "../../test-support/upgrade/describe.ts";

const FOLDERS = join(import.meta.dirname, "folders");
const versions = readdirSync(FOLDERS).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []));

test.each(versions)("The folder of %s is opened, and its chain continues.", async (version) => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-upgrade-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync("tar", ["-xzf", join(FOLDERS, `${version}.tar.gz`), "-C", folder]);
  const made = JSON.parse(readFileSync(join(FOLDERS, `${version}.json`), "utf8")) as Awaited<
    ReturnType<typeof describeChain>
  >;
  const data = join(folder, "data");
  // Nothing is forged before everything was compared.
  const options = ["--block-time", "1", "--instant", "--webhook-token", WEBHOOK_TOKEN];
  // The clock is that of the machine that wrote the folder: a webhook that has failed for days since is suspended.
  setClock(folder, statSync(join(data, "node.sqlite")).mtimeMs - Date.now());
  const args = ["dev", "--data", data, "--http-port", "0", ...options];
  const node = spawnUniknode(args, clockOptions(folder));
  onTestFinished(async () => {
    node.child.kill("SIGTERM");
    expect((await node.ended).code).toBe(0);
  });
  const url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  const client = createClient({ url: url, webhookToken: WEBHOOK_TOKEN, timeoutMs: WAIT_MS });

  expect(await describeChain(client)).toEqual(made);

  const { data: change } = await client.dev.mine({ blocks: 2 });
  expect(change.head.height).toBe(made.head.height + 2);
});
