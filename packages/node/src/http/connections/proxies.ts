/** Warnings about proxies that no option names: all their clients then count as one client with the proxy's address. */
import ipaddr from "ipaddr.js";
import type { Logger } from "pino";
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import type { Server } from "../server/app.ts";

const REMEDY = "name proxies with --http-trust-proxy, and have them send X-Forwarded-For";

/** Warns of the first request that an unnamed proxy seems to have forwarded. */
export function addProxyWarning(app: Server, isProxy: RangeTest, logger: Logger): void {
  let isWarned = false;
  app.addHook("onRequest", ({ headers, socket }, _reply, done) => {
    if (!isWarned && headers["x-forwarded-for"] !== undefined && !isProxy(socket.remoteAddress ?? "")) {
      isWarned = true;
      const { remoteAddress } = socket;
      logger.warn(
        { remoteAddress },
        `X-Forwarded-For from an address that is not a trusted proxy: ${REMEDY}`,
      );
    }
    done();
  });
}

export type Exposure = {
  readonly host: string;
  readonly trustedProxies?: string | undefined;
  readonly rateLimit?: number;
  readonly legacyCallers?: string | undefined;
};

/**
 * Warns of options that fail behind a proxy, when the server can only be reached through one. A loopback node usually has
 * local clients only: its rate limit is no reason to warn before a request with `X-Forwarded-For` arrives.
 */
export function warnOfUnnamedProxy(exposure: Exposure, logger: Logger): void {
  const { host, trustedProxies, rateLimit = 0, legacyCallers } = exposure;
  if (trustedProxies !== undefined || !isPrivate(host)) return;
  if (isLoopback(host) && legacyCallers === undefined) return;
  const shared = [rateLimit > 0 && "--rate-limit", legacyCallers !== undefined && "--webhook-legacy"];
  const options = shared.filter((option) => option !== false).join(" and ");
  if (options !== "") {
    logger.warn({ host }, `behind a proxy, ${options} would treat all of its clients as one: ${REMEDY}`);
  }
}

const PRIVATE_RANGES: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal", "linkLocal"]);

const rangeOf = (host: string): string | undefined =>
  ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
const isLoopback = (host: string): boolean => host === "localhost" || rangeOf(host) === "loopback";
const isPrivate = (host: string): boolean => isLoopback(host) || PRIVATE_RANGES.has(rangeOf(host) ?? "");
