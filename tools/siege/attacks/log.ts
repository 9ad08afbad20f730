/** A separate node whose log is on a full disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiUrlOf, spawnUniknode } from "../../../packages/node/test-support/process/uniknode.ts";
import type { Attack } from "../attack-definition.ts";
import { repeat, send } from "../requests.ts";

const STOP_TIMEOUT_MS = 15_000;
const FORGING_TIMEOUT_MS = 20_000;
const MIN_BLOCKS = 2;

/** The program whose standard error stream is a full disk. */
const FULL_DISK = ["sh", "-c", 'exec "$@" 2> /dev/full', "sh"];

export const unwritableLog: Attack = {
  name: "unwritable log",
  description: "a second node that logs to a full disk: it must forge, respond, and stop on SIGTERM",
  async run(_target, tally, signal) {
    const data = mkdtempSync(join(tmpdir(), "uniknode-siege-log-"));
    const node = spawnUniknode(
      ["dev", "--data", data, "--http-port", "0", "--block-time", "1", "--log-level", "debug"],
      { through: FULL_DISK },
    );
    try {
      tally.offered();
      const url = await apiUrlOf(node);
      const { hostname: host, port } = new URL(url);
      const height = async () => {
        const response = await fetch(`${url}/api/v2/blockchain`);
        return ((await response.json()) as { data: { block: { height: number } } }).data.block.height;
      };
      const first = await height();
      await repeat({ atOnce: 2, pauseMs: 20 }, signal, () =>
        send({ host, httpPort: Number(port) }, tally, { path: "/api/%zz", from: "127.44.0.1" }),
      );
      const endsMs = performance.now() + FORGING_TIMEOUT_MS;
      while ((await height()) < first + MIN_BLOCKS) {
        if (performance.now() > endsMs) throw new Error("it does not forge");
        await sleep(200);
      }
      node.child.kill("SIGTERM");
      const ended = await Promise.race([node.ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      if (ended?.code !== 0)
        throw new Error(ended ? `it ended with ${ended.code}` : "SIGTERM does not end it");
    } finally {
      node.child.kill("SIGKILL");
      await node.ended;
      rmSync(data, { recursive: true, force: true });
    }
  },
};
