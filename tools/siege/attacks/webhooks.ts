/** Webhooks of a reckless client with the token. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { clientAddresses } from "../addresses.ts";
import type { Attack, Tally } from "../attack-definition.ts";
import { ask, repeat, send, untilAborted } from "../requests.ts";
import type { Target } from "../target.ts";

const HANGING_WEBHOOKS = 1_000;
const REGISTRATIONS = 10_000;
/** Condition that is true for every event. */
const CONDITIONS = [{ key: "event", condition: "ne", value: "" }];

/** Removes every webhook with a target below `/siege/`. */
export async function removeAll(target: Target, addresses: { next(): string }): Promise<void> {
  const silent = { offered() {}, refused() {} };
  const headers = { authorization: target.token };
  for (;;) {
    const path = "/api/v2/webhooks?limit=100";
    const { status, text } = await ask(target, { path, from: addresses.next(), headers });
    if (status !== 200) throw new Error(`the register responded with ${status}: ${text}`);
    const { data } = JSON.parse(text) as { data: { id: string | number; target: string }[] };
    const own = data.filter(({ target }) => target.includes("/siege/"));
    if (own.length === 0) return;
    for (let index = 0; index < own.length; index += 10) {
      const removals = own.slice(index, index + 10).map(({ id }) =>
        send(target, silent, {
          method: "DELETE",
          path: `/api/v2/webhooks/${id}`,
          from: addresses.next(),
          headers,
        }),
      );
      await Promise.all(removals);
    }
  }
}

/** Registers webhooks for every event as fast as possible, up to a number. */
export async function register(
  target: Target,
  tally: Tally,
  signal: AbortSignal,
  { count, port, addresses }: { count: number; port: number; addresses: { next(): string } },
): Promise<void> {
  let left = count;
  await repeat({ atOnce: 4 }, signal, async () => {
    if (left-- <= 0) return untilAborted(signal);
    const body = JSON.stringify({
      events: ["*"],
      target: `http://127.0.0.1:${port}/siege/${left}`,
      conditions: CONDITIONS,
    });
    const headers = { authorization: target.token };
    await send(target, tally, { path: "/api/v2/webhooks", from: addresses.next(), headers, body });
  });
}

/** Receiver that accepts connections and requests, but never responds. */
async function startHanging() {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    socket.resume();
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

export const hangingReceivers: Attack = {
  name: "hanging receivers",
  description: `${HANGING_WEBHOOKS} webhooks for every event whose receivers never respond`,
  async run(target, tally, signal) {
    const addresses = clientAddresses(38);
    const { port, close } = await startHanging();
    await register(target, tally, signal, { count: HANGING_WEBHOOKS, port, addresses });
    close();
    await removeAll(target, addresses);
  },
};

export const registrations: Attack = {
  name: "registrations",
  description: `${REGISTRATIONS} webhooks registered as fast as the node accepts them`,
  async run(target, tally, signal) {
    const addresses = clientAddresses(39);
    // Port 9 is closed: each delivery fails at once.
    await register(target, tally, signal, { count: REGISTRATIONS, port: 9, addresses });
    await removeAll(target, addresses);
  },
};

export const foreignPages: Attack = {
  name: "foreign pages",
  description:
    "requests that a web page of another site can cause: foreign Origin and Host, text/plain, no token",
  async run(target, tally, signal) {
    const addresses = clientAddresses(40);
    const body = JSON.stringify({
      events: ["*"],
      target: "http://127.0.0.1:9/siege/page",
      conditions: CONDITIONS,
    });
    await repeat({ atOnce: 2, pauseMs: 50 }, signal, () =>
      send(target, tally, {
        path: "/api/v2/webhooks",
        from: addresses.next(),
        headers: { "content-type": "text/plain", origin: "http://evil.example", host: "evil.example" },
        body,
      }),
    );
  },
};
