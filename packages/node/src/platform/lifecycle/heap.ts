/** The memory of the JavaScript engine. */
import { setFlagsFromString } from "node:v8";

/**
 * Lets the heap grow in small steps. The engine's own steps suit programs that keep what they make: replaying a
 * chain makes much and keeps nothing, and takes 130 MB less this way in the same processor time. To be called first.
 */
export function limitHeapGrowth(): void {
  // The space for new objects stays as large as it begins.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Old objects are collected when there are 1.8 times as many as the last time.
  setFlagsFromString("--heap-growing-percent=80");
}
