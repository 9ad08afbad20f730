/**
 * The webhook service of a node, which is stopped while another side owns the webhooks, or they are handed over.
 * Requests are then refused: each function runs only if a guard permits. A stop waits for requests in progress, and for
 * running calls.
 */

import type { Logger } from "pino";
import type { DeliveryLog } from "../delivery-log/delivery-log.ts";
import { WebhookError } from "../error.ts";
import type { Replays } from "../replay/replays.ts";
import type { WebhookRequests } from "../requests.ts";
import type { Webhooks } from "../webhooks.ts";
import type { Owner } from "./owner.ts";

type SwitchDeps = {
  /** Opens the service, with nothing of a former one in memory. */
  readonly open: () => Webhooks;
  readonly owner: () => Owner;
  readonly logger: Pick<Logger, "error">;
};

export class ServiceSwitch {
  readonly #deps: SwitchDeps;
  readonly #running = new Set<Promise<unknown>>();
  #service: Webhooks | undefined;
  #isStopping = false;
  #stopped = Promise.resolve();

  constructor(deps: SwitchDeps) {
    this.#deps = deps;
  }

  /** The functions that clients request; each rejects with a `WebhookError` while the service is stopped. */
  readonly requests: WebhookRequests = guardRequests(async (_kind, work) => {
    if (!this.#service) throw refusalOf(this.#deps.owner());
    const request = work(this.#service.requests);
    this.#running.add(request);
    return request.finally(() => this.#running.delete(request));
  });

  notify(): void {
    this.#service?.notify();
  }

  isRunning(): boolean {
    return this.#service !== undefined;
  }

  /** True while requests and calls that began before a stop have not ended. */
  isStopping(): boolean {
    return this.#isStopping;
  }

  /** Opens the service, which sends after the first notification. Must not be called while it is stopping. */
  start(): void {
    this.#service ??= this.#deps.open();
  }

  /** Refuses requests, and settles when the service has stopped. */
  stop(graceMs?: number): Promise<void> {
    if (this.#service) this.#stopped = this.#close(this.#service, graceMs);
    this.#service = undefined;
    return this.#stopped;
  }

  async #close(service: Webhooks, graceMs?: number): Promise<void> {
    this.#isStopping = true;
    // Requests in progress need the service: they may wait until events are matched.
    await Promise.allSettled(this.#running);
    // Calls without a recorded outcome are repeated by the next owner.
    await service
      .close(graceMs)
      .catch((err) =>
        this.#deps.logger.error({ err }, "failed to record the outcomes of the last webhook deliveries"),
      );
    this.#isStopping = false;
  }
}

/** Returns the reason why a process refuses requests while it does not own the webhooks. */
export function refusalOf({ state }: Owner): WebhookError {
  if (state === "workers")
    return new WebhookError(
      "WEBHOOKS_OF_WORKERS",
      'delivery workers own the webhooks: send the request to an API server ("uniknode serve")',
    );
  return new WebhookError(
    "WEBHOOKS_IN_TRANSFER",
    'the webhooks are being handed over: retry in 10 s; "uniknode webhooks hand-over" continues it',
  );
}

/** `read`: the request changes nothing. */
export type RequestKind = "read" | "write";

/** Runs a function of the service, or rejects. */
type Guard = <T>(kind: RequestKind, work: (service: WebhookRequests) => Promise<T>) => Promise<T>;

export const guardRequests = (run: Guard): WebhookRequests => ({
  register: through<WebhookRequests["register"]>(run, ({ register }) => register, {
    list: "read",
    find: "read",
    twinOf: "read",
    health: "read",
    healthTotals: "read",
    create: "write",
    update: "write",
    rotate: "write",
    remove: "write",
  }),
  log: through<DeliveryLog>(run, ({ log }) => log, {
    page: "read",
    summary: "read",
    find: "read",
    retry: "write",
    retryAll: "write",
  }),
  replays: through<Replays>(run, ({ replays }) => replays, { start: "write", find: "read", cancel: "write" }),
  dryRun: (body) => run("read", (service) => service.dryRun(body)),
  ping: (id) => run("write", (service) => service.ping(id)),
  pingTarget: (body) => run("write", (service) => service.pingTarget(body)),
});

type Call = (...parameters: unknown[]) => Promise<unknown>;

function through<Part extends object>(
  run: Guard,
  partOf: (service: WebhookRequests) => Part,
  kinds: Readonly<Record<keyof Part & string, RequestKind>>,
): Part {
  const calls = Object.entries<RequestKind>(kinds).map(([name, kind]): [string, Call] => [
    name,
    (...parameters) =>
      run(kind, (service) => {
        const part = partOf(service);
        return (part[name as keyof Part] as Call).apply(part, parameters);
      }),
  ]);
  return Object.fromEntries(calls) as Part;
}
