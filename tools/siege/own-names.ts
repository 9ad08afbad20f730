/** Name server of a single process: its own `/etc/resolv.conf`, in a mount namespace. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { present } from "../../packages/node/src/platform/present.ts";

const NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"];
const FILE = "/etc/resolv.conf";
const MOUNT = `mount --bind "$0" ${FILE} && exec "$@"`;

/** Command prefix that runs a program whose name server is 127.0.0.1. */
export function throughNames(file: string): readonly string[] {
  writeFileSync(file, "nameserver 127.0.0.1\n");
  return [...NAMESPACE, "sh", "-c", MOUNT, file];
}

/** Returns the requirement that this machine lacks, if any: the namespace, and the port of name servers. */
export function missingForNames(): string | undefined {
  const [command, ...rest] = [...NAMESPACE, "sh", "-c", MOUNT, "/dev/null", "true"];
  if (spawnSync(present(command), rest).status !== 0) return `no mount namespace for ${FILE}`;
  const listen = 'require("node:dgram").createSocket("udp4").bind(53, "127.0.0.1", () => process.exit())';
  return spawnSync(process.execPath, ["-e", listen]).status === 0 ? undefined : "UDP port 53 of 127.0.0.1";
}
