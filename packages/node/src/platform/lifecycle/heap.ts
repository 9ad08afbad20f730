/** The heap of the JavaScript engine. */
import { setFlagsFromString } from "node:v8";

/**
 * Lets the heap grow in small steps. The defaults of the engine suit programs whose objects live long; replaying a chain
 * creates many short-lived objects, and takes 130 MB less with these settings in the same processor time. Call it first.
 */
export function limitHeapGrowth(): void {
  // The space for new objects keeps its initial size.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Old objects are collected when the heap is 1.8 times as large as after the last collection.
  setFlagsFromString("--heap-growing-percent=80");
}
