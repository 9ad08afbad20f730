/** Deliveries whose calls are running, or whose outcomes are not on disk yet. */

export type UnderWay = {
  has(delivery: number): boolean;
  begin(webhook: number, delivery: number): void;
  end(delivery: number): void;
  /** Settles when no delivery of the webhooks is under way. */
  ended(webhooks: readonly number[]): Promise<void>;
};

export function createUnderWay(): UnderWay {
  /** Webhooks by delivery. */
  const deliveries = new Map<number, number>();
  const waits = new Set<() => void>();
  return {
    has: (delivery) => deliveries.has(delivery),
    begin: (webhook, delivery) => void deliveries.set(delivery, webhook),
    end(delivery) {
      deliveries.delete(delivery);
      for (const check of waits) check();
    },
    ended(webhooks) {
      const awaited = new Set(webhooks);
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        for (const webhook of deliveries.values()) if (awaited.has(webhook)) return;
        waits.delete(check);
        resolve();
      };
      waits.add(check);
      check();
      return promise;
    },
  };
}
