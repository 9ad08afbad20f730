/** What a check of the machine found. */

export type Finding = {
  /** What was looked at: `clock`, `disk`. */
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly text: string;
  /** What to do about it; absent where nothing is to do. */
  readonly remedy?: string;
};

export const ok = (name: string, text: string): Finding => ({ name, state: "ok", text });
export const warn = (name: string, text: string, remedy: string): Finding => ({
  name,
  state: "warn",
  text,
  remedy,
});
export const fail = (name: string, text: string, remedy: string): Finding => ({
  name,
  state: "fail",
  text,
  remedy,
});
