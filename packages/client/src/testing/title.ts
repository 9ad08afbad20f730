/** Describes steps in one line. */
import { type CountedEvent, type Expectation, type Step, type Steps, verbOf } from "./scenario.ts";

/** Returns a line such as `transfer 12.5 from account 0 to account 1`. */
export function titleOf(step: Step): string {
  const [verb, value] = verbOf(step);
  switch (verb) {
    case "transfer":
      return `transfer ${value.amount} from ${value.from} to ${value.to}`;
    case "mint":
      return `mint ${value.unik} for ${value.owner}`;
    case "update":
      return `update the unik ${value.unik} of ${value.owner}: ${Object.keys(value.set).join(", ")}`;
    case "transferUnik":
      return `transfer the unik ${value.unik} from ${value.from} to ${value.to}`;
    case "vote":
    case "unvote":
      return `${verb} ${value.delegate} from ${value.from}`;
    case "reorganise":
      return branchTitle(value);
    case "restore":
      return typeof value === "number" ? `restore the block ${value} below the head` : `restore ${value}`;
    case "webhook":
      return `webhook ${value.name} for ${value.events.join(", ")}`;
    case "fail":
      return `fail ${value.webhook}: ${value.how}`;
    case "expect":
      return `expect ${expectationTitle(value)}`;
    default:
      return `${verb} ${value}`;
  }
}

function branchTitle(branch: Steps["reorganise"]): string {
  if (typeof branch === "number") return `reorganise ${branch}`;
  const { depth, blocks = depth + 1, transactions = false, without = [] } = branch;
  const omitted = without.length > 0 ? ` without ${without.join(", ")}` : "";
  return `reorganise ${depth} by ${blocks}${transactions ? " with transactions" : ""}${omitted}`;
}

function expectationTitle(expectation: Expectation): string {
  if ("height" in expectation) return `height ${expectation.height}`;
  if ("balance" in expectation) return `balance of ${expectation.balance.of} ${expectation.balance.is}`;
  if ("delivered" in expectation) return countTitle("delivered", expectation.delivered);
  return countTitle("retracted", expectation.retracted);
}

const countTitle = (what: string, { webhook, event, count }: CountedEvent): string =>
  `${count ?? "any"} ${event} ${what} at ${webhook}`;
