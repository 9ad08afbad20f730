/**
 * Separate network of the siege: a namespace in which every address of 2001:db8::/32 is local, like 127.0.0.0/8 on every
 * machine.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

const PREFIX = "2001:db8::/32";
const SETUP =
  `ip link set lo up && ip -6 route add local ${PREFIX} dev lo && ` +
  'echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind && exec "$@"';

const inside = (command: readonly string[]): [string, string[]] => [
  "unshare",
  ["--user", "--map-root-user", "--net", "sh", "-c", SETUP, "sh", ...command],
];

/** Returns the requirement for addresses of 2001:db8::/32 that this machine lacks, if any. */
export function missingForIpv6(): string | undefined {
  const { stdout } = spawnSync("ip", ["-6", "route", "show", "table", "local"], { encoding: "utf8" });
  return stdout?.includes(PREFIX) ? undefined : `addresses of ${PREFIX} (a network namespace)`;
}

/** Runs this program again in such a network. Returns its exit code, or undefined if that is not possible. */
export async function runInOwnNetwork(): Promise<number | undefined> {
  if (spawnSync(...inside(["true"])).status !== 0) return undefined;
  const child = spawn(...inside([process.execPath, ...process.argv.slice(1)]), { stdio: "inherit" });
  // The terminal sends Ctrl-C to both.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
