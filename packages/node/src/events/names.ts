/** Names of events as webhooks give them: single ones, and patterns that stand for several. */
import { EVENTS, loggedName } from "./catalogue.ts";

/** The names that a pattern stands for: `transaction.*` all that begin with `transaction.`, `*` every one. */
function namesOf(pattern: string): string[] {
  if (!/^([a-z]+\.)*\*$/.test(pattern)) return [];
  const prefix = pattern.slice(0, -1);
  // An alias is a name for those who use it; patterns mean the events themselves.
  return Object.keys(EVENTS).filter((name) => name.startsWith(prefix) && loggedName(name) === name);
}

/** Whether a text is a pattern that stands for at least one event. */
export const isEventPattern = (text: string): boolean => namesOf(text).length > 0;

/**
 * What a webhook hears, by the name in the event log, each with the name that the webhook uses for it.
 *
 * @param given names and patterns; the first one that covers an event decides how it is called
 */
export function heardNames(given: readonly string[]): Map<string, string> {
  const heard = new Map<string, string>();
  for (const name of given.flatMap((text) => (Object.hasOwn(EVENTS, text) ? [text] : namesOf(text)))) {
    const logged = loggedName(name);
    if (!heard.has(logged)) heard.set(logged, name);
  }
  return heard;
}
