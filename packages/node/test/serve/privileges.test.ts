/** The users of docs/guides/scale-out.md, with the privileges that its statements grant, in real processes. */
import { readFileSync } from "node:fs";
import { createClient, EVERY_EVENT } from "@uniknode/client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type MirroredDevChain, startMirroredDevChain, TOKEN } from "../../test-support/mirror/dev-chain.ts";
import { connect, hasPostgres } from "../../test-support/postgres/server.ts";
import { type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { type HeldReceiver, startHeldReceiver } from "../../test-support/webhooks/held-receiver.ts";
import { ownByWorkers } from "../../test-support/webhooks/postgres-rows.ts";

const GUIDE = readFileSync(new URL("../../../../docs/guides/scale-out.md", import.meta.url), "utf8");

/** Statements of the guide, in their order; this server needs no other address. */
const statements = [...GUIDE.matchAll(/psql uniknode <<'END'\n(.*?)END/gs)].map(([, sql = ""]) =>
  sql.replace(/ALTER SYSTEM.*\n/, ""),
);

let chain: MirroredDevChain;
let receiver: HeldReceiver;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain({ nodeArgs: ["--rate-limit", "0"] });
  receiver = await startHeldReceiver();
  receiver.release();
  for (const user of ["uniknode_api", "uniknode_deliver"])
    await chain.postgres.query(`CREATE ROLE ${user} LOGIN`);
  await chain.postgres.query(statements[0] ?? "");
  chain.startMirror();
  await chain.followed();
  await chain.postgres.query(statements[1] ?? "");
  await ownByWorkers(chain.postgres);
});
afterAll(async () => {
  await receiver?.close();
  await chain?.closeAll();
});

const urlOf = (user: string) => chain.databaseUrl.replace(/\/\/\w+@/, `//${user}@`);

async function started(...args: string[]): Promise<{ url: string; process: Running }> {
  const process = spawnUniknode(args);
  onTestFinished(async () => {
    process.child.kill("SIGTERM");
    await process.ended;
  });
  const [, url = ""] = await process.printed(/(http:\S+)\n/);
  return { url, process };
}

describe.skipIf(!hasPostgres)("the users of the guide", () => {
  test("The user of API servers reads the chain, and no secret of a webhook; doctor accepts it.", async () => {
    const postgres = connect(urlOf("uniknode_api"));
    onTestFinished(() => postgres.close());
    expect(await postgres.query("SELECT 1 AS one FROM blocks LIMIT 1")).toEqual([{ one: 1 }]);
    await expect(postgres.query("SELECT token FROM webhooks")).rejects.toThrow("permission denied");
    await expect(postgres.query("DELETE FROM blocks")).rejects.toThrow("permission denied");
    const { stdout } = await runUniknode([
      "doctor",
      "--database-url",
      urlOf("uniknode_api"),
      "--node",
      chain.url,
    ]);
    expect(stdout).toMatch(/^ok +privileges +uniknode_api can read, which is enough for API servers/m);
  });

  test("The users of the guide let servers serve, register webhooks, and workers deliver.", async () => {
    const { url } = await started(
      ...["serve", "--node", chain.url, "--token", TOKEN, "--http-port", "0", "--webhook-private-targets"],
      ...[
        "--rate-limit",
        "0",
        "--database-url",
        urlOf("uniknode_api"),
        "--webhook-database-url",
        urlOf("uniknode_deliver"),
      ],
    );
    const worker = await started(
      ...["deliver", "--database-url", urlOf("uniknode_deliver"), "--operations-port", "0"],
      "--webhook-private-targets",
    );
    const client = createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
    expect((await client.blockchain.get()).data.block.height).toBeGreaterThan(0);
    const target = `${receiver.url}/granted`;
    const { data } = await client.webhooks.create({
      event: "block.applied",
      target,
      conditions: [EVERY_EVENT],
    });
    await chain.command("mine", { blocks: 3 });
    await expect.poll(() => receiver.calls.length).toBeGreaterThan(2);
    await expect
      .poll(async () => (await client.webhooks.deliveries(data.id).page()).data[0]?.state)
      .toBe("delivered");
    await client.webhooks.rotate(data.id);
    await client.webhooks.remove(data.id);
    expect(await (await fetch(`${worker.url}/health/ready`)).json()).toMatchObject({ status: "ready" });
    expect(worker.process.stderr()).not.toContain("permission denied");
  });

  test("The users of the guide connect through a socket, with and without a user in the URL.", async () => {
    const [row] = await chain.postgres.query<{ folder: string; port: string }>(
      `SELECT current_setting('unix_socket_directories') AS folder, current_setting('port') AS port`,
    );
    const query = `host=${row?.folder.split(",")[0]}&port=${row?.port}`;
    for (const url of [
      `postgres://uniknode_api@/chain?${query}`,
      `postgres:///chain?${query}&user=uniknode_api`,
    ]) {
      const { stdout } = await runUniknode(["doctor", "--database-url", url, "--node", chain.url]);
      expect(stdout, url).toMatch(/^ok +database +PostgreSQL .*user uniknode_api/m);
    }
  });
});
