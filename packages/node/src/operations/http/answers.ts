/** Reports every response that was sent, for metrics. */
import type { Server } from "../../http/core/app.ts";
import type { Answered } from "../metrics/http.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The response is a stream that the client ends: its duration is not measured. */
    isEndless?: boolean;
  }
}

/** Must be called before the server listens. */
export function countAnswers(app: Server, answered: (answer: Answered) => void): void {
  app.addHook("onResponse", (request, reply, done) => {
    const { url, config } = request.routeOptions;
    if (!config.isEndless) {
      const route = request.is404 ? undefined : url;
      answered({
        method: request.method,
        route,
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1_000,
      });
    }
    done();
  });
}
