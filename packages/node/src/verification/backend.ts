/** Selects the implementation that verifies signatures in this process or thread. */
import { loadNativeVerify } from "./native.ts";
import type { PackedVerify } from "./packed-checks.ts";

export type SelectedBackend = {
  /** Name of the implementation, for logs. */
  readonly name: string;
  readonly verify: PackedVerify;
  /** The reason why the addon is not used although this machine has one. */
  readonly refusal?: Error;
};

/** The addon if this machine has one that passes its self-test; otherwise WebAssembly, which is loaded only then. */
export async function selectBackend(): Promise<SelectedBackend> {
  try {
    const verify = loadNativeVerify();
    return verify ? { name: "libsecp256k1 (native)", verify } : await webAssembly();
  } catch (error) {
    return { ...(await webAssembly()), refusal: error as Error };
  }
}

async function webAssembly(): Promise<SelectedBackend> {
  const [{ defaultSignatureBackend }, { createPackedVerify }] = await Promise.all([
    import("@uniknode/protocol"),
    import("./packed-verify.ts"),
  ]);
  return { name: defaultSignatureBackend.name, verify: createPackedVerify() };
}
