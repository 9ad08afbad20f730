/**
 * The webhook service of a node, which is stopped while another side owns the webhooks, or they are handed over. Requests are
 * then refused. A stop waits for requests in progress, and for running calls.
 */
import type { Logger } from "pino";
import { WebhookError } from "../error.ts";
import type { WebhookRequests } from "../requests.ts";
import type { Webhooks } from "../webhooks.ts";
import { guardRequests } from "./guarded-requests.ts";
import type { Owner } from "./owner.ts";

export type ServiceSwitch = {
  /** The functions that clients request; each rejects with a `WebhookError` while the service is stopped. */
  readonly requests: WebhookRequests;
  /** Must be called after events were logged. */
  notify(): void;
  isRunning(): boolean;
  /** True while requests and calls that began before a stop have not ended. */
  isStopping(): boolean;
  /** Opens the service, which sends after the first notification. Must not be called while it is stopping. */
  start(): void;
  /** Refuses requests, and settles when the service has stopped. */
  stop(graceMs?: number): Promise<void>;
};

export type SwitchDeps = {
  /** Opens the service, with nothing of a former one in memory. */
  readonly open: () => Webhooks;
  readonly owner: () => Owner;
  readonly logger: Pick<Logger, "error">;
};

type State = SwitchDeps & {
  service: Webhooks | undefined;
  readonly requests: Set<Promise<unknown>>;
  isStopping: boolean;
  stopped: Promise<void>;
};

export function createServiceSwitch(deps: SwitchDeps): ServiceSwitch {
  const state: State = {
    ...{ ...deps, service: undefined, requests: new Set() },
    ...{ isStopping: false, stopped: Promise.resolve() },
  };
  return {
    requests: createRequests(state),
    notify: () => state.service?.notify(),
    isRunning: () => state.service !== undefined,
    isStopping: () => state.isStopping,
    start() {
      state.service ??= deps.open();
    },
    stop(graceMs) {
      const { service } = state;
      state.service = undefined;
      if (service) state.stopped = close(state, service, graceMs);
      return state.stopped;
    },
  };
}

async function close(state: State, service: Webhooks, graceMs?: number): Promise<void> {
  const { requests, logger } = state;
  state.isStopping = true;
  // Requests in progress need the service: they may wait until events are matched.
  await Promise.allSettled(requests);
  // Calls without a recorded outcome are repeated by the next owner.
  await service
    .close(graceMs)
    .catch((err) => logger.error({ err }, "failed to record the outcomes of the last webhook deliveries"));
  state.isStopping = false;
}

const createRequests = (state: State): WebhookRequests =>
  guardRequests(async (_kind, work) => {
    const { service, requests, owner } = state;
    if (!service) throw refusalOf(owner());
    const request = work(service);
    requests.add(request);
    return request.finally(() => requests.delete(request));
  });

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
