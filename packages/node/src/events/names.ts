/** Names of events in a subscription: single names, and patterns that match several. */
import { EVENTS, loggedName } from "./catalogue.ts";

/** The names that a pattern matches: `transaction.*` all that begin with `transaction.`, `*` every one. */
function namesOf(pattern: string): string[] {
  if (!/^([a-z]+\.)*\*$/.test(pattern)) return [];
  const prefix = pattern.slice(0, -1);
  // Patterns match the names in the event log, not their aliases.
  return Object.keys(EVENTS).filter((name) => name.startsWith(prefix) && loggedName(name) === name);
}

/** Returns true if a text is a pattern that matches at least one event. */
export const isEventPattern = (text: string): boolean => namesOf(text).length > 0;

/**
 * The events of a subscription, by their name in the event log, each with the name that the subscriber receives.
 *
 * @param given names and patterns; the first one that matches an event gives the name that the subscriber receives
 */
export function subscribedNames(given: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const name of given.flatMap((text) => (Object.hasOwn(EVENTS, text) ? [text] : namesOf(text)))) {
    const logged = loggedName(name);
    if (!names.has(logged)) names.set(logged, name);
  }
  return names;
}
