/** Log lines: JSON on the standard error stream, a constant message with fields. */
import { destination, type Logger, pino } from "pino";

export type LogLevel = "error" | "warn" | "info" | "debug" | "trace" | "silent";

export const createLogger = (level: LogLevel): Logger =>
  pino({ level, base: null, formatters: { level: (label) => ({ level: label }) } }, destination(2));
