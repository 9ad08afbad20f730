/** Makes a signed call to a target and measures its duration. */

import type { Attempted, Clock } from "../collaborators.ts";
import { bodyOf, type OutgoingMessage, Signer } from "../model/message.ts";
import type { ProofTexts } from "../proof-text.ts";
import type { Post } from "./post.ts";

/**
 * Calls a target, as `Attempts.make` does; never rejects, because a missing response is an outcome like others. Resolves to undefined if the signal
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

type AttemptsDeps = {
  readonly post: Post;
  /** Absent: bodies have no proofs. */
  readonly proofs?: Pick<ProofTexts, "read"> | undefined;
  readonly clock: Pick<Clock, "nowMs" | "elapsedMs">;
};

export class Attempts {
  readonly #deps: AttemptsDeps;
  readonly #signer = new Signer();

  constructor(deps: AttemptsDeps) {
    this.#deps = deps;
  }

  readonly make: MakeAttempt = async (outgoing, signal) => {
    const { post, proofs, clock } = this.#deps;
    const { target, message, secrets, epoch, isStrict = false, proofDepth } = outgoing;
    const { id, webhook, sequence } = message;
    const proofText = proofDepth === undefined ? undefined : await proofs?.read(message, proofDepth);
    const startedMs = clock.nowMs();
    // The time of day can be changed during a call.
    const beganMs = clock.elapsedMs();
    const body = outgoing.body ?? bodyOf(message, proofText);
    const took = () => ({ startedMs, durationMs: Math.round(clock.elapsedMs() - beganMs) });
    try {
      const headers = this.#signer.headersOf({ id, body, secrets, sequence, epoch }, startedMs);
      const response = await post({ id, webhook, target, isStrict, headers, body }, signal);
      const { status, retryAfter, excerpt, headers: responseHeaders } = response;
      return {
        ...took(),
        ...(status !== undefined && { status }),
        ...(excerpt !== undefined && { response: excerpt }),
        ...(responseHeaders !== undefined && { responseHeaders }),
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
