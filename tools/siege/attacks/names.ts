/** Webhooks of a client with the token, for names whose name server is silent. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startNameServer } from "../../../packages/node/test-support/webhooks/name-server.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { missingForNames } from "../own-names.ts";
import { send, untilAborted } from "../requests.ts";
import { startForging } from "../start-node.ts";
import type { Target } from "../target.ts";
import { removeAll } from "./webhooks.ts";

const SILENT_WEBHOOKS = 2;
const HONEST = "honest.example";
const NAME_SERVER_PORT = 53;
/** The whole machine is slow at times: the bound of the node is 100 ms. */
const MAX_DELAY_MS = 1_000;
const SILENT = { offered() {}, refused() {} };

/** Receiver of a working name. Returns how late its deliveries were. */
async function startHonest() {
  const delaysMs: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: number };
    delaysMs.push(Date.now() - timestamp);
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    delaysMs,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function registerHook(target: Target, from: string, fields: object): Promise<number> {
  const conditions = [{ key: "event", condition: "ne", value: "" }];
  const body = JSON.stringify({ conditions, ...fields });
  return send(target, SILENT, {
    path: "/api/v2/webhooks",
    from,
    headers: { authorization: target.token },
    body,
  });
}

export const silentNames: Attack = {
  name: "silent names",
  description: `${SILENT_WEBHOOKS} webhooks for every event whose name servers are silent, beside a webhook of another name`,
  start: () => startForging({ hasOwnNames: true }),
  missingRequirement: missingForNames,
  async run(target, tally, signal) {
    const addresses = clientAddresses(53);
    const names = await startNameServer(
      (name) => (name === HONEST ? ["127.0.0.1"] : "silent"),
      0,
      NAME_SERVER_PORT,
    );
    const { port, delaysMs, close } = await startHonest();
    const honest = `http://${HONEST}:${port}/siege/honest`;
    // The time of an event of the node is that at which it was logged; that of a fact is the time of its block.
    await registerHook(target, addresses.next(), { event: "block.forged", target: honest });
    for (let index = 0; index < SILENT_WEBHOOKS; index++) {
      const silent = `http://silent-${index}.example/siege/${index}`;
      await registerHook(target, addresses.next(), { events: ["*"], target: silent });
    }
    await untilAborted(signal);
    tally.offered(names.queries().length);
    close();
    names.close();
    await removeAll(target, addresses);
    const longestMs = Math.max(...delaysMs);
    if (delaysMs.length === 0) throw new Error("an honest webhook got nothing");
    if (longestMs > MAX_DELAY_MS) throw new Error(`an honest webhook got a delivery after ${longestMs} ms`);
  },
};
