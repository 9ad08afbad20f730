/**
 * Node side of the gateway over HTTP: executes the calls of other machines. Their number is bounded, and no call begins
 * after its deadline.
 */
import { type Deadline, isOver, remainingMs } from "../platform/threads/call.ts";
import { type Failure, GatewayError, toFailure } from "./failure.ts";
import type { RemoteGateway } from "./gateway.ts";

export type RemoteCallOptions = {
  /** Maximum number of open calls of all machines. */
  readonly maxCalls: number;
};

/** The calls of the serving thread itself must fit beside them: see `DEFAULT_CALL_OPTIONS`. */
export const DEFAULT_REMOTE_CALL_OPTIONS: RemoteCallOptions = { maxCalls: 500 };

/** Result of an executed call; a method without a result has the value null. */
export type Outcome = { readonly value: unknown } | { readonly error: Failure };

export type RemoteCallFigures = {
  readonly open: number;
  /** Calls refused since the process started, because too many were open. */
  readonly refused: number;
  /** Calls that were not executed because their time was over, since the process started. */
  readonly late: number;
};

export type RemoteCalls = {
  /**
   * Executes a call; errors of the gateway are part of the outcome.
   *
   * @throws {GatewayError} when the call is not executed
   */
  run(deadline: Deadline, call: (gateway: RemoteGateway) => Promise<unknown>): Promise<Outcome>;
  figures(): RemoteCallFigures;
};

/** @param within returns the gateway for calls that must settle within this time */
export function createRemoteCalls(
  { maxCalls }: RemoteCallOptions,
  within: (timeoutMs: number) => RemoteGateway,
): RemoteCalls {
  const figures = { open: 0, refused: 0, late: 0 };
  return {
    async run(deadline, call) {
      if (isOver(deadline)) {
        figures.late += 1;
        throw new GatewayError("GATEWAY_LATE", "The deadline of the call passed before it began");
      }
      if (figures.open >= maxCalls) {
        figures.refused += 1;
        throw new GatewayError(
          "GATEWAY_FULL",
          `${maxCalls} calls of other machines are open; retry in a moment`,
        );
      }
      figures.open += 1;
      try {
        return { value: (await call(within(remainingMs(deadline)))) ?? null };
      } catch (error) {
        return { error: toFailure(error) };
      } finally {
        figures.open -= 1;
      }
    },
    figures: () => ({ ...figures }),
  };
}
