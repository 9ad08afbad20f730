/** The node's side of a hand-over: stops and starts the webhook service with the owner, and sends or receives all rows. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { HandOverHead, HandOverLine, TablePart } from "./lines.ts";
import {
  HandOverError,
  nextOwner,
  type Owner,
  type OwnerChange,
  OwnerError,
  type OwnerState,
} from "./owner.ts";
import type { CopiedEvent, HandOverRows } from "./ports.ts";
import type { ServiceSwitch } from "./service-switch.ts";

export type NodeSideOptions = {
  /** Time for running calls when the service stops: that of a call. */
  readonly graceMs: number;
};

export type NodeSideDeps = {
  readonly rows: HandOverRows;
  readonly service: ServiceSwitch;
  /** Settles when the log records the events that the webhooks of this database subscribe to. */
  readonly webhooksChanged: () => Promise<void>;
  readonly logger: Pick<Logger, "info" | "error">;
};

export type NodeStatus = {
  readonly state: OwnerState;
  readonly transfer?: string | undefined;
  /** False while calls are running. */
  readonly isStopped: boolean;
  readonly matched: number;
  readonly isEncrypted: boolean;
};

/** Parts of one command; those of another command begin again. */
export type PartOrder = {
  readonly transfer: string;
  /** Differs for each command. */
  readonly session: string;
  /** Number of the part; 0 begins, and has no rows. */
  readonly part: number;
};

/** Lets other writers run between two steps. */
const DROP_PAUSE_MS = 5;

export class NodeSide {
  readonly #options: NodeSideOptions;
  readonly #deps: NodeSideDeps;
  #received: { readonly session: string; next: number; count: number } | undefined;
  #isDropping = false;
  #isClosed = false;
  /** Changes are made one after the other. */
  #changing: Promise<unknown> = Promise.resolve();

  constructor(options: NodeSideOptions, deps: NodeSideDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Starts the service if the node owns the webhooks, and continues to drop the rows that workers have. */
  start(): void {
    const { rows, service } = this.#deps;
    const { state } = rows.owner();
    if (state === "node") service.start();
    if (state === "workers") void this.#dropRows();
  }

  status(): NodeStatus {
    const { rows, service } = this.#deps;
    return {
      ...rows.owner(),
      isStopped: !service.isRunning() && !service.isStopping(),
      matched: rows.matched(),
      isEncrypted: rows.isEncrypted,
    };
  }

  /**
   * Changes the owner. From `node` on, the service stops: `isStopped` says when.
   *
   * @param copied the last event that the mirror of the workers has copied
   * @throws {OwnerError}
   * @throws {HandOverError} OTHER_NODE
   */
  change(change: OwnerChange, copied?: CopiedEvent): Promise<NodeStatus> {
    return this.#inOrder(() => this.#changeOwner(change, copied));
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changing.then(work);
    this.#changing = result.catch(() => {});
    return result;
  }

  async #changeOwner(change: OwnerChange, copied?: CopiedEvent): Promise<NodeStatus> {
    const { rows, service, webhooksChanged, logger } = this.#deps;
    if (copied && !rows.hasEvent(copied))
      throw new HandOverError(
        "OTHER_NODE",
        `the log of this node does not have event ${copied.sequence} of the database: name the node that its mirror follows with --node`,
      );
    const isLastStep = change.from === "to node" && change.to === "node";
    const before = rows.owner();
    // Only `finish` makes the node the owner of rows that it has received.
    if (isLastStep && before.state !== "node") throw new OwnerError(before, { ...change, from: "node" });
    if (change.to === "node" && before.state !== "node") await service.stop();
    const owner = rows.change(change);
    if (owner !== before) logger.info({ ...owner }, "the owner of the webhooks has changed");
    if (owner.state === "node") this.#startService();
    else void service.stop(this.#options.graceMs);
    this.#received = undefined;
    if (owner.state === "workers") void this.#dropRows();
    if (owner.state === "workers" || isLastStep) await webhooksChanged();
    return this.status();
  }

  #startService(): void {
    this.#deps.service.start();
    this.#deps.service.notify();
  }

  /**
   * Yields the lines of all rows.
   *
   * @throws {OwnerError} unless they are handed over to the workers
   * @throws {HandOverError} NOT_READY
   */
  lines(transfer: string): Iterable<HandOverLine> {
    const { rows, service } = this.#deps;
    checkNext(rows.owner(), { from: "to workers", to: "workers", transfer });
    if (service.isStopping()) throw notReady("calls to receivers are still running");
    rows.complete();
    return rows.lines();
  }

  /**
   * Receives the next part. A part that has arrived is ignored.
   *
   * @throws {OwnerError} unless the webhooks are handed over to the node
   * @throws {HandOverError} NOT_READY, PART_UNEXPECTED
   */
  receive({ transfer, session, part }: PartOrder, given: TablePart | undefined): void {
    const { rows } = this.#deps;
    const received = this.#received;
    checkNext(rows.owner(), { from: "to node", to: "node", transfer });
    if (part === 0) {
      this.#received = undefined;
      if (this.#isDropping || !rows.isEmpty()) {
        void this.#dropRows();
        throw notReady("the rows of a former hand-over are still being dropped");
      }
      this.#received = { session, next: 1, count: 0 };
      return;
    }
    if (received?.session !== session || part > received.next || part < received.next - 1) {
      throw new HandOverError(
        "PART_UNEXPECTED",
        "another command hands the webhooks over, or the node was restarted; run the command again",
      );
    }
    if (part < received.next || !given) return;
    rows.add(given.table, given.rows);
    received.next++;
    received.count += given.rows.length;
  }

  /**
   * Completes the hand-over to the node after the last part, and starts the service.
   *
   * @param count number of all rows
   * @throws {OwnerError}
   * @throws {HandOverError}
   */
  finish(order: PartOrder, head: HandOverHead, count: number): Promise<NodeStatus> {
    return this.#inOrder(() => this.#finish(order, head, count));
  }

  async #finish({ transfer, session, part }: PartOrder, head: HandOverHead, count: number) {
    const { rows, webhooksChanged, logger } = this.#deps;
    const received = this.#received;
    const owner = rows.owner();
    // The response to an earlier request may have been lost.
    if (owner.state !== "node" || owner.transfer !== transfer) {
      if (received?.session !== session || received.next !== part || received.count !== count)
        throw new HandOverError("PART_UNEXPECTED", "rows are missing; run the command again");
      rows.finish(head, transfer);
      logger.info({ ...rows.owner(), rows: count }, "the owner of the webhooks has changed");
      this.#received = undefined;
      this.#startService();
    }
    await webhooksChanged();
    return this.status();
  }

  /** Drops the rows that the workers have, in the background. */
  async #dropRows(): Promise<void> {
    if (this.#isDropping) return;
    this.#isDropping = true;
    const { rows, logger } = this.#deps;
    try {
      // Receiving begins only after the last step.
      while (!this.#isClosed && rows.owner().state !== "node" && rows.drop()) await sleep(DROP_PAUSE_MS);
    } catch (err) {
      logger.error(
        { err },
        "failed to drop the rows of webhooks that were handed over; the next start retries",
      );
    }
    this.#isDropping = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#deps.service.stop();
  }
}

const notReady = (reason: string): HandOverError =>
  new HandOverError("NOT_READY", `${reason}; retry in a moment`);

/** @throws {OwnerError} if the change does not continue from the current state, or has been made */
function checkNext(owner: Owner, change: OwnerChange): void {
  if (nextOwner(owner, change) === owner) throw new OwnerError(owner, change);
}
