/** Only listed addresses are served, if there is a list (http-api.md 1.1). */
import type { RangeTest } from "../../addresses/ranges.ts";
import type { Server } from "../app.ts";
import { HttpError } from "./error.ts";

export function addAccessList(app: Server, isListed: RangeTest): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (isListed(request.ip)) done();
    else done(new HttpError(403));
  });
}
