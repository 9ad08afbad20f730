/**
 * Submissions to the pool pass three functions: `parse`, `verifySignatures` (in other threads) and `admit`. The work of
 * the consensus thread is done in time slices, a transaction at a time, so that no request delays anything else.
 */
import type { SchemaViolation } from "@uniknode/protocol";
import { type AdmissionResult, BodyError } from "../../gateway/gateway.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { troubleOf } from "../../platform/files/disk.ts";
import type { TimeSlices } from "../../platform/threads/time-slices.ts";
import { type AdmitDeps, admit } from "./admit.ts";
import { type AdmissionOptions, BatchError, type ParseDeps, parse } from "./parse.ts";
import { type SignatureDeps, verifySignatures } from "./verify.ts";

export type SubmissionDeps = ParseDeps & SignatureDeps & AdmitDeps & { readonly slices: TimeSlices };

export type SubmitOptions = { readonly isBatch?: boolean };

export type Submissions = {
  /** See `Pool.submit`. */
  submit(inputs: readonly unknown[], options?: SubmitOptions): Promise<AdmissionResult>;
  /** Transactions whose admission is in progress. */
  waiting(): number;
  /** Refuses new submissions and the ones in progress. */
  close(): void;
};

/** Transactions of requests that are in progress; a single request may have more. */
const MAX_WAITING = 10_000;

export function createSubmissions(options: AdmissionOptions, deps: SubmissionDeps): Submissions {
  const { slices, journal, refusals, recentIds } = deps;
  const order = createSenderOrder();
  let waiting = 0;
  let isClosed = false;

  async function submit(
    inputs: readonly unknown[],
    { isBatch = false }: SubmitOptions = {},
  ): Promise<AdmissionResult> {
    if (waiting > 0 && waiting + inputs.length > MAX_WAITING) {
      refusals.count("POOL_BUSY", inputs.length);
      throw busy();
    }
    waiting += inputs.length;
    try {
      const result = await process(inputs, isBatch);
      if (result.data.accept.length > 0) await journal.flushed().catch(failUnstored);
      return result;
    } finally {
      waiting -= inputs.length;
    }
  }

  async function process(inputs: readonly unknown[], isBatch: boolean): Promise<AdmissionResult> {
    const request = await slices.run(parse(inputs, isBatch, options, deps));
    const place = order.enter(new Set(request.fresh.map(({ senderPublicKey }) => senderPublicKey)));
    try {
      const verdicts = await verifySignatures(request.parsedCandidates, deps);
      await place.isNext;
      if (isClosed) throw closed();
      const admitted = slices.run(admit(request, verdicts, options, deps));
      // Slices run in the order of the calls.
      place.leave();
      return await admitted;
    } catch (error) {
      // Nothing was decided: the client may send them again.
      recentIds.forget(request.fresh.map(({ id }) => id));
      throw error;
    } finally {
      place.leave();
    }
  }

  return {
    submit,
    waiting: () => waiting,
    close() {
      isClosed = true;
    },
  };
}

export type BodyPool = {
  submit(items: readonly unknown[], options: SubmitOptions): Promise<AdmissionResult>;
};

/**
 * Submits the items of the body of `POST /transactions` to the pool.
 *
 * @param max items of one body
 * @throws {BodyError} when the body as a whole fails the schema: nothing was processed
 */
export async function submitBody(
  pool: BodyPool,
  transactions: readonly unknown[],
  max: number,
): Promise<AdmissionResult> {
  const { length } = transactions;
  if (length < 1 || length > max) {
    throw new BodyError(`"transactions" must have from 1 to ${max} items, not ${length}`);
  }
  try {
    return await pool.submit(transactions, { isBatch: true });
  } catch (error) {
    throw error instanceof BatchError ? new BodyError(violationText(error.violation)) : error;
  }
}

function violationText({ path, expectation }: SchemaViolation): string {
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return `"transactions${names.join(".")}" ${expectation}`;
}

const closed = () => new CodedError("POOL_CLOSED", "the pool was closed", { isRetryable: false });

/** The transactions stay pending, and the journal writes them as soon as it can. */
function failUnstored(error: unknown): never {
  const trouble = troubleOf(error);
  if (!trouble) throw error;
  const code = trouble === "disk full" ? "POOL_DISK_FULL" : "POOL_DISK_UNWRITABLE";
  throw new CodedError(code, `${trouble}: the accepted transactions are pending, but not stored yet`, {
    cause: error,
    isRetryable: true,
  });
}

/** The maximum of transactions is being checked. */
const busy = () =>
  new CodedError("POOL_BUSY", "too many transactions are being checked; retry in a moment", {
    isRetryable: true,
  });

/** Keeps the requests of each sender in order; requests of different senders do not wait for each other. */
function createSenderOrder() {
  /** The last unfinished request of each sender. */
  const last = new Map<string, Promise<void>>();
  return {
    /** Enters a request with its senders; `isNext` resolves when every earlier request of one of them has finished. */
    enter(senders: ReadonlySet<string>) {
      const { promise: left, resolve } = Promise.withResolvers<void>();
      const earlier = [...senders].flatMap((sender) => last.get(sender) ?? []);
      const isNext = Promise.all(earlier).then(() => {});
      for (const sender of senders) last.set(sender, left);
      return {
        isNext,
        leave() {
          for (const sender of senders) if (last.get(sender) === left) last.delete(sender);
          // A request that fails early does not change the order of the others.
          void isNext.then(resolve);
        },
      };
    },
  };
}
