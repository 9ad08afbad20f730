/** `uniknode webhooks hand-over` on real processes: a dev chain, its mirror, delivery workers, and a receiver. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  type HandOverChain,
  type Registered,
  startHandOverChain,
} from "../../test-support/hand-over/chain.ts";
import { disturb } from "../../test-support/hand-over/disturbances.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { until } from "../../test-support/process/until.ts";

const BLOCKS = { event: "block.applied" } as const;

let chain: HandOverChain;
let folder: string;
let keyArgs: string[];

beforeAll(async () => {
  if (!hasPostgres) return;
  folder = mkdtempSync(join(tmpdir(), "uniknode-keys-"));
  const keyFile = (name: string) => {
    writeFileSync(join(folder, name), randomBytes(32).toString("hex"));
    return ["--webhook-key-file", join(folder, name)];
  };
  keyArgs = keyFile("workers");
  chain = await startHandOverChain({ nodeArgs: keyFile("node"), keyArgs });
});
afterAll(async () => {
  await chain?.close();
  if (folder) rmSync(folder, { recursive: true });
});

type Responded = { readonly data: Readonly<Record<string, unknown>> };
const show = async (path: string, url?: string) =>
  (await chain.call("GET", path, undefined, url)).body as Responded;

describe.skipIf(!hasPostgres)("webhooks", () => {
  const kinds = new Map<string, Registered>();
  const webhook = (name: string): Registered => present(kinds.get(name), name);
  let tokens: { readonly token: string; readonly previous: string };

  test("Webhooks of every kind are registered at the node.", async () => {
    for (const [name, fields] of Object.entries({
      strict: { ...BLOCKS, order: "strict", name: "in order" },
      parallel: BLOCKS,
      confirmed: { ...BLOCKS, confirmations: 3, order: "strict" },
      disabled: { ...BLOCKS, enabled: false },
      suspended: BLOCKS,
      failing: { ...BLOCKS, order: "strict" },
      retrying: BLOCKS,
      replaying: { ...BLOCKS, order: "strict" },
      rotating: BLOCKS,
      removed: BLOCKS,
    }))
      kinds.set(name, await chain.register(name, fields));
    const { receiver } = chain;
    receiver.respond("suspended", 410);
    receiver.respond("failing", 500);
    receiver.respond("retrying", 500);
    await chain.command("mine", { blocks: 5 });
    await chain.arrived(webhook("strict"));
    const { body } = await chain.call("POST", `/webhooks/${webhook("rotating").id}/rotate`, {
      overlapSeconds: 600,
    });
    tokens = { token: (body as { data: { token: string } }).data.token, previous: "" };
    // The replay waits for the response to its first delivery.
    receiver.respond("replaying", undefined);
    await chain.call("POST", `/webhooks/${webhook("replaying").id}/replay`, { fromHeight: 1, toHeight: 5 });
    await chain.call("DELETE", `/webhooks/${webhook("removed").id}`);
    await until("the suspension", async () => {
      const { data } = await show(`/webhooks/${webhook("suspended").id}?health=true`);
      return data.suspended !== undefined;
    });
    expect(tokens.token).toMatch(/^[0-9a-f]{64}$/);
  });

  test("Webhooks are not handed over if the node encrypts their secrets and the database would not.", async () => {
    const command = chain.spawnHandOver("workers", "--webhook-key-file", join(folder, "none"));
    expect((await command.ended).stderr).toContain("the key file of --webhook-key-file cannot be read");
  });

  test("Webhooks keep their definition, log, queue and replay, and clients of the node learn where they are.", async () => {
    const before = await Promise.all(
      [...kinds.values()].map(({ id }) => show(`/webhooks/${id}?health=true`)),
    );
    const { stdout } = await chain.handOver("workers");
    expect(stdout).toMatch(
      /the node stops its webhooks\n(.*\n)*copied \d+ rows\ndelivery workers send the webhooks\n$/,
    );
    const refused = await chain.call("GET", "/webhooks");
    expect(refused).toMatchObject({ status: 409, body: { code: "WEBHOOKS_OF_WORKERS" } });
    for (const [method, path] of [
      ["POST", "/webhooks"],
      ["GET", "/webhooks/health"],
      ["GET", "/webhooks/1/deliveries"],
      ["POST", "/webhooks/1/ping"],
      ["POST", "/webhooks/test"],
    ] as const)
      expect((await chain.call(method, path, method === "POST" ? {} : undefined)).status, path).toBe(409);
    const [row] = await chain.postgres.query<{ token: string; count: number }>(
      "SELECT min(token) AS token, count(*)::integer AS count FROM webhooks",
    );
    expect([row?.token.startsWith("sealed:"), row?.count]).toEqual([true, kinds.size - 1]);
    await chain.handOver("node");
    const after = await Promise.all([...kinds.values()].map(({ id }) => show(`/webhooks/${id}?health=true`)));
    const definitionOf = ({ data = {} }: Partial<Responded>) => {
      const { queued: _queued, failing: _failing, ...definition } = data;
      return definition;
    };
    expect(after.map(definitionOf)).toEqual(before.map(definitionOf));
    expect(await chain.postgres.query("SELECT 1 FROM webhooks")).toEqual([]);
    const again = await chain.handOver("node");
    expect(again.stdout).toBe("nothing to do: the node sends the webhooks\n");
  });

  test("Webhooks lose and repeat nothing while they are handed over and back, under load and reorganisations.", async () => {
    const workers = ["w1", "w2"].map((name) => chain.startWorker(name));
    const disturbances = disturb(chain, 7);
    const delivered = (count: number) => {
      const { length } = chain.receiver.calls("strict");
      return until("deliveries", () => chain.receiver.calls("strict").length >= length + count);
    };
    for (const to of ["workers", "node"] as const) {
      await delivered(5);
      await chain.handOver(to);
    }
    for (const name of ["failing", "retrying", "replaying"]) chain.receiver.respond(name, 204);
    await delivered(5);
    await disturbances.end();
    for (const name of ["strict", "parallel", "confirmed", "rotating"]) {
      await chain.command("mine", { blocks: 4 });
      await chain.checkBlocks(webhook(name), {
        isStrict: name === "strict",
        isConfirmed: name === "confirmed",
      });
    }
    for (const worker of workers) await chain.stop(worker);
  });
});
