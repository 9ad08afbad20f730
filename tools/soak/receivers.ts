/** Webhook receivers: good ones, which check their deliveries, and three kinds of bad ones. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { present } from "../../packages/node/src/platform/present.ts";

export type ReceiverKind = "good" | "failing" | "hanging" | "dripping";

/** The members of a delivery that receivers read. */
type Body = { readonly event: string; readonly height: number; readonly data: { readonly id: string } };

/** One webhook at a good receiver. */
export type Received = {
  /** Ids of the received blocks or transactions. */
  readonly ids: ReadonlySet<string>;
  readonly faults: readonly string[];
};

export type Receivers = {
  /** Returns the URL for the webhook with this number. */
  target(kind: ReceiverKind, number: number): string;
  /** Good receivers, by number of the webhook. */
  readonly received: ReadonlyMap<number, Received>;
  /** Requests since the start, of all kinds. */
  requests(): number;
  close(): Promise<void>;
};

const DRIP_INTERVAL_MS = 1_000;

export async function startReceivers(): Promise<Receivers> {
  const received = new Map<number, { ids: Set<string>; faults: string[]; lastHeight: number }>();
  let requests = 0;

  function take(number: number, body: string): void {
    const { event, height, data } = JSON.parse(body) as Body;
    const { id } = data;
    const known = received.get(number) ?? { ids: new Set(), faults: [], lastHeight: 0 };
    received.set(number, known);
    if (known.ids.has(id)) known.faults.push(`${id} arrived twice`);
    known.ids.add(id);
    if (event !== "block.applied") return;
    if (known.lastHeight > 0 && height !== known.lastHeight + 1) {
      known.faults.push(`block ${height} arrived after block ${known.lastHeight}`);
    }
    known.lastHeight = height;
  }

  const server = createServer(async (request, response) => {
    requests += 1;
    const [, kind, number] = present(request.url).split("/");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (kind === "good") take(Number(number), Buffer.concat(chunks).toString());
    respond(kind as ReceiverKind, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    target: (kind, number) => `http://127.0.0.1:${port}/${kind}/${number}`,
    received,
    requests: () => requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function respond(kind: ReceiverKind, response: ServerResponse): void {
  switch (kind) {
    case "good":
      response.writeHead(204).end();
      return;
    case "failing":
      response.writeHead(500).end();
      return;
    case "dripping": {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), DRIP_INTERVAL_MS);
      response.once("close", () => clearInterval(timer));
      return;
    }
    case "hanging":
      // No response: the node closes the connection.
      return;
  }
}
