/** Webhooks of a reckless client with the token: too many of them, receivers that do not respond or do not end, silent names. */
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { startNameServer } from "../../../../packages/node/test-support/webhooks/name-server.ts";
import type { Attack, Attacker } from "../attacker.ts";
import { missingForNames, throughNames } from "../namespaces.ts";
import { registration } from "../requests.ts";
import { startForging } from "../start-node.ts";

const HEADERS = "x: y\r\n".repeat(200);
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** Removes every webhook with a target below `/siege/`. */
async function removeAll(attacker: Attacker): Promise<void> {
  const headers = { authorization: attacker.target.token };
  for (;;) {
    const { status, text } = await attacker.ask({ path: "/api/v2/webhooks?limit=100", headers });
    if (status !== 200) throw new Error(`the register responded with ${status}: ${text}`);
    const { data } = JSON.parse(text) as { data: { id: string | number; target: string }[] };
    const own = data.filter(({ target }) => target.includes("/siege/"));
    if (own.length === 0) return;
    for (let index = 0; index < own.length; index += 10) {
      const removals = own
        .slice(index, index + 10)
        .map(({ id }) => attacker.ask({ method: "DELETE", path: `/api/v2/webhooks/${id}`, headers }));
      await Promise.all(removals);
    }
  }
}

/** Receiver that responds with the first text, then with the other one without an end; empty texts: it never responds. */
async function startEndless(first: string, repeated: string) {
  const open = new Set<Socket>();
  const bytes = Buffer.from(repeated);
  const server = createTcpServer((socket) => {
    open.add(socket);
    const write = () => {
      while (bytes.length > 0 && !socket.destroyed && socket.write(bytes));
    };
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    socket.on("drain", write).resume();
    socket.once("data", () => {
      if (first !== "") socket.write(first);
      write();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

const CLOSED_PORT = 9;

/** Registers webhooks as fast as possible. Their receiver sends texts, or is closed, so that each delivery fails at once. */
const register =
  (webhooks: number, texts?: Parameters<typeof startEndless>): Attack["run"] =>
  async (attacker) => {
    const receiver = texts && (await startEndless(...texts));
    const port = receiver?.port ?? CLOSED_PORT;
    let number = 0;
    await attacker.repeat({ atOnce: 4, times: webhooks }, () => {
      const target = `http://127.0.0.1:${port}/siege/${number++}`;
      return attacker.send(registration(attacker.target.token, { target }));
    });
    receiver?.close();
    await removeAll(attacker);
  };

const WEBHOOKS = 6;
const endless = (what: string, ...texts: Parameters<typeof startEndless>): Attack => ({
  name: `endless ${what}`,
  description: `${WEBHOOKS} webhooks for every event, whose receivers send ${what} without an end`,
  run: register(WEBHOOKS, texts),
});

const SILENT_WEBHOOKS = 2;
const HONEST = "honest.example";
const NAME_SERVER_PORT = 53;
/** The whole machine is slow at times: the bound of the node is 100 ms. */
const MAX_DELAY_MS = 1_000;

export const WEBHOOK_ATTACKS: readonly Attack[] = [
  endless("interim responses", "", `HTTP/1.1 103 Early Hints\r\n${HEADERS}\r\n`.repeat(50)),
  endless("chunk extensions", `${CHUNKED}1`, ";name=value".repeat(5_000)),
  endless("trailers", `${CHUNKED}0\r\n`, HEADERS.repeat(50)),
  {
    name: "hanging receivers",
    description: "1,000 webhooks for every event whose receivers never respond",
    run: register(1_000, ["", ""]),
  },
  {
    name: "registrations",
    description: "10,000 webhooks registered as fast as the node accepts them",
    run: register(10_000),
  },
  {
    name: "silent names",
    description: `${SILENT_WEBHOOKS} webhooks for every event whose name servers are silent, beside a webhook of another name`,
    start: () => startForging({ through: (folder) => throughNames(join(folder, "resolv.conf")) }),
    missingRequirement: missingForNames,
    async run(attacker) {
      const { token } = attacker.target;
      const zone = (name: string) => (name === HONEST ? ["127.0.0.1"] : "silent");
      const names = await startNameServer(zone, 0, NAME_SERVER_PORT);
      const delaysMs: number[] = [];
      const server = createServer(async (request, response) => {
        const { timestamp } = (await json(request)) as { timestamp: number };
        delaysMs.push(Date.now() - timestamp);
        response.writeHead(204).end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const honest = `http://${HONEST}:${(server.address() as AddressInfo).port}/siege/honest`;
      // The time of an event of the node is that at which it was logged; that of a fact is the time of its block.
      await attacker.ask(registration(token, { events: ["block.forged"], target: honest }));
      for (let index = 0; index < SILENT_WEBHOOKS; index++) {
        const target = `http://silent-${index}.example/siege/${index}`;
        await attacker.send(registration(token, { target }));
      }
      await attacker.aborted();
      attacker.offered(names.queries().length);
      server.close();
      server.closeAllConnections();
      names.close();
      await removeAll(attacker);
      const longestMs = Math.max(...delaysMs);
      if (delaysMs.length === 0) throw new Error("an honest webhook got nothing");
      if (longestMs > MAX_DELAY_MS) throw new Error(`an honest webhook got a delivery after ${longestMs} ms`);
    },
  },
];
