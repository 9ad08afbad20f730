/** Runs calls one after the other, in their order: connections of a pool would race. */
import { PostgresError } from "../../postgres/error.ts";
import { CALL_TIMEOUT_MS } from "../delivery-queue.ts";

/** Settles with the result of the work. */
export type InOrder = <T>(work: () => Promise<T>) => Promise<T>;

/** Work that waited longer than `CALL_TIMEOUT_MS` for its turn is refused: a blocked database must not gather calls. */
export function createInOrder(): InOrder {
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
