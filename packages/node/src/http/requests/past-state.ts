/** Requests for earlier states: the parameter `at`. */
import { Type } from "../../platform/json/schema.ts";
import type { History, PastState, Snapshot } from "../../read/port.ts";
import { HttpError } from "../core/error.ts";
import { positive } from "./parameters.ts";

/** Height of the block after which the state is requested. */
export const atParameter = { at: Type.Optional(positive) };

/** Query of routes that ignore unknown parameters, as in the old network. */
export const atQuery = Type.Object(atParameter);

/** Refusals of `pastState`. */
export const PAST_REFUSALS = { 409: "This node has no earlier states." };

/**
 * Returns the state at the parameter; undefined if the request has none.
 *
 * @throws {HttpError} HISTORY_UNAVAILABLE, STATE_UNKNOWN
 */
export async function pastState(
  snapshot: Snapshot,
  { at }: { readonly at?: string },
): Promise<PastState | undefined> {
  if (at === undefined) return undefined;
  const { history, since } = await openHistory(snapshot);
  const height = Number(at);
  const { height: head } = snapshot.head;
  if (height < since || height > head) {
    throw new HttpError(
      "STATE_UNKNOWN",
      `This node has the states after the blocks ${since} to ${head}, not after ${height}`,
    );
  }
  return history.at(height);
}

/** @throws {HttpError} HISTORY_UNAVAILABLE */
export async function openHistory({
  history,
}: Snapshot): Promise<{ readonly history: History; readonly since: number }> {
  const since = await history?.since();
  if (history && since !== undefined) return { history, since };
  throw new HttpError(
    "HISTORY_UNAVAILABLE",
    "This node has no earlier states: send the request to a node that was started with --history full",
  );
}
