/** Reports every response that was sent, for metrics. */
import type { Server } from "../../http/core/app.ts";
import type { SentResponse } from "../metrics/http.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The response is a stream that the client ends: its duration is not measured. */
    isEndless?: boolean;
  }
}

/** Must be called before the server listens. */
export function countResponses(app: Server, onResponse: (response: SentResponse) => void): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { url, config } = request.routeOptions;
    if (!config.isEndless) {
      const route = request.is404 ? undefined : url;
      onResponse({
        method: request.method,
        route,
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1_000,
      });
    }
    done();
  });
}
