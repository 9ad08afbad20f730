/** A name server on this machine, and a resolver that queries it. */
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { isIP } from "node:net";

/** Addresses of a name; `unknown`: the name does not exist; `silent`: no reply; `broken`: a failure of the server. */
export type Zone = (name: string) => readonly string[] | "unknown" | "silent" | "broken";

export type NameServer = {
  readonly port: number;
  readonly openResolver: () => Resolver;
  /** Returns the names that were queried since the last call, once for each family. */
  queries(): string[];
  close(): void;
};

const [A, AAAA] = [1, 28];
const CODES = { unknown: 3, broken: 2 };

export async function startNameServer(zone: Zone, ttl = 60, port = 0): Promise<NameServer> {
  let queries: string[] = [];
  const socket = createSocket("udp4").bind(port, "127.0.0.1");
  await once(socket, "listening");
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    queries.push(name);
    const found = zone(name);
    if (found === "silent") return;
    const family = type === A ? 4 : 6;
    const records = typeof found === "string" ? [] : found.filter((each) => isIP(each) === family);
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180 + (typeof found === "string" ? CODES[found] : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, ...records.map((each) => recordOf(each, ttl))]), port, address);
  });
  const own = socket.address().port;
  return {
    port: own,
    openResolver() {
      const resolver = new Resolver({ timeout: 10_000, tries: 1 });
      resolver.setServers([`127.0.0.1:${own}`]);
      return resolver;
    },
    queries() {
      const seen = queries;
      queries = [];
      return seen;
    },
    close: () => void socket.close(),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns a record of the name in the question. */
function recordOf(address: string, ttl: number): Buffer {
  const bytes = bytesOf(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(bytes.length === 4 ? A : AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

/** Returns the bytes of an address; those of IPv6 must contain `::`. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [front = "", back = ""] = address.split("::");
  const words = (text: string) =>
    text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [words(front), words(back)];
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}
