/**
 * A receiver in a process of its own, so that it takes no time of the sender's: answers 204 and remembers when each
 * delivery began to arrive.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

/** What arrived: the `webhook-id` and the time of the first byte, in milliseconds since 1970 with fractions. */
export type Arrival = readonly [id: string, atMs: number];

export type Receiver = {
  readonly url: string;
  /** What arrived since the last call. */
  arrivals(): Promise<Arrival[]>;
  close(): Promise<void>;
};

type FromReceiver = { readonly port: number } | { readonly arrivals: Arrival[] };

/** `answerMs`: time that it takes for each answer. */
export async function startReceiver(answerMs = 0): Promise<Receiver> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), ["listen", String(answerMs)]);
  const next = async () => (await once(child, "message"))[0] as FromReceiver;
  const first = await next();
  if (!("port" in first)) throw new Error("the receiver does not listen");
  return {
    url: `http://127.0.0.1:${first.port}/hook`,
    async arrivals() {
      child.send("arrivals");
      const answer = await next();
      return "arrivals" in answer ? answer.arrivals : [];
    },
    async close() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

function listen(answerMs: number): void {
  let arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    arrivals.push([String(request.headers["webhook-id"]), performance.timeOrigin + performance.now()]);
    const answer = () => void response.writeHead(204).end();
    request.resume().on("end", () => (answerMs === 0 ? answer() : setTimeout(answer, answerMs)));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () =>
    process.send!({ port: (server.address() as AddressInfo).port } satisfies FromReceiver),
  );
  process.on("message", () => {
    process.send!({ arrivals } satisfies FromReceiver);
    arrivals = [];
  });
  process.on("disconnect", () => process.exit(0));
}

if (process.argv[2] === "listen") listen(Number(process.argv[3]));
