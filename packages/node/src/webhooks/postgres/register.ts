/** Changes of the register in PostgreSQL. */
import { CodedError } from "../../platform/coded-error.ts";
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import { PostgresError } from "../../postgres/postgres-error.ts";
import type { OwnerState } from "../hand-over/owner.ts";
import type { SecretCipher } from "../secrets.ts";
import { CALL_TIMEOUT_MS } from "../storage/delivery-queue.ts";
import { type RegisterCommandDeps, RegisterCommands } from "../storage/register-commands.ts";
import { runSteps } from "../storage/sql.ts";
import { checkCipher } from "./secrets.ts";
import { sqlOf } from "./sql.ts";

/**
 * Creates a function that runs works one after the other, in the order of the calls: connections of a pool would race. Work that waited longer than `CALL_TIMEOUT_MS` for its turn is
 * refused: a blocked database must not gather calls.
 */
export function createInOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const calledMs = performance.now();
    const result = last.then(() => {
      if (performance.now() - calledMs > CALL_TIMEOUT_MS) throw new PostgresError("POSTGRES_BUSY");
      return work();
    });
    last = result.catch(() => {});
    return result;
  };
}

type Deps = {
  readonly postgres: Pick<Postgres, "transaction">;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  /** Returns the sequence of the newest event of the node's log. */
  readonly lastEvent: () => Promise<number>;
};

export function createPostgresRegisterCommands({ postgres, cipher, lastEvent }: Deps): RegisterCommands {
  const inOrder = createInOrder();
  const commit: RegisterCommandDeps["commit"] = (steps) =>
    inOrder(() => postgres.transaction("READ WRITE", (transaction) => runSteps(steps(sqlOf(transaction)))));
  return new RegisterCommands({
    cipher,
    checkCipher: (sql) => checkCipher(sql, cipher),
    commit,
    async commitFrom(steps) {
      const after = await lastEvent();
      return commit((sql) => steps(sql, after));
    },
  });
}

/**
 * Increments the version while the webhooks have a state, which then stays until the end of the transaction.
 *
 * @throws {CodedError} OWNER_CHANGED if they have another state
 */
export async function bumpVersionWhile({ change }: Transaction, state: OwnerState): Promise<void> {
  const bumped = await change("UPDATE webhook_register SET version = version + 1 WHERE owner = $1", [state]);
  if (bumped > 0) return;
  throw new CodedError("OWNER_CHANGED", "the webhooks were handed over meanwhile", { isRetryable: true });
}
