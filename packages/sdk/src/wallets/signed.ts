// Signed retries: an operation that needs the consent of the wallet's owner returns a payload. The
// client signs it with a session and repeats the request unchanged.
import { pause } from '../http/retry.ts';
import { stamp, type WalletKeys } from './keys.ts';

/** The reply that requests a signature. */
export interface SignatureChallenge {
  readonly payloadToSign: string;
  readonly requestId: string;
}

/** Options of the repeated call for the SDK, or the content of two headers. */
export interface Signature {
  /** `Service-Wallet-Signature`. */
  readonly walletSignature?: string;
  /** `Request-Id`. */
  readonly requestId?: string;
}

/** The reply while the operation is in progress. */
interface Processing {
  readonly status: 'PROCESSING';
  readonly message?: string;
}

/** The final reply: without signature requests and progress. */
export type Signed<Data> = Exclude<Data, SignatureChallenge | Processing>;

/** Data of the signed request, and the payload that was signed. */
export interface SignedResult<Data> {
  readonly data: Signed<Data>;
  /** The signed payload, or undefined if no signature was required. */
  readonly payloadToSign: string | undefined;
}

/** Options of a signed operation. */
export interface SignedOptions {
  /** Stops the wait for the result. */
  readonly signal?: AbortSignal;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

export const isChallenge = (data: unknown): data is SignatureChallenge =>
  typeof data === 'object' && data !== null && 'payloadToSign' in data && 'requestId' in data;

/** Resources have an ID and can also have the status PROCESSING. The progress reply has no ID. */
const isProcessing = (data: unknown): data is Processing =>
  typeof data === 'object' &&
  data !== null &&
  !('id' in data) &&
  (data as { status?: unknown }).status === 'PROCESSING';

/** Repeats a call until its reply is no longer `PROCESSING`. */
export async function untilDone<Data>(
  call: () => Promise<Data>,
  { signal }: SignedOptions = {},
): Promise<Exclude<Data, Processing>> {
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    const data = await call();
    if (!isProcessing(data)) return data as Exclude<Data, Processing>;
    await pause(delay, signal);
  }
}

/**
 * Performs a signed operation in one call: requests the payload, signs it and repeats the request until it
 * completes.
 *
 * `await signed(keys, (options) => client.walletAuth.revokeAuthSession({ id }, options))`
 */
export async function signed<Data>(
  keys: WalletKeys,
  call: (signature: Signature) => Promise<Data>,
  options: SignedOptions = {},
): Promise<SignedResult<Data>> {
  const firstReply = await untilDone(() => call({}), options);
  if (!isChallenge(firstReply))
    return { data: firstReply as Signed<Data>, payloadToSign: undefined };
  const { payloadToSign, requestId } = firstReply;
  const signature = { walletSignature: await stamp(keys, payloadToSign), requestId };
  const data = await untilDone(() => call(signature), options);
  return { data: data as Signed<Data>, payloadToSign };
}
