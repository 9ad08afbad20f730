/** A way to deliver events from PostgreSQL with several processes. */
import type { Event } from "../../packages/node/src/events/catalogue.ts";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";

export type Load = {
  /** Each event is delivered to each of them. */
  readonly webhooks: number;
  /** URL of the receiver. */
  readonly target: string;
  readonly databaseUrl: string;
};

export type Workers = {
  readonly pids: readonly number[];
  /** Describes why one of them has ended; undefined while all run. */
  failure(): string | undefined;
  stop(): Promise<void>;
};

export type Contender = {
  readonly name: string;
  /** Creates the tables and the webhooks in a database with a mirror. */
  prepare(postgres: Postgres, load: Load): Promise<void>;
  /** Starts processes that deliver. */
  start(databaseUrl: string, count: number): Promise<Workers>;
  /** Commits the events of a block. */
  commit(postgres: Postgres, events: readonly Event[]): Promise<void>;
  /** Returns whether a number of deliveries are recorded as delivered, and no other is pending. */
  isDone(postgres: Postgres, deliveries: number): Promise<boolean>;
  /** Closes what `prepare` has opened. */
  close?(postgres: Postgres): Promise<void>;
};
