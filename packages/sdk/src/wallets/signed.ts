// Signed retries: an operation that needs the consent of the wallet's owner is answered with a payload,
// and is repeated unchanged with the payload signed by a session.
import { pause } from '../http/retry.ts';
import { stamp, type WalletKeys } from './keys.ts';

/** The reply that asks for a signature. */
export interface SignatureChallenge {
  readonly payloadToSign: string;
  readonly requestId: string;
}

/** Options of the repeated call: those of a client, or the content of two headers. */
export interface Signature {
  /** `Service-Wallet-Signature`. */
  readonly walletSignature?: string;
  /** `Request-Id`. */
  readonly requestId?: string;
}

/** A reply that says that the operation is in progress. */
interface Processing {
  readonly status: 'PROCESSING';
  readonly message?: string;
}

/** What is left of a reply once it was signed and has ended. */
export type Signed<Data> = Exclude<Data, SignatureChallenge | Processing>;

export interface SignedResult<Data> {
  readonly data: Signed<Data>;
  /** What was signed; undefined if the operation asked for no signature. */
  readonly payloadToSign: string | undefined;
}

export interface SignedOptions {
  readonly signal?: AbortSignal;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

export const isChallenge = (data: unknown): data is SignatureChallenge =>
  typeof data === 'object' && data !== null && 'payloadToSign' in data && 'requestId' in data;

/** A resource has an id; only the state of an operation in progress has none. */
const isProcessing = (data: unknown): data is Processing =>
  typeof data === 'object' &&
  data !== null &&
  !('id' in data) &&
  (data as { status?: unknown }).status === 'PROCESSING';

/** Repeats a call that was answered with `PROCESSING` until the operation has ended. */
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
 * has ended.
 *
 * `await signed(keys, (options) => client.walletAuth.revokeAuthSession({ id }, options))`
 */
export async function signed<Data>(
  keys: WalletKeys,
  call: (signature: Signature) => Promise<Data>,
  options: SignedOptions = {},
): Promise<SignedResult<Data>> {
  const first = await untilDone(() => call({}), options);
  if (!isChallenge(first)) return { data: first as Signed<Data>, payloadToSign: undefined };
  const { payloadToSign, requestId } = first;
  const signature = { walletSignature: await stamp(keys, payloadToSign), requestId };
  const data = await untilDone(() => call(signature), options);
  return { data: data as Signed<Data>, payloadToSign };
}
