/** Access to the routes for the operator's own processes on other machines: the webhook token, from addresses of a list. */
import type { RangeTest } from "../../platform/addresses.ts";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import type { Access } from "../webhooks/access.ts";

export type FeedAccess = {
  readonly byToken: Access;
  readonly isListed: RangeTest;
};

/** Refuses every request of this scope from other addresses or without the token. */
export function addFeedAccess(app: Server, { byToken, isListed }: FeedAccess): void {
  app.addHook("onRequest", async ({ ip }) => {
    if (isListed(ip)) return;
    throw new HttpError(
      "ADDRESS_REFUSED",
      `The address ${ip} may not use the feed and the gateway: see --feed-allow`,
    );
  });
  app.addHook("onRequest", byToken);
}
