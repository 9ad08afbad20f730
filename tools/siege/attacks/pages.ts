/** Valid but expensive requests. */

import { present } from "../../../packages/node/src/platform/present.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat, send } from "../requests.ts";

const LISTS = [
  "transactions",
  "blocks",
  "wallets",
  "uniks",
  "delegates",
  "votes",
  "locks",
  "rounds/1/delegates",
];
const EXTREMES = [
  "page=9007199254740991",
  "page=18446744073709551616",
  "page=-1",
  "page=1000000&limit=100",
  "limit=100000000",
  "offset=9007199254740991",
  "offset=-1&limit=100",
  "after=AAAA",
  `after=${"A".repeat(4_000)}`,
  "orderBy=amount:desc&page=90000",
  "orderBy=timestamp:asc&limit=100&page=99999",
  "fields=%00",
];

export const extremePages: Attack = {
  name: "extreme pages",
  description: "offsets, limits and cursors at their extremes on every list",
  async run(target, tally, signal) {
    const addresses = clientAddresses(29);
    let sent = 0;
    await repeat({ atOnce: 8, pauseMs: 5 }, signal, () => {
      const list = LISTS[sent % LISTS.length];
      const query = EXTREMES[Math.floor(sent++ / LISTS.length) % EXTREMES.length];
      return send(target, tally, { path: `/api/v2/${list}?${query}`, from: addresses.next() });
    });
  },
};

export const operationsFlood: Attack = {
  name: "operations flood",
  description: "/health/status, /health/ready and /metrics (with the token) as fast as the node responds",
  async run(target, tally, signal) {
    const addresses = clientAddresses(30);
    const paths = ["/health/status", "/health/ready", "/metrics"];
    let sent = 0;
    await repeat({ atOnce: 16, pauseMs: 5 }, signal, () =>
      send(target, tally, {
        path: present(paths[sent++ % paths.length]),
        from: addresses.next(),
        headers: { authorization: target.token },
      }),
    );
  },
};
