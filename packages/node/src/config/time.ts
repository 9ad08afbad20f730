/** The NTP servers with which a node compares its clock. */
import { readTimeServer } from "../platform/clock/check.ts";
import { readText } from "./define-option.ts";

/** `none`, or time servers separated by commas. */
export function readTimeServers(value: unknown): readonly string[] {
  const text = readText(value);
  const servers = text === "none" ? [] : text.split(",").map((server) => server.trim());
  for (const server of servers) readTimeServer(server);
  return servers;
}

/** Public NTP servers, the default for known networks. */
const PUBLIC_SERVERS = ["pool.ntp.org", "time.google.com"];

/** Nodes of private networks contact no public server by default, and a node with `alone` contacts none at all. */
export const chooseTimeServers = (config: {
  readonly timeServers: readonly string[] | undefined;
  readonly network: string | undefined;
  readonly alone: boolean;
}): readonly string[] =>
  config.alone ? [] : (config.timeServers ?? (config.network === undefined ? [] : PUBLIC_SERVERS));
