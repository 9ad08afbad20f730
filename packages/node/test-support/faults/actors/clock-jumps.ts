/**
 * Loaded into every thread of the program under test before its own code: moves the machine's clock, as the
 * program sees it, by the milliseconds that a file contains.
 */
import { readFileSync } from "node:fs";

const file = process.env.UNIKNODE_TEST_CLOCK;
const LOOK_EVERY_MS = 50;

if (file !== undefined) {
  const now = Date.now;
  let aheadMs = 0;
  const look = () => {
    const text = readFileSync(file, "utf8");
    // A file that a test is writing is empty for a moment. As a 0, it would move the clock for one reading.
    if (text !== "") aheadMs = Number(text);
  };
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  Date.now = () => now() + aheadMs;
}
