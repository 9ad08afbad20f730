/** `uniknode console`: prints a one-time link that signs a browser in to the console of a node. */
import { ApiError } from "@uniknode/client";
import { Command } from "commander";
import { ConfigError } from "../platform/coded-error.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { readBounded } from "../platform/text/foreign.ts";
import { show } from "./connection.ts";
import { withOptions } from "./flags.ts";
import { tokenOf } from "./token.ts";
import { serviceOptions } from "./webhooks/service.ts";

const REQUEST = "POST /console/links";

const MAX_RESPONSE_BYTES = 65_536;
const RESPONSE_BOUNDS: TextBounds = { maxCharacters: MAX_RESPONSE_BYTES, maxDepth: 16, maxValues: 1_000 };

const Link = Type.Object({
  path: Type.String({ pattern: "^/", maxLength: 2_048 }),
  expiresAt: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
});
type Link = Static<typeof Link>;
const LINK = formOf(Type.Object({ data: Link }));
/** A body of any form: that of a refusal explains it. */
const BODY = formOf(Type.Unknown());

export function consoleCommand(): Command {
  return withOptions(new Command("console"), serviceOptions, async (config) => {
    const { url, timeout } = config;
    const { path, expiresAt } = await makeLink(url, tokenOf(config), timeout * 1_000);
    const link = url.replace(/\/+$/, "") + path;
    show(config, { url: link, expiresAt }, [link]);
  });
}

async function makeLink(url: string, token: string, timeoutMs: number): Promise<Link> {
  const base = url.replace(/\/+$/, "");
  const init = { method: "POST", headers: { authorization: token }, signal: AbortSignal.timeout(timeoutMs) };
  const response = await fetch(`${base}/console/links`, init).catch((cause: unknown) => {
    throw new ApiError({ code: "API_UNREACHABLE", cause }, REQUEST);
  });
  const { status } = response;
  const body = await readBody(response);
  if (response.ok) {
    if (LINK.is(body)) return body.data;
    throw new ApiError({ code: "API_RESPONSE_INVALID", status, body }, REQUEST);
  }
  if (status === 404) throw new ConfigError(`the node at ${url} has no console: start it with --console on`);
  if (status === 401 || status === 403)
    throw new ApiError({ code: "API_UNAUTHORIZED", status, body }, REQUEST);
  if (status === 429) throw new ApiError({ code: "API_RATE_LIMITED", status, body }, REQUEST);
  throw new ApiError({ code: status >= 500 ? "API_FAILED" : "API_REFUSED", status, body }, REQUEST);
}

/** Returns the parsed body; undefined if it is too large or not JSON. */
async function readBody({ body }: Response): Promise<unknown> {
  try {
    return parseExternal(await readBounded(body, MAX_RESPONSE_BYTES), BODY, RESPONSE_BOUNDS);
  } catch {
    return undefined;
  }
}
