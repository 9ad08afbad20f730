/** Namespaces of the system: a disk or a name server of a single process, and a network of the siege with IPv6 addresses. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { present } from "../../../packages/node/src/platform/present.ts";

type Command = readonly string[];

const MOUNTS: Command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
const NAMES = "/etc/resolv.conf";
/** Every address of it is local in the network of the siege, as those of 127.0.0.0/8 are on every machine. */
const PREFIX = "2001:db8::/32";
const SETUP =
  `ip link set lo up && ip -6 route add local ${PREFIX} dev lo && ` +
  'echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind && exec "$@"';
const NETWORK: Command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", SETUP, "sh"];

/** Returns the reason why a command fails, or undefined. */
function failureOf([command, ...args]: Command): string | undefined {
  const { error, status, stderr } = spawnSync(present(command), args, { encoding: "utf8" });
  if (error) return error.message;
  return status === 0 ? undefined : stderr.trim() || `it ends with ${status}`;
}

/** Command prefix that runs a program with an empty disk in memory at the folder. */
export const throughDisk = (folder: string, mib: number): Command => [
  ...MOUNTS,
  `mount -t tmpfs -o size=${mib}m tmpfs "$0" && exec "$@"`,
  folder,
];

/** Returns the requirement for such a disk that this machine lacks, if any. */
export function missingForDisk(): string | undefined {
  const failure = failureOf([...throughDisk("/mnt", 1), "true"]);
  return failure === undefined ? undefined : `no mount namespace (${failure})`;
}

/** Command prefix that runs a program with the content of the file as its `/etc/resolv.conf`. */
const throughFile = (file: string): Command => [...MOUNTS, `mount --bind "$0" ${NAMES} && exec "$@"`, file];

/** Command prefix that runs a program whose name server is 127.0.0.1. */
export function throughNames(file: string): Command {
  writeFileSync(file, "nameserver 127.0.0.1\n");
  return throughFile(file);
}

/** Returns the requirement that this machine lacks, if any: the namespace, and the port of name servers. */
export function missingForNames(): string | undefined {
  if (failureOf([...throughFile("/dev/null"), "true"])) return `no mount namespace for ${NAMES}`;
  const listen = 'require("node:dgram").createSocket("udp4").bind(53, "127.0.0.1", () => process.exit())';
  return failureOf([process.execPath, "-e", listen]) && "UDP port 53 of 127.0.0.1";
}

/** Returns the requirement for the IPv6 addresses that this machine lacks, if any. */
export function missingForIpv6(): string | undefined {
  const { stdout } = spawnSync("ip", ["-6", "route", "show", "table", "local"], { encoding: "utf8" });
  return stdout?.includes(PREFIX) ? undefined : `addresses of ${PREFIX} (a network namespace)`;
}

/** Runs this program again in the network of the siege. Returns its exit code, or undefined if that is not possible. */
export async function runInOwnNetwork(): Promise<number | undefined> {
  if (failureOf([...NETWORK, "true"]) !== undefined) return undefined;
  const [command, ...args] = [...NETWORK, process.execPath, ...process.argv.slice(1)];
  const child = spawn(present(command), args, { stdio: "inherit" });
  // The terminal sends Ctrl-C to both.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
