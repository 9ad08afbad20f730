/** `uniknode trigger` on a dev chain. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CAUSES } from "../../src/commands/trigger/causes.ts";
import { EVENTS } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import { runMain } from "../../test-support/process/main.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-trigger-"));
let node: Running;
let url: string;

beforeAll(async () => {
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1"]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

test("Every event of the catalogue is caused, or has a reason why it cannot be.", () => {
  expect(Object.keys(CAUSES).sort()).toEqual(Object.keys(EVENTS).sort());
});

const possible = Object.keys(CAUSES).filter((event) => "cause" in present(CAUSES[event]));
test.each(possible)("%s happens and is delivered", async (event) => {
  const { code, stdout, stderr } = await runMain([
    "trigger",
    event,
    "--url",
    url,
    "--data",
    folder,
    "--json",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ event });
});
