/**
 * The two secrets of a session in a request. Browsers send cookies to every port of a host, so the server of another port can
 * learn the cookie, and can set cookies itself. It cannot learn the key, which only pages of the console's origin send, as a header.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Opened, SessionSecrets, Sessions } from "./sessions.ts";

export const KEY_HEADER = "x-session-key";
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
