/** All signatures of a block as jobs for other threads, between parsing and `checkBlock`. */
import type { SignatureJob, SignatureVerdict } from "../crypto/signature-job.ts";
import type { TransactionContext } from "../transactions/context.ts";
import { signatureJob, verifyJob } from "../transactions/verify.ts";
import type { Block } from "./block.ts";
import { headerSignatureJob, verifyHeaderJob } from "./signature.ts";

/** A transaction whose result does not depend on its signature has the result in place of a job. */
type BlockJobs = { header: SignatureJob; transactions: (SignatureJob | boolean)[] };

type BlockVerdicts = { header: SignatureVerdict; transactions: boolean[] };

/** The jobs that remain after parsing without `checkSignature`. */
export const blockJobs = ({ header, transactions }: Block, context: TransactionContext): BlockJobs => ({
  header: headerSignatureJob(header, context.network),
  transactions: transactions.map((transaction) => signatureJob(transaction, context)),
});

export const verifyBlockJobs = ({ header, transactions }: BlockJobs): BlockVerdicts => ({
  header: verifyHeaderJob(header),
  transactions: transactions.map((job) => (typeof job === "boolean" ? job : verifyJob(job))),
});

/** The block with the results for its transactions; that for the header is an option of `checkBlock`. */
export const withVerdicts = <B extends Block>(block: B, verdicts: BlockVerdicts): B => ({
  ...block,
  transactions: block.transactions.map((transaction, index) => ({
    ...transaction,
    isVerified: verdicts.transactions[index] === true,
  })),
});
