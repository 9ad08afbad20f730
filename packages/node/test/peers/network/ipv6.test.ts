/** Clients with more IPv6 addresses than a node has connections: they get a few, and others are admitted. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { createWorld, type World } from "../../../test-support/peers/world.ts";
import { skips } from "../../../test-support/process/available.ts";
import { missingForHosts } from "../../../test-support/process/hosts.ts";
import { type Running, spawnUniknode } from "../../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";

const isSkipped = skips(missingForHosts());
const namespace = `uk-ipv6-${process.pid}`;
const inside = ["ip", "netns", "exec", namespace];

let world: World | undefined;
let node: Running | undefined;

afterAll(async () => {
  node?.child.kill("SIGKILL");
  await node?.ended;
  await world?.close();
  if (!isSkipped) spawnSync("ip", ["netns", "del", namespace]);
});

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: WAIT_MS });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Namespace in which every address of 2001:db8::/32 belongs to this host. */
function makeNamespace(): void {
  run("ip", "netns", "add", namespace);
  run(
    present(inside[0]),
    ...inside.slice(1),
    "sh",
    "-c",
    "ip link set lo up && ip -6 route add local 2001:db8::/32 dev lo && " +
      "echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind",
  );
}

/** Connects from each of the addresses, keeps the admitted connections, and sends a request from the last one. */
const STRANGERS = `
import { once } from "node:events";
import { WebSocket } from "ws";
const { p2pPort, metrics, attackers, honest } = JSON.parse(process.argv.at(-1));
const open = (localAddress) => new Promise((resolve) => {
  const socket = new WebSocket("ws://[2001:db8:ffff::1]:" + p2pPort + "/socketcluster/", { localAddress, perMessageDeflate: false });
  socket.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
  socket.on("open", () => socket.send('{"event":"#handshake","data":{"authToken":null},"cid":1}'));
  socket.once("message", () => resolve(socket));
});
const held = [];
for (const group of attackers) {
  const sockets = [];
  for (let at = 0; at < group.length; at += 50) sockets.push(...await Promise.all(group.slice(at, at + 50).map(open)));
  held.push(sockets.filter((socket) => socket !== undefined).length);
}
const socket = await open(honest);
let reply;
if (socket) {
  socket.send('{"event":"p2p.peer.getStatus","data":{"data":{},"headers":{}},"cid":2}');
  reply = JSON.parse(String((await once(socket, "message"))[0]));
}
const read = async () => {
  const page = await (await fetch(metrics)).text();
  return Object.fromEntries(page.split("\\n").filter((line) => line.startsWith("uniknode_peers_sessions")).map((line) => line.split(/ (?=[^ ]*$)/)));
};
let figures = await read();
// The last sessions that were evicted can still be closing.
while (figures.uniknode_peers_sessions > 31) {
  await new Promise((resolve) => setTimeout(resolve, 100));
  figures = await read();
}
console.log(JSON.stringify({ held, height: reply?.data?.data?.state?.height, figures }));
process.exit(0);
`;

test.skipIf(isSkipped)(
  "One /64 and one /48 take up a few sessions, and an honest node gets in.",
  async () => {
    makeNamespace();
    world = await createWorld({ nodes: 1, blocktime: 2 });
    node = spawnUniknode(
      [
        "run",
        ...["--network-dir", world.networkDir, "--data", join(world.folder, "node"), "--http-port", "0"],
        ...["--p2p-port", String(world.port), "--peers", "2001:db8:ffff::2"],
        "--metrics-public",
      ],
      { through: inside },
    );
    const [url] = await node.printed(/http:\S+/);
    const hex = (index: number) => (index + 1).toString(16);
    const numbers = Array.from({ length: 400 }, (_, index) => index);
    const argument = JSON.stringify({
      p2pPort: world.port,
      metrics: `${url}/metrics`,
      attackers: [
        numbers.map((index) => `2001:db8:1:1:${hex(index)}:${hex(index)}:${hex(index)}:${hex(index)}`),
        numbers.map((index) => `2001:db8:2:${hex(index)}::1`),
      ],
      honest: "2001:db8:3:1::1",
    });
    const script = ["--input-type=module", "-e", STRANGERS, argument];
    const printed = run(present(inside[0]), ...inside.slice(1), process.execPath, ...script);
    const { held, height, figures } = JSON.parse(printed);
    expect(held).toEqual([10, 20]);
    expect(height).toBeGreaterThanOrEqual(1);
    expect(Number(figures.uniknode_peers_sessions)).toBeLessThanOrEqual(31);
    const refused = Number(figures['uniknode_peers_sessions_refused_total{reason="subnet"}']);
    // All but the held ones, and the few whose handshake takes too long on a busy machine.
    expect(refused + Number(figures.uniknode_peers_sessions_evicted_total)).toBeGreaterThan(700);
  },
);
