/**
 * Access to operations for a signed-in browser: the session takes the place of the webhook token. Browsers send cookies to every port of
 * a host, so the server of another port can learn the cookie of a session, and can set cookies itself. It cannot learn the key, which
 * only pages of the console's origin send, as a header.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { createCrossSiteTest } from "../../platform/addresses.ts";
import { Allowances } from "../connections/admission.ts";
import { HttpError } from "../core/error.ts";
import { type Access, requireJson } from "../webhooks/access.ts";
import type { Opened, SessionSecrets, Sessions } from "./sessions.ts";

const KEY_HEADER = "x-session-key";
const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/console";
/** Maximum of cookies to check: a browser sends one, and others that servers on other ports have set. */
const MAX_COOKIES = 8;

/** Returns the secrets of the session of a request; undefined without a session. */
export function sessionOf(request: FastifyRequest, sessions: Sessions): SessionSecrets | undefined {
  const key = request.headers[KEY_HEADER];
  if (typeof key !== "string") return undefined;
  return cookiesOf(request)
    .map((cookie) => ({ cookie, key }))
    .find((secrets) => sessions.endOf(secrets) !== undefined);
}

/** Sets the cookie of a session, which is secure if the client uses TLS, even through a proxy. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { cookie, expiresMs }: Opened,
  nowMs: number,
): void {
  const seconds = Math.round((expiresMs - nowMs) / 1_000);
  const secure = request.protocol === "https" ? "; Secure" : "";
  reply.header("set-cookie", `${cookieName(request)}=${cookie}; Max-Age=${seconds}; ${ATTRIBUTES}${secure}`);
}

export function removeCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("set-cookie", `${cookieName(request)}=; Max-Age=0; ${ATTRIBUTES}`);
}

function cookiesOf(request: FastifyRequest): string[] {
  const prefix = `${cookieName(request)}=`;
  return (request.headers.cookie ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(prefix))
    .slice(0, MAX_COOKIES)
    .map((cookie) => cookie.slice(prefix.length));
}

/** Returns a name that differs by port: nodes on several ports of a host share the cookies of a browser. */
function cookieName({ host, socket }: FastifyRequest): string {
  const [, port = socket.localPort] = /:(\d{1,5})$/.exec(host) ?? [];
  return `uniknode_console_${port}`;
}

/** Creates a check that refuses requests that a page of another site can make a browser send. */
export function createSameSite(hosts: readonly string[]): (request: FastifyRequest) => void {
  const crossSite = createCrossSiteTest(hosts, "--http-hosts");
  return ({ host, headers, socket }) => {
    const reason = crossSite({ host, origin: headers.origin, localAddress: socket.localAddress });
    if (reason !== undefined) throw new HttpError("CROSS_SITE", reason);
  };
}

const READING = ["GET", "HEAD"];
/** Limit of requests of one client without a session; requests of a session are not counted. */
const SIGNED_OUT = { limit: 300, windowMs: 60_000 };

export function createSessionAccess(
  sessions: Sessions,
  hosts: readonly string[],
  nowMs: () => number,
): Access {
  const refuseCrossSite = createSameSite(hosts);
  const allowances = new Allowances(SIGNED_OUT);
  return async (request) => {
    refuseCrossSite(request);
    if (sessionOf(request, sessions) === undefined) {
      if (allowances.count(request.ip, nowMs()).remaining < 0) {
        throw new HttpError("RATE_LIMITED", "too many requests without a session: try again in a minute");
      }
      throw new HttpError(
        "SESSION_MISSING",
        'You are not signed in, or the session has ended: open the link that "uniknode console" prints, or sign in with the webhook token',
      );
    }
    // Only browsers set this header; pages cannot.
    if (!READING.includes(request.method) && request.headers["sec-fetch-site"] !== "same-origin") {
      throw new HttpError("CROSS_SITE", "a console session can make changes only from pages of the console");
    }
    requireJson(request);
  };
}
