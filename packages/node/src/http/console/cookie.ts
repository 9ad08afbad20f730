/** The cookie that names a session of the console. No script can read it, and no other path gets it. */
import type { FastifyRequest } from "fastify";
import type { Issued } from "./sessions.ts";

const NAME = "uniknode_console";
const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/console";

/** The secret of the session; undefined without one. */
export function sessionOf({ headers }: Pick<FastifyRequest, "headers">): string | undefined {
  const cookies = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}

/** `Set-Cookie` of a session, marked as secure where the client uses TLS, be it through a proxy. */
export function cookieOf({ secret, expiresMs }: Issued, nowMs: number, isSecure: boolean): string {
  const seconds = Math.round((expiresMs - nowMs) / 1_000);
  return `${NAME}=${secret}; Max-Age=${seconds}; ${ATTRIBUTES}${isSecure ? "; Secure" : ""}`;
}

export const ENDED_COOKIE = `${NAME}=; Max-Age=0; ${ATTRIBUTES}`;
