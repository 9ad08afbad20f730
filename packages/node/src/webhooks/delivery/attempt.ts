/** One call to a target: signed, made, timed. */

import type { Clock } from "../clock.ts";
import { bodyOf, createHeaders, type OutgoingMessage } from "../model/message.ts";
import type { Attempted } from "../observer.ts";
import type { Post } from "./post.ts";

/**
 * Never throws: a missing response is an outcome like others. Undefined when the signal ended the call: it is not known whether
 * the target received it.
 */
export type MakeAttempt = (
  message: OutgoingMessage & { readonly target: string },
  signal: AbortSignal,
) => Promise<Attempted | undefined>;

const MAX_REASON_LENGTH = 200;

export function createAttempt({ post, clock }: { post: Post; clock: Clock }): MakeAttempt {
  const headersOf = createHeaders();
  return async (outgoing, signal) => {
    const startedMs = clock.nowMs();
    const { target, message, secrets } = outgoing;
    const body = bodyOf(message);
    const took = () => ({ startedMs, durationMs: Math.max(0, clock.nowMs() - startedMs) });
    try {
      const { status, retryAfter, excerpt } = await post(
        {
          webhook: message.webhook,
          target,
          headers: headersOf({ id: message.id, body, secrets }, startedMs),
          body,
        },
        signal,
      );
      return {
        ...took(),
        status,
        ...(excerpt !== undefined && { answer: excerpt }),
        ...(retryAfter !== undefined && { retryAfter }),
        ...(!isSuccess(status) && { reason: `HTTP ${status}` }),
      };
    } catch (error) {
      if (signal.aborted) return undefined;
      return { ...took(), error: codeOf(error), reason: reasonOf(error) };
    }
  };
}

/** Everything else is failure, redirects included (webhooks.md 7.3). */
const isSuccess = (status: number) => status >= 200 && status < 300;

function codeOf(error: unknown): string {
  const { code, name } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : name;
}

function reasonOf(error: unknown): string {
  const { message } = error as Error;
  return message === "" ? codeOf(error) : `${codeOf(error)}: ${message.slice(0, MAX_REASON_LENGTH)}`;
}
