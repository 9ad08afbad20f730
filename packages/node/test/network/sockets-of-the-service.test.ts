/** Two real nodes on hosts of their own, with the sockets that the unit of the service allows and no others. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { missingProgram, skips } from "../../test-support/process/available.ts";
import { createHosts, type Hosts, missingForHosts } from "../../test-support/process/hosts.ts";
import { type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const isSkipped = skips(missingForHosts() ?? missingProgram("python3"));
const UNIT = join(import.meta.dirname, "../../../../ops/systemd/uniknode.service");
const PORTS = { http: 4_003, p2p: 4_001 };

/** Refuses sockets of other families as systemd does, with a filter of system calls, and becomes a program. */
const RESTRICTED = `
import ctypes, os, platform, socket, struct, sys
families = [getattr(socket, name) for name in sys.argv[1].split()]
call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
LOAD, JUMP, RETURN, REFUSED, ALLOWED = 0x20, 0x15, 0x06, 0x00050000 | 97, 0x7FFF0000
count = len(families)
steps = [(LOAD, 0, 0, 0), (JUMP, 0, count + 2, call), (LOAD, 0, 0, 16)]
steps += [(JUMP, count - index, 0, family) for index, family in enumerate(families)]
steps += [(RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOWED)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): raise OSError(ctypes.get_errno(), "no filter")
os.execvp(sys.argv[2], sys.argv[2:])
`;

const folder = mkdtempSync(join(tmpdir(), "uniknode-sockets-"));
const nodes: Running[] = [];
let hosts: Hosts | undefined;

afterAll(async () => {
  for (const { child, ended } of nodes) {
    child.kill("SIGKILL");
    await ended;
  }
  hosts?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a node of the network, and returns a function that reads the API. */
function start({ addressOf, commandOf }: Hosts, index: number, families: string) {
  const network = join(folder, "network");
  const host = addressOf(index);
  const args = [
    ...["run", "--network-dir", network, "--delegates", join(network, `delegates-${index + 1}.json`)],
    ...["--data", join(folder, `data-${index}`), "--watch-rounds", "0", "--rate-limit", "0"],
    ...[
      "--http-host",
      host,
      "--http-port",
      `${PORTS.http}`,
      "--p2p-host",
      host,
      "--p2p-port",
      `${PORTS.p2p}`,
    ],
    ...["--peers", addressOf(1 - index)],
  ];
  nodes.push(spawnUniknode(args, { through: [...commandOf(index), "python3", "-c", RESTRICTED, families] }));
  return async (path: string) => {
    const response = await fetch(`http://${host}:${PORTS.http}/api/v2${path}`).catch(() => undefined);
    return response?.ok ? ((await response.json()) as { data: unknown }).data : undefined;
  };
}

test.skipIf(isSkipped)(
  "Nodes with the sockets of the service find each other, and forge one chain.",
  async () => {
    const [, families] = present(/^RestrictAddressFamilies=(.+)$/m.exec(readFileSync(UNIT, "utf8")));
    const init = ["network", "init", join(folder, "network"), "--nodes", "2", "--block-time", "1"];
    expect(await runUniknode(init)).toMatchObject({ code: 0 });
    hosts = createHosts(2);
    // Other sandboxes, and earlier units, do not allow netlink.
    const sandboxes = [present(families), "AF_INET AF_INET6 AF_UNIX"];
    const reads = sandboxes.map((allowed, index) => start(present(hosts), index, allowed));
    for (const read of reads)
      await until(
        "the node has a peer",
        async () => ((await read("/peers")) as unknown[] | undefined)?.length === 1,
      );
    await until("both nodes have the same block 5", async () => {
      const [one, other] = await Promise.all(
        reads.map((read) => read("/blocks/5") as Promise<{ id: string }>),
      );
      return one !== undefined && one.id === other?.id;
    });
    for (const { child } of nodes) expect(child.exitCode).toBeNull();
  },
);
