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
  readonly play: (stage: Stage, messages: Messages) => Promise<readonly DeliveryMessage[]>;
};

/** The stage of one scenario. Its connections end when it is closed. */
export class Stage {
  readonly token: string;
  /** The calls with their responses. */
  readonly journal: string[] = [];
  readonly #options: StageOptions;
  readonly #deps: StageDeps;
  readonly #requests: Requests;
  /** Ids of all facts of the scenario. */
  readonly #ids = new Set<string>();

  constructor(options: StageOptions, deps: StageDeps) {
    this.token = options.token;
    this.#options = options;
    this.#deps = deps;
    this.#requests = new Requests(options, deps.signal);
  }

  /** Creates the delivery of a fact, which the view must have if the scenario returns it. */
  fact(options?: FactOptions): DeliveryMessage {
    const fact = this.#deps.messages.fact(options);
    this.#ids.add(fact.id);
    return fact;
  }

  /** Sends messages one after another; the receiver must accept each. */
  async deliver(...messages: readonly DeliveryMessage[]): Promise<void> {
    for (const message of messages) await this.deliverAs(message, {});
  }

  /** Sends messages at the same time; the receiver must accept each. */
  async deliverTogether(messages: readonly DeliveryMessage[]): Promise<void> {
    await Promise.all(messages.map((message) => this.deliverAs(message, {})));
  }

  /** Sends copies of one message at the same time; the receiver can accept or refuse each. */
  async attemptCopies(message: DeliveryMessage, copies: number): Promise<void> {
    await this.#record(message, async () => (await this.#requests.sendCopies(message, copies)).join(" and "));
  }

  /** Sends one message in a certain way; the receiver must accept it. */
  async deliverAs(message: DeliveryMessage, how: How): Promise<void> {
    mustAccept(message, await this.#record(message, () => this.#requests.send(message, how)));
  }

  /** Sends one message in a certain way; the receiver must refuse it. */
  async refuseAs(message: DeliveryMessage, how: How): Promise<void> {
    const status = await this.#record(message, () => this.#requests.send(message, how));
    if (isSuccess(status))
      throw new ScenarioFailure("a status that is not 2xx", `it responded with ${status}`);
  }

  /** Sends one message; the receiver can accept or refuse it. */
  async attempt(message: DeliveryMessage, how: How = {}): Promise<void> {
    await this.#record(message, () => this.#requests.send(message, how));
  }

  /** Sends a message whose body arrives in pieces; the receiver must accept it. */
  async deliverPieces(message: DeliveryMessage, split: (body: Buffer) => readonly Buffer[]): Promise<void> {
    mustAccept(message, await this.#record(message, () => this.#requests.sendPieces(message, split)));
  }

  /** Sends half of a message, and closes the connection. */
  async breakOff(message: DeliveryMessage): Promise<void> {
    await this.#requests.sendHalf(message);
    this.journal.push(`${labelOf(message)}: half of the body, then the connection was closed`);
  }

  async restart(): Promise<void> {
    const { restart, signal } = this.#deps;
    if (!restart) throw new Error("a scenario that restarts the receiver was played without a restart");
    await restart(signal);
    await this.#requests.reconnect();
    this.journal.push("the receiver was restarted");
  }

  /** Waits until the view has these facts of the scenario, and no others. */
  expectView(facts: readonly DeliveryMessage[]): Promise<void> {
    const { event } = this.#options;
    return awaitView(this.#options, { sent: this.#ids, facts, event }, this.#deps.signal);
  }

  /** Waits until the view is the expected one, and stays so. */
  async conclude(facts: readonly DeliveryMessage[]): Promise<void> {
    await this.expectView(facts);
    await sleep(this.#options.settleMs, undefined, { signal: this.#deps.signal });
    await this.expectView(facts);
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  /** Resolves to the status, and records it. */
  async #record<Status extends number | string>(
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
