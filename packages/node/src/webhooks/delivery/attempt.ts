/** Makes a signed call to a target and measures its duration. */

import type { Attempted, Clock } from "../collaborators.ts";
import { bodyOf, createHeaders, type OutgoingMessage } from "../model/message.ts";
import type { ReadProofText } from "../proof-text.ts";
import type { Post } from "./post.ts";

/**
 * Calls a target; never rejects, because a missing response is an outcome like others. Resolves to undefined if the signal
 * ended the call: it is unknown whether the target received the delivery.
 */
export type MakeAttempt = (
  message: OutgoingMessage & {
    readonly target: string;
    /** True if the webhook sends its deliveries in strict order; absent: false. */
    readonly isStrict?: boolean;
  },
  signal: AbortSignal,
) => Promise<Attempted | undefined>;

const MAX_REASON_LENGTH = 200;

export type AttemptDeps = {
  readonly post: Post;
  /** Absent: bodies have no proofs. */
  readonly readProofText?: ReadProofText;
  readonly clock: Clock;
};

export function createAttempt({ post, readProofText, clock }: AttemptDeps): MakeAttempt {
  const headersOf = createHeaders();
  return async (outgoing, signal) => {
    const { proofDepth } = outgoing;
    const proofText =
      proofDepth === undefined ? undefined : await readProofText?.(outgoing.message, proofDepth);
    const startedMs = clock.nowMs();
    // The time of day can be changed during a call.
    const beganMs = clock.elapsedMs();
    const { target, message, secrets, epoch, isStrict = false } = outgoing;
    const body = bodyOf(message, proofText);
    const took = () => ({ startedMs, durationMs: Math.round(clock.elapsedMs() - beganMs) });
    try {
      const { status, retryAfter, excerpt } = await post(
        {
          id: message.id,
          webhook: message.webhook,
          target,
          isStrict,
          headers: headersOf({ id: message.id, body, secrets, sequence: message.sequence, epoch }, startedMs),
          body,
        },
        signal,
      );
      return {
        ...took(),
        ...(status !== undefined && { status }),
        ...(excerpt !== undefined && { response: excerpt }),
        ...(retryAfter !== undefined && { retryAfter }),
        ...(!isSuccess(status) && { reason: `HTTP ${status}` }),
      };
    } catch (error) {
      if (signal.aborted) return undefined;
      return { ...took(), error: codeOf(error), reason: reasonOf(error) };
    }
  };
}

/** Returns whether a response is a success; redirects are failures (webhooks.md 7.3). */
const isSuccess = (status: number | undefined) => status === undefined || (status >= 200 && status < 300);

function codeOf(error: unknown): string {
  const { code, name } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : name;
}

/** Errors of TLS name a function and a line of the library before and after their reason. */
const TLS_REASON = /error:[\dA-F]+:[^:]*:[^:]*:([^:]+):/;

function reasonOf(error: unknown): string {
  const { message: text } = error as Error;
  const message = TLS_REASON.exec(text)?.[1] ?? text;
  return message === "" ? codeOf(error) : `${codeOf(error)}: ${message.slice(0, MAX_REASON_LENGTH)}`;
}
