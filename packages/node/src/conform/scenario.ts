/** A scenario: calls that a node would make, and the view that the receiver must have afterwards. */
import type { DeliveryMessage } from "../webhooks/model/deliveries.ts";
import type { Stage } from "./stage.ts";

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
