/** `uniknode console`: prints a one-time link that signs a browser in to the console of a node. */
import { ApiError } from "@uniknode/client";
import { Command } from "commander";
import { ConfigError } from "../platform/config-error.ts";
import { tokenOf } from "./access/local-token.ts";
import { show } from "./connection.ts";
import { addFlags, readConfig } from "./options.ts";
import { serviceOptions } from "./webhooks/service.ts";

const REQUEST = "POST /console/links";

type Link = { readonly path: string; readonly expiresAt: number };

export function consoleCommand(): Command {
  const command = new Command("console").description(
    "print a one-time link that opens the console and signs in; valid for ten minutes",
  );
  return addFlags(command, serviceOptions).action(async () => {
    const config = readConfig(command, serviceOptions);
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
  const body = (await response.json().catch(() => undefined)) as { readonly data: Link } | undefined;
  const { status } = response;
  if (response.ok && body) return body.data;
  if (status === 404) throw new ConfigError(`the node at ${url} has no console: start it with --console on`);
  if (status === 401 || status === 403)
    throw new ApiError({ code: "API_UNAUTHORIZED", status, body }, REQUEST);
  if (status === 429) throw new ApiError({ code: "API_RATE_LIMITED", status, body }, REQUEST);
  throw new ApiError({ code: status >= 500 ? "API_FAILED" : "API_REFUSED", status, body }, REQUEST);
}
