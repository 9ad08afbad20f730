/** Routes to sign in, query the session, sign out, and create a link for one sign-in. */
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { Type } from "../../platform/json/schema.ts";
import { Allowances } from "../connections/admission.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import { body } from "../requests/list-schemas.ts";
import type { Access, TokenTest } from "../webhooks/access.ts";
import { createSameSite, removeCookie, sessionOf, setCookie } from "./access.ts";
import type { Sessions } from "./sessions.ts";

export type SessionRoutesOptions = {
  /** Names of this machine (`createCrossSiteTest`). */
  readonly hosts: readonly string[];
  /** Information about the node for the browser. */
  readonly node: {
    readonly devChain: boolean;
    /** True if blocks are forged for transactions only. */
    readonly onDemand: boolean;
    readonly network: string;
    readonly version: string;
    /** True if the live stream requires no session. */
    readonly eventsPublic: boolean;
  };
};

export type SessionRoutesDependencies = {
  readonly sessions: Sessions;
  /** Returns whether a text is the webhook token. */
  readonly isToken: TokenTest;
  /** Access check of requests with the webhook token. */
  readonly access: Access;
  readonly nowMs: () => number;
};

/** Limit of a client's attempts to sign in, and of its attempts to create links. */
const ATTEMPTS = { limit: 20, windowMs: 60_000 };
const MAX_CHARS = 512;
const credential = Type.String({ minLength: 1, maxLength: MAX_CHARS });
const SignIn = body({ code: Type.Optional(credential), token: Type.Optional(credential) });
const hidden = { config: { isUnlimited: true }, schema: { hide: true } };

export function createSessionRoutes(
  { hosts, node }: SessionRoutesOptions,
  dependencies: SessionRoutesDependencies,
): FastifyPluginAsync {
  const { nowMs } = dependencies;
  const attempts = new Allowances(ATTEMPTS);
  const guards: Guards = {
    refuseCrossSite: createSameSite(hosts),
    async bound(request) {
      const { ip, headers } = request;
      // The pages of another site must not use up the attempts of the operator. Programs send no origin.
      if (headers.origin !== undefined) guards.refuseCrossSite(request);
      if (attempts.count(ip, nowMs()).remaining >= 0) return;
      throw new HttpError("RATE_LIMITED", "too many attempts to sign in: try again in a minute");
    },
  };
  return async (scope) => {
    const app = scope as unknown as Server;
    addSession(app, node, dependencies);
    addSignIn(app, guards, dependencies);
    addSignOut(app, guards, dependencies);
    addLinks(app, guards, dependencies);
  };
}

type Guards = {
  readonly refuseCrossSite: (request: FastifyRequest) => void;
  /** Limits the attempts of a client. */
  bound(request: FastifyRequest): Promise<void>;
};

function addSession(
  app: Server,
  node: SessionRoutesOptions["node"],
  { sessions }: SessionRoutesDependencies,
): void {
  app.get("/session", hidden, async (request, reply) => {
    const session = sessionOf(request, sessions);
    const expiresMs = session && sessions.endOf(session);
    reply.header("cache-control", "no-store");
    return {
      signedIn: expiresMs !== undefined,
      ...(expiresMs !== undefined && { expiresAt: expiresMs }),
      ...node,
    };
  });
}

function addSignIn(
  app: Server,
  { refuseCrossSite, bound }: Guards,
  { sessions, isToken, nowMs }: SessionRoutesDependencies,
): void {
  const signIn = { ...hidden, schema: { hide: true, body: SignIn }, onRequest: [bound] };
  app.post("/session", signIn, async (request, reply) => {
    refuseCrossSite(request);
    const { code, token } = request.body;
    if ((code === undefined) === (token === undefined)) {
      throw new HttpError("MISSING_MEMBER", 'one of "code" and "token" is required, but not both');
    }
    if (code !== undefined && !sessions.useCode(code)) {
      throw new HttpError(
        "CODE_WRONG",
        'This link was already used, or has expired: "uniknode console" prints a new link',
      );
    }
    if (token !== undefined && !isToken(token)) {
      throw new HttpError(
        "TOKEN_WRONG",
        'Wrong webhook token: "uniknode token" prints the token of this node',
      );
    }
    const opened = sessions.open();
    setCookie(request, reply, opened, nowMs());
    reply.header("cache-control", "no-store");
    return { signedIn: true, expiresAt: opened.expiresMs, key: opened.key };
  });
}

function addSignOut(app: Server, { refuseCrossSite }: Guards, { sessions }: SessionRoutesDependencies): void {
  app.delete("/session", hidden, async (request, reply) => {
    refuseCrossSite(request);
    const session = sessionOf(request, sessions);
    if (session) sessions.end(session);
    removeCookie(request, reply);
    return { signedIn: false };
  });
}

function addLinks(app: Server, { bound }: Guards, { sessions, access }: SessionRoutesDependencies): void {
  const link = {
    ...hidden,
    config: { ...hidden.config, isBodyOptional: true },
    onRequest: [bound, access],
  };
  app.post("/links", link, async (_request, reply) => {
    const { secret, expiresMs } = sessions.issueCode();
    reply.code(201).header("cache-control", "no-store");
    return { data: { code: secret, path: linkPath(secret), expiresAt: expiresMs } };
  });
}

/** Returns the path of a link. The code is in the fragment, which browsers do not send and proxies cannot log. */
export const linkPath = (code: string): string => `/console/sign-in#code=${code}`;
