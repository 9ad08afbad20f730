/** A scenario, and its stage: creates and sends messages, restarts the receiver, and compares its view. */
import { setTimeout as sleep } from "node:timers/promises";
import { withoutControls } from "../platform/text/foreign.ts";
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";
import type { FactEvent, FactOptions, Messages } from "./messages.ts";
import { type How, type RequestOptions, Requests } from "./requests.ts";
import { awaitView, ScenarioFailure, type ViewOptions } from "./view.ts";

export type StageOptions = RequestOptions &
  ViewOptions & {
    readonly webhook: number;
    /** Event that the receiver handles. */
    readonly event: FactEvent;
    /** Time after which the view must still be the expected one. */
    readonly settleMs: number;
  };

export type StageDeps = {
  readonly messages: Messages;
  /** Restarts the receiver, and waits until its probe responds; absent if the kit cannot. */
  readonly restart?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
};

type Stage = Pick<Messages, "place" | "sibling" | "retraction" | "epoch" | "skipSequences"> & {
  readonly token: string;
  fact(options?: FactOptions): DeliveryMessage;
  /** Creates a delivery that has no fact which the view must show. */
  other: Messages["other"];
  ping: Messages["ping"];
  /** Sends messages one after another; the receiver must accept each. */
  deliver(...messages: readonly DeliveryMessage[]): Promise<void>;
  /** Sends messages at the same time; the receiver must accept each. */
  deliverTogether(messages: readonly DeliveryMessage[]): Promise<void>;
  /** Sends copies of one message at the same time; the receiver can accept or refuse each. */
  attemptCopies(message: DeliveryMessage, copies: number): Promise<void>;
  /** Sends one message in a certain way; the receiver must accept it. */
  deliverAs(message: DeliveryMessage, how: How): Promise<void>;
  /** Sends one message in a certain way; the receiver must refuse it. */
  refuseAs(message: DeliveryMessage, how: How): Promise<void>;
  /** Sends one message; the receiver can accept or refuse it. */
  attempt(message: DeliveryMessage, how?: How): Promise<void>;
  /** Sends a message whose body arrives in pieces; the receiver must accept it. */
  deliverPieces(message: DeliveryMessage, split: (body: Buffer) => readonly Buffer[]): Promise<void>;
  /** Sends half of a message, and closes the connection. */
  breakOff(message: DeliveryMessage): Promise<void>;
  /** Waits until the view has these facts of the scenario, and no others. */
  expectView(facts: readonly DeliveryMessage[]): Promise<void>;
  restart(): Promise<void>;
};

/** Calls that a node would make, and the view that the receiver must have afterwards. */
export type Scenario = {
  /** Stable name, for `--only` and for reports. */
  readonly name: string;
  /** Requirement on the receiver, in one sentence. */
  readonly rule: string;
  /** Next step for the developer of a receiver that fails. */
  readonly change: string;
  /** Section of the documentation that has the rule. */
  readonly section: string;
  /** The scenario restarts the receiver. */
  readonly needsRestart?: true;
  /**
   * Makes the calls. Resolves to the facts that the receiver must show afterwards; every other fact that the scenario
   * has sent must be absent.
   *
   * @throws {ScenarioFailure} if the receiver responds wrongly
   */
  readonly play: (stage: Stage) => Promise<readonly DeliveryMessage[]>;
};

/** A stage with the calls that were made on it. */
type OpenStage = {
  readonly stage: Stage;
  readonly journal: readonly string[];
  /** Waits until the view is the expected one, and stays so. */
  conclude(facts: readonly DeliveryMessage[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens the stage of one scenario; its connections end when it is closed. */
export function openStage(options: StageOptions, deps: StageDeps): OpenStage {
  const calls = new Calls(options, deps);
  const { requests, journal } = calls;
  const { messages } = deps;
  /** Ids of all facts of the scenario. */
  const ids = new Set<string>();
  const expectView = (facts: readonly DeliveryMessage[]) =>
    awaitView(options, { sent: ids, facts, event: options.event }, deps.signal);
  const deliverAs = async (message: DeliveryMessage, how: How) =>
    mustAccept(message, await calls.record(message, () => requests.send(message, how)));

  const stage: Stage = {
    ...messages,
    token: options.token,
    deliverAs,
    fact(given) {
      const fact = messages.fact(given);
      ids.add(fact.id);
      return fact;
    },
    async deliver(...list) {
      for (const message of list) await deliverAs(message, {});
    },
    async deliverTogether(list) {
      await Promise.all(list.map((message) => deliverAs(message, {})));
    },
    async attemptCopies(message, copies) {
      await calls.record(message, async () => (await requests.sendCopies(message, copies)).join(" and "));
    },
    async refuseAs(message, how) {
      const status = await calls.record(message, () => requests.send(message, how));
      if (isSuccess(status))
        throw new ScenarioFailure("a status that is not 2xx", `it responded with ${status}`);
    },
    async attempt(message, how = {}) {
      await calls.record(message, () => requests.send(message, how));
    },
    async deliverPieces(message, split) {
      mustAccept(message, await calls.record(message, () => requests.sendPieces(message, split)));
    },
    async breakOff(message) {
      await requests.sendHalf(message);
      journal.push(`${labelOf(message)}: half of the body, then the connection was closed`);
    },
    expectView,
    restart: () => calls.restart(),
  };

  return {
    stage,
    journal,
    async conclude(facts) {
      await expectView(facts);
      await sleep(options.settleMs, undefined, { signal: deps.signal });
      await expectView(facts);
    },
    close: () => requests.close(),
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function mustAccept(message: DeliveryMessage, status: number): void {
  if (isSuccess(status)) return;
  throw new ScenarioFailure(`a status of 2xx for ${message.event}`, `it responded with ${status}`);
}

const labelOf = ({ event, id, height, reverts }: DeliveryMessage): string =>
  [
    event,
    ...(height === undefined ? [] : [`at height ${height}`]),
    id,
    ...(reverts === undefined ? [] : [`which retracts ${reverts}`]),
  ].join(" ");

const RESPOND = "start the receiver, check the URL, and respond to every request in time";

/** The calls of a scenario, with a journal of their responses. */
class Calls {
  readonly #options: StageOptions;
  readonly #deps: StageDeps;
  readonly requests: Requests;
  readonly journal: string[] = [];

  constructor(options: StageOptions, deps: StageDeps) {
    this.#options = options;
    this.#deps = deps;
    this.requests = new Requests(options, deps.signal);
  }

  /** Resolves to the status, and records it. */
  async record<Status extends number | string>(
    message: DeliveryMessage,
    send: () => Promise<Status>,
  ): Promise<Status> {
    try {
      const status = await send();
      this.journal.push(`${labelOf(message)}: ${status}`);
      return status;
    } catch (error) {
      this.#deps.signal.throwIfAborted();
      const reason = withoutControls((error as Error).message);
      this.journal.push(`${labelOf(message)}: no response`);
      const expected = `a response within ${this.#options.timeoutMs / 1_000} s`;
      throw new ScenarioFailure(expected, `there was none: ${reason}`, RESPOND);
    }
  }

  async restart(): Promise<void> {
    const { restart, signal } = this.#deps;
    if (!restart) throw new Error("a scenario that restarts the receiver was played without a restart");
    await restart(signal);
    await this.requests.reconnect();
    this.journal.push("the receiver was restarted");
  }
}
