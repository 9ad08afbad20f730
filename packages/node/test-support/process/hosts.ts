/**
 * Hosts on one machine: network namespaces with an address each, joined by a bridge, whose connections can be
 * cut. Needs the right to create them, and `ip` of iproute2.
 */
import { spawnSync } from "node:child_process";
import { missingProgram } from "./available.ts";

/** Names what this machine lacks for hosts, if anything. */
export function missingForHosts(): string | undefined {
  const name = `uk-probe-${process.pid}`;
  const missing = missingProgram("ip", ["netns", "add", name]);
  if (missing === undefined) spawnSync("ip", ["netns", "del", name]);
  return missing;
}

export type Hosts = ReturnType<typeof createHosts>;

/** @throws {Error} with the output of `ip` */
export function createHosts(count: number) {
  const id = process.pid % 50_000;
  const bridge = `ukb${id}`;
  const nameOf = (index: number) => `uk-${id}-${index}`;
  // Each in its own /24, as hosts of different owners are.
  const net = freeNet();
  const addressOf = (index: number) => `${net}.${index + 1}.1`;
  const own = `${net}.254.1`;
  const inside = (index: number, ...args: string[]) => ip("-n", nameOf(index), ...args);

  function remove(): void {
    for (let index = 0; index < count; index++) spawnSync("ip", ["netns", "del", nameOf(index)]);
    spawnSync("ip", ["link", "del", bridge]);
  }

  function addHost(index: number): void {
    const outer = `ukh${id}-${index}`;
    ip("netns", "add", nameOf(index));
    ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", nameOf(index));
    ip("link", "set", outer, "master", bridge, "up");
    inside(index, "addr", "add", `${addressOf(index)}/16`, "dev", "eth0");
    inside(index, "link", "set", "eth0", "up");
    inside(index, "link", "set", "lo", "up");
  }

  try {
    ip("link", "add", bridge, "type", "bridge");
    ip("addr", "add", `${own}/16`, "dev", bridge);
    ip("link", "set", bridge, "up");
    for (let index = 0; index < count; index++) addHost(index);
  } catch (error) {
    remove();
    throw error;
  }

  return {
    /** Address of this process, as seen by the hosts. */
    own,
    addressOf,
    /** Command prefix with which a program runs on a host. */
    commandOf: (index: number): readonly string[] => ["ip", "netns", "exec", nameOf(index)],
    /** Drops all packets between two hosts, in both directions; connections stay open. */
    cut(a: number, b: number) {
      inside(a, "route", "replace", "blackhole", `${addressOf(b)}/32`);
      inside(b, "route", "replace", "blackhole", `${addressOf(a)}/32`);
    },
    heal(a: number, b: number) {
      inside(a, "route", "del", "blackhole", `${addressOf(b)}/32`);
      inside(b, "route", "del", "blackhole", `${addressOf(a)}/32`);
    },
    remove,
  };
}

/**
 * First half of the addresses of a /16 that no other trial uses, not even one that was killed and left its
 * bridge.
 */
function freeNet(): string {
  const routes = ip("-4", "route", "show");
  const nets = Array.from({ length: 64 }, (_, index) => `10.${64 + index}`);
  const net = nets.find((candidate) => !routes.includes(`${candidate}.0.0/16`));
  if (net === undefined) throw new Error("every /16 from 10.64 to 10.127 is in use; see ip -4 route show");
  return net;
}

/** Returns the output of `ip`. */
function ip(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("ip", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.trim()}`);
  return stdout;
}
