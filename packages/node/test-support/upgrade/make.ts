/**
 * Creates the data folder that later versions must open (`packages/node/test/upgrade`), with this program:
 *
 *   node packages/node/test-support/upgrade/make.ts FILE
 *
 * writes `FILE.tar.gz`, a dev chain with transactions, uniks and two webhooks, and `FILE.json`, the responses of the API
 * about it. One is created for each released version, and kept.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createClient } from "@uniknode/client";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, runUniknode, spawnUniknode } from "../process/uniknode.ts";
import { until, WAIT_MS } from "../process/until.ts";
import { describeChain, WEBHOOK_TOKEN } from "./describe.ts";

const TOO_FEW_BLOCKS = 12;

async function make(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-upgrade-"));
  const data = join(folder, "data");
  const receiver = createServer((_request, response) => response.writeHead(204).end());
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const node = spawnUniknode([
    ...["dev", "--data", data, "--http-port", "0", "--block-time", "1"],
    ...["--webhook-token", WEBHOOK_TOKEN],
  ]);
  const url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  const client = createClient({ url: url, webhookToken: WEBHOOK_TOKEN, timeoutMs: WAIT_MS });
  const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
  const delivered = await client.webhooks.create({ events: ["transaction.applied"], target, conditions });
  // Nothing listens on port 1: its deliveries stay queued.
  const waiting = await client.webhooks.create({
    events: ["transaction.applied"],
    target: "http://127.0.0.1:1/",
    conditions,
  });
  const environment = { UNIKNODE_URL: url, UNIKNODE_WEBHOOK_TOKEN: WEBHOOK_TOKEN };
  for (const event of ["transaction.applied", "unik.minted", "block.reverted", "unik.updated"]) {
    const { code, stderr } = await runUniknode(["trigger", event, "--data", data], { environment });
    if (code !== 0) throw new Error(`${event}: ${stderr}`);
  }
  const statesOf = async (id: number | string) => {
    const states: string[] = [];
    for await (const { state } of client.webhooks.deliveries(id)) states.push(state);
    return states;
  };
  await until("deliveries", async () => (await statesOf(delivered.data.id)).includes("delivered"));
  await until("deliveries that wait", async () => (await statesOf(waiting.data.id)).includes("pending"));
  await until("blocks", async () => (await client.blocks.last()).data.height >= TOO_FEW_BLOCKS);
  await client.dev.forge({ enabled: false });
  writeFileSync(`${file}.json`, `${JSON.stringify(await describeChain(client), undefined, 2)}\n`);
  node.child.kill("SIGTERM");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  execFileSync("tar", ["-czf", `${resolve(file)}.tar.gz`, "-C", folder, "data"]);
  rmSync(folder, { recursive: true });
}

await make(present(process.argv[2]));
