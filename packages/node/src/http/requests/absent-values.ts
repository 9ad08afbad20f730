/**
 * An empty query value counts as absent (http-api.md 2), and so does `undefined`: some clients send `days=undefined`.
 */
import type { Server } from "../core/app.ts";

export function addAbsentValues(app: Server): void {
  app.addHook("preValidation", (request, _reply, done) => {
    const query = request.query as Record<string, unknown>;
    for (const [name, value] of Object.entries(query)) {
      if (value === "" || value === "undefined") delete query[name];
    }
    done();
  });
}
