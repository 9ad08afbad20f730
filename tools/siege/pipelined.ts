/** Connections of an attacker that sends further requests before it has the responses to the last ones. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Counts } from "./attack-definition.ts";
import { createConnections, repeat } from "./requests.ts";
import type { Target } from "./target.ts";

export type Pipelining = {
  readonly connections: number;
  /** Requests of one connection without a response. */
  readonly depth: number;
  /** Source address of the connections. */
  readonly from: string;
  readonly path: string;
};

const STATUS = /HTTP\/1\.1 (\d{3})/g;
/** Maximum length of a partial status line. */
const TAIL = 12;
const PAUSE_MS = 50;

/** Posts bodies until the signal is aborted; connections that the node closes are opened again. */
export async function postPipelined(
  { host, httpPort }: Pick<Target, "host" | "httpPort">,
  { connections, depth, from, path }: Pipelining,
  tally: Counts,
  signal: AbortSignal,
  nextBody: () => string,
): Promise<void> {
  const open = createConnections({ offered() {}, refused: tally.refused });
  const postOn = (socket: ReturnType<typeof open.open>) => {
    const body = nextBody();
    tally.offered();
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${host}:${httpPort}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };

  await repeat({ atOnce: 1, pauseMs: PAUSE_MS }, signal, async () => {
    while (open.count() < connections) {
      const socket = open.open(host, httpPort, from);
      let tail = "";
      socket.setEncoding("latin1").on("data", (part: string) => {
        const text = tail + part;
        const statuses = [...text.matchAll(STATUS)];
        // Skip what was already counted.
        const counted = statuses.at(-1);
        tail = text.slice(counted ? counted.index + counted[0].length : 0).slice(-TAIL);
        tally.refused(statuses.filter(([, status]) => Number(status) >= 400).length);
        for (const _ of statuses) postOn(socket);
      });
      for (let index = 0; index < depth; index++) postOn(socket);
      // Creating the bodies of one connection costs time.
      await sleep(0);
    }
  });
  open.closeAll();
}
