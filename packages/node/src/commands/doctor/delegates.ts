/** Checks the delegate keys. */
import { openDelegates, secretsOf } from "../../forger/delegates.ts";
import { type Finding, fail, ok } from "./finding.ts";

type Keys = Parameters<typeof secretsOf>[0] & { readonly forgerPassword: string | undefined };

export async function checkDelegates(config: Keys): Promise<Finding> {
  try {
    const { size } = await openDelegates(secretsOf(config), config.forgerPassword);
    return ok("delegates", size === 0 ? "no keys are given" : `read the keys of ${size} delegates`);
  } catch (error) {
    return fail("delegates", (error as Error).message, "see docs/guides/operations.md");
  }
}
