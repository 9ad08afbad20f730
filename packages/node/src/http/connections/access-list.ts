/** Access list: other addresses get 403 (http-api.md 1.1). */
import type { RangeTest } from "../../platform/addresses/ranges.ts";
import type { Server } from "../core/app.ts";
import { allowOrigin } from "../core/cors.ts";
import { HttpError } from "../core/error.ts";

export function addAccessList(app: Server, isListed: RangeTest): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (isListed(request.ip)) return done();
    // Browsers can read errors too (http-api.md 1.8).
    allowOrigin(request, reply);
    done(
      new HttpError(
        "ADDRESS_REFUSED",
        `This node does not serve the address ${request.ip}: see --http-allow`,
      ),
    );
  });
}
