/** Requests of clients that depend on the owner of the webhooks: each function runs only if a guard permits. */
import type { DeliveryLog } from "../delivery-log/delivery-log.ts";
import type { Replays } from "../replay/replays.ts";
import type { WebhookRequests } from "../requests.ts";

/** `read`: the request changes nothing. */
export type RequestKind = "read" | "write";

/** Runs a function of the service, or rejects. */
export type Guard = <T>(kind: RequestKind, work: (service: WebhookRequests) => Promise<T>) => Promise<T>;

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
