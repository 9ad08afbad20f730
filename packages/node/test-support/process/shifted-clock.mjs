// Loaded before the program: shifts the clock of each thread by the milliseconds in the file CLOCK_SHIFT_FILE.
import { readFileSync } from "node:fs";

const now = Date.now;

Date.now = () => now() + Number(readFileSync(process.env.CLOCK_SHIFT_FILE, "utf8"));
