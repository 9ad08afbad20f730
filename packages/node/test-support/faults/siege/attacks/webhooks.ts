/** Webhooks of a reckless client with the token: too many of them, and receivers that do not respond or do not end. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Attack, Attacker } from "../attacker.ts";
import { inTurn, registration, WITH_TOKEN } from "../requests.ts";

const HEADERS = "x: y\r\n".repeat(200);
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

/** Removes every webhook with a target below `/siege/`. */
async function removeAll(attacker: Attacker): Promise<void> {
  for (;;) {
    const { status, text } = await attacker.ask({ path: "/api/v2/webhooks?limit=100", headers: WITH_TOKEN });
    if (status !== 200) throw new Error(`the register responded with ${status}: ${text}`);
    const { data } = JSON.parse(text) as { data: { id: string | number; target: string }[] };
    const own = data.filter(({ target }) => target.includes("/siege/"));
    if (own.length === 0) return;
    const remove = (id: string | number) =>
      attacker.ask({ method: "DELETE", path: `/api/v2/webhooks/${id}`, headers: WITH_TOKEN });
    while (own.length > 0) await Promise.all(own.splice(0, 10).map(({ id }) => remove(id)));
  }
}

/** Response of a receiver: its start, and what follows again and again; empty texts: it never responds. */
type Endless = readonly [first: string, repeated: string];

async function startEndless([first, repeated]: Endless) {
  const open = new Set<Socket>();
  const bytes = Buffer.from(repeated);
  const server = createServer((socket) => {
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

/** Registers webhooks as fast as possible, for the receivers in turn; without any, each delivery fails at once. */
const register = (webhooks: number, responses: readonly Endless[] = []): Attack => ({
  async run(attacker) {
    const receivers = await Promise.all(responses.map(startEndless));
    const nextPort = inTurn(receivers.length === 0 ? [CLOSED_PORT] : receivers.map(({ port }) => port));
    let number = 0;
    await attacker.repeat({ atOnce: 4, times: webhooks }, () => {
      const target = `http://127.0.0.1:${nextPort()}/siege/${number++}`;
      return attacker.send(registration({ target }));
    });
    for (const receiver of receivers) receiver.close();
    await removeAll(attacker);
  },
});

export const WEBHOOK_ATTACKS: Readonly<Record<string, Attack>> = {
  /** Webhooks for every event, whose receivers send interim responses, chunk extensions or trailers without an end. */
  "endless responses": register(18, [
    ["", `HTTP/1.1 103 Early Hints\r\n${HEADERS}\r\n`.repeat(50)],
    [`${CHUNKED}1`, ";name=value".repeat(5_000)],
    [`${CHUNKED}0\r\n`, HEADERS.repeat(50)],
  ]),
  "hanging receivers": register(1_000, [["", ""]]),
  registrations: register(10_000),
};
