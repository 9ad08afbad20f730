/** The clients that may use the protected routes: by token, or by a session of the console. */
import { createSessionAccess } from "../../http/console/access.ts";
import { createSessions, type Sessions, type SessionsDependencies } from "../../http/console/sessions.ts";
import { type Access, createAccess, createTokenTest, type TokenTest } from "../../http/webhooks/access.ts";
import type { ServingContext } from "./context.ts";

export type AccessChecks = {
  /** Names of this machine that callers without token may use as Host. */
  readonly hosts: readonly string[];
  readonly isToken: TokenTest;
  readonly byToken: Access;
  readonly sessions: Sessions;
  readonly bySession: Access;
};

/** @param storage of the console's sessions; undefined: they end with the process */
export function buildAccess(
  { data }: ServingContext,
  storage: SessionsDependencies["storage"],
): AccessChecks {
  const { webhookToken, httpHost, httpHosts } = data;
  const hosts = [httpHost, ...httpHosts];
  const sessions = createSessions({
    nowMs: Date.now,
    token: webhookToken,
    storage,
  });
  return {
    hosts,
    isToken: createTokenTest(webhookToken),
    byToken: createAccess({ token: webhookToken }),
    sessions,
    bySession: createSessionAccess(sessions, hosts, Date.now),
  };
}
