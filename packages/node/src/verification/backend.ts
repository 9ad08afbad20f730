/** Selects the implementation that verifies signatures in this process or thread. */
import { loadNativeVerify, loadWebAssemblyVerify } from "./native.ts";
import type { PackedVerify } from "./packed-checks.ts";

export type SelectedBackend = {
  /** Name of the implementation, for logs. */
  readonly name: string;
  readonly verify: PackedVerify;
  /** The reason why a faster implementation of this machine is not used. */
  readonly refusal?: Error;
};

/** From the fastest on. */
const COMPILED = [
  { name: "libsecp256k1 (native)", load: loadNativeVerify },
  { name: "libsecp256k1 (WebAssembly)", load: loadWebAssemblyVerify },
] as const;

/** The first that this machine has and that passes its self-test; otherwise libauth, which is loaded only then. */
export async function selectBackend(): Promise<SelectedBackend> {
  let refused: { readonly refusal?: Error } = {};
  for (const { name, load } of COMPILED) {
    try {
      const verify = load();
      if (verify) return { name, verify, ...refused };
    } catch (error) {
      refused = { refusal: error as Error, ...refused };
    }
  }
  return { ...(await loadLibauth()), ...refused };
}

async function loadLibauth(): Promise<SelectedBackend> {
  const [{ defaultSignatureBackend }, { createPackedVerify }] = await Promise.all([
    import("@uniknode/protocol"),
    import("./packed-verify.ts"),
  ]);
  return { name: defaultSignatureBackend.name, verify: createPackedVerify() };
}
