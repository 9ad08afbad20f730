/** Result of a check of the machine. */

export type Finding = {
  /** Name of the check, such as `clock` or `disk`. */
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly text: string;
  /** Remedy of the problem; absent if there is none. */
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
