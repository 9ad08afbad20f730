/** Requests below `/console`, most of which no limit of the API counts. */

import { present } from "../../../packages/node/src/platform/present.ts";
import { clientAddresses } from "../addresses.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat, type Send, send } from "../requests.ts";

const json = (value: object): Pick<Send, "method" | "body"> => ({
  method: "POST",
  body: JSON.stringify(value),
});

export const consoleFlood: Attack = {
  name: "console flood",
  description:
    "pages in every encoding, operations without a session, and sign-ins with codes and with the token",
  async run(target, tally, signal) {
    const addresses = clientAddresses(31);
    const cookie = `uniknode_console_${target.httpPort}=${"A".repeat(43)}; `;
    const session = { cookie: cookie.repeat(100), "x-session-key": "A".repeat(43) };
    const requests: readonly Omit<Send, "from">[] = [
      ...["br", "gzip", "identity", "br;q=0.5, *;q=0"].map((encoding) => ({
        path: "/console/blocks",
        headers: { "accept-encoding": encoding },
      })),
      { path: `/console/${"a/".repeat(1_000)}` },
      { path: "/console/assets/none.js" },
      { path: "/console/session", headers: session },
      { path: "/console/operations/api/v2/webhooks", headers: session },
      { path: "/console/operations/api/v2/events", headers: session },
      { path: "/console/operations/metrics", headers: session },
      { path: "/console/session", ...json({ code: "A".repeat(43) }) },
      { path: "/console/session", ...json({ token: "A".repeat(512) }) },
      // More sessions than the limit.
      { path: "/console/session", ...json({ token: target.token }) },
      { path: "/console/links", ...json({}), headers: { authorization: target.token } },
    ];
    let sent = 0;
    await repeat({ atOnce: 16, pauseMs: 5 }, signal, () =>
      send(target, tally, { ...present(requests[sent++ % requests.length]), from: addresses.next() }),
    );
  },
};
