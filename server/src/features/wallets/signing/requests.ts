// A signature request stores the exact payload, the input and the permitted signers of the first
// request. The signed retry is verified against the stored row only. A result is delivered once.
// The order of the checks of a retry is part of the contract.
import { canonical } from '../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { type Code, Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { findWallet, openFor, sealFor, type Wallet, type WalletDeps } from '../accounts/wallet.ts';
import { requestStates } from '../states.ts';
import {
  type CredentialType,
  type RequestRow,
  type Signer,
  walletAuthorizations,
  walletRequests,
} from '../store.ts';
import { type Activity, activityText } from './payload.ts';
import { type VerifiedSigner, verifySigner } from './signer.ts';
import { parseStamp, type Stamp } from './stamp.ts';

const TTL_MS = 5 * 60_000;
/**
 * Period after the expiry of the request in which the result of started processing can be fetched.
 */
const GRACE_MS = 60 * 60_000;
/** Pending signature requests per wallet. Beyond this number the oldest is dropped. */
const MAX_PENDING = 10;
const MAX_INVALID_SIGNATURES = 5;

/** A request to sign, as received. */
export interface SignableRequest {
  operationId: string;
  /** ID in the path, or empty if the path has no ID. */
  resourceId: string;
  /** Path and body, which must be identical in the retry. */
  input: { params: unknown; body: unknown };
  headers: Readonly<Record<string, string | undefined>>;
}

/** Signature that the first request requires. */
export interface SignatureRequest {
  wallet: Wallet;
  /** Credential type, for contracts that return it. */
  type?: CredentialType;
  /** An activity, or a function that creates the text. */
  payload: Activity | ((request: { id: string; expiresAt: Time }) => Promise<string>);
  /** Data for the retry. */
  boundData?: unknown;
  signer: Signer;
  /** Latest expiry. */
  until?: Time;
}

/** A signed retry with a valid signature. */
export interface VerifiedRetry {
  wallet: Wallet;
  row: RequestRow;
  boundData: unknown;
  /** The signer, or undefined if the signature was verified in an earlier retry. */
  verifiedSigner: VerifiedSigner | undefined;
}

const contextOf = (id: string, column: 'payload' | 'input' | 'bound' | 'reply') =>
  `wallet_requests ${id} ${column}`;

const subjectOf = ({
  operationId,
  resourceId,
}: Pick<SignableRequest, 'operationId' | 'resourceId'>) =>
  resourceId ? `${operationId} ${resourceId}` : operationId;

const STAMP = 'service-wallet-signature';
const REQUEST_ID = 'request-id';

/** An empty header counts as absent, because some clients cannot omit it. */
export const stampOf = (headers: SignableRequest['headers']): string | undefined =>
  headers[STAMP] || undefined;
export const requestIdOf = (headers: SignableRequest['headers']): string | undefined =>
  headers[REQUEST_ID] || undefined;

/** Whether a request has no signature headers, as a first request. */
export const isUnsigned = (headers: SignableRequest['headers']): boolean =>
  stampOf(headers) === undefined && requestIdOf(headers) === undefined;

/** Whether the request awaits a passkey assertion of a device. */
const isForDevice = ({ by }: Signer) => by === 'nobody';

/**
 * Drops expired requests, and the oldest requests beyond the limit, before a new request is stored.
 * `currentId` is the ID of the request of this retry. Passkey challenges can be requested without
 * signing in. They are rate-limited and never displace signature requests.
 */
async function dropExcessRequests(
  ctx: Ctx,
  accountId: string,
  signer: Signer,
  currentId: string | undefined,
): Promise<void> {
  const pendingWalletRequests = await ctx.db.find(
    walletRequests,
    { account_id: accountId, status: 'PENDING' },
    { ...UNPAGED, orderBy: 'created_at' },
  );
  const otherRequests = pendingWalletRequests.filter((row) => row.id !== currentId);
  const unexpiredRequests = otherRequests.filter((row) => row.expires_at > ctx.now);
  const signatureRequests = unexpiredRequests.filter((row) => !isForDevice(JSON.parse(row.signer)));
  const maxPending = isForDevice(signer) ? MAX_PENDING : MAX_PENDING - 1;
  const excessRequests = new Set(signatureRequests.slice(0, -maxPending));
  for (const row of otherRequests.filter(
    (each) => !unexpiredRequests.includes(each) || excessRequests.has(each),
  )) {
    ctx.update(walletRequests, row, { status: requestStates.next(row.status, 'drop') });
  }
}

/** Stages a signature request and returns the body of the 202. */
export async function issueChallenge(ctx: Ctx, request: SignableRequest, input: SignatureRequest) {
  const { wallet, type, payload, boundData, signer, until = Infinity } = input;
  const id = ctx.id('Request');
  const expiresAt = Math.min(ctx.now + TTL_MS, until);
  const text =
    typeof payload === 'function'
      ? await payload({ id, expiresAt })
      : activityText(wallet.row, payload, { requestId: id, now: ctx.now });
  await dropExcessRequests(ctx, wallet.row.id, signer, requestIdOf(request.headers));
  ctx.insert(walletRequests, {
    id,
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.row.customer_id,
    subject: subjectOf(request),
    status: 'PENDING',
    payload: sealFor(ctx, wallet, text, contextOf(id, 'payload')),
    input: sealFor(ctx, wallet, request.input, contextOf(id, 'input')),
    bound: sealFor(ctx, wallet, boundData, contextOf(id, 'bound')),
    signer: JSON.stringify(signer),
    wrong: 0,
    polls: 0,
    expires_at: expiresAt,
    created_at: ctx.now,
  });
  const body = { payloadToSign: text, requestId: id, expiresAt: iso(expiresAt) };
  return type === undefined ? body : { type, ...body };
}

const unauthorizedFault = (reason: string) => new Fault('UNAUTHORIZED', reason);

/** An open request of the calling platform. Throws UNAUTHORIZED for any other ID. */
export async function findActiveRequest(
  ctx: Ctx,
  request: Pick<SignableRequest, 'operationId' | 'resourceId'>,
  id: string,
): Promise<{ row: RequestRow; wallet: Wallet }> {
  const row = isId(id, 'Request') ? await ctx.read(walletRequests, id) : undefined;
  const wallet = row && (await findWallet(ctx, row.account_id));
  if (!wallet || row.platform_id !== ctx.caller.platformId) {
    throw unauthorizedFault('The Request-Id is unknown. Use the requestId of the first reply.');
  }
  if (row.status === 'DONE')
    throw unauthorizedFault(
      'The Request-Id was already used. Send the first request again to repeat the operation.',
    );
  const isStarted = row.status === 'PROCESSING' || row.status === 'SETTLED';
  const isExpired = ctx.now >= row.expires_at + (isStarted ? GRACE_MS : 0);
  if (isExpired)
    throw unauthorizedFault('The Request-Id has expired. Send the first request again.');
  if (row.status === 'DROPPED') {
    throw unauthorizedFault(
      'The Request-Id is invalid after too many newer requests or invalid signatures. Send the ' +
        'first request again.',
    );
  }
  if (row.subject !== subjectOf(request)) {
    throw unauthorizedFault('The Request-Id belongs to another request.');
  }
  return { row, wallet };
}

/** Whether `Request-Id` identifies a request for the same operation and resource, in any status. */
export async function matchesKnownRequest(ctx: Ctx, request: SignableRequest): Promise<boolean> {
  const id = requestIdOf(request.headers);
  const row = id && isId(id, 'Request') ? await ctx.read(walletRequests, id) : undefined;
  return row?.platform_id === ctx.caller.platformId && row.subject === subjectOf(request);
}

/**
 * Runs `work` for an open request. If it fails because a concurrent retry has completed the
 * request, the status of the request is reported instead.
 */
export async function recheckOnFailure<T>(
  ctx: Ctx,
  request: Pick<SignableRequest, 'operationId' | 'resourceId'>,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await findActiveRequest(ctx, request, id);
    throw error;
  }
}

/** Decrypts a column of a request. */
export const decryptColumn = <T>(
  ctx: Ctx,
  wallet: Wallet,
  row: RequestRow,
  column: 'payload' | 'input' | 'bound' | 'reply',
): T => openFor<T>(ctx, wallet, row[column], contextOf(row.id, column));

export const authorizationContext = (id: string) => `wallet_authorizations ${id} payload`;

/** Records an accepted signature permanently. */
export function recordStamp(
  ctx: Ctx,
  wallet: Wallet,
  signature: {
    operation: string;
    subject: string;
    stamp: string;
    payload: string;
    verifiedSigner: VerifiedSigner;
  },
): void {
  const id = ctx.id('WalletAuthorization');
  const { operation, subject, stamp, payload, verifiedSigner } = signature;
  ctx.insert(walletAuthorizations, {
    id,
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.row.customer_id,
    operation,
    subject,
    session_id: verifiedSigner.session?.id,
    public_key: verifiedSigner.publicKey,
    stamp,
    payload: sealFor(ctx, wallet, payload, authorizationContext(id)),
    created_at: ctx.now,
  });
}

/**
 * Stages a failed attempt, which must be committed. After five failed attempts the request is
 * dropped.
 */
function rejectSignature(ctx: Ctx, row: RequestRow, fault: Fault): { rejected: Fault } {
  const wrongCount = row.wrong + 1;
  const status =
    wrongCount >= MAX_INVALID_SIGNATURES ? requestStates.next(row.status, 'drop') : row.status;
  ctx.update(walletRequests, row, { wrong: wrongCount, status });
  return { rejected: fault };
}

const missingHeaderFault = (code: Code, header: string) =>
  new Fault(code, `The ${header} header is missing.`);

/** Parses a stamp or recognizes the scripted one. Throws WALLET_SIGNATURE_MALFORMED. */
export function readStamp(ctx: Ctx, deps: WalletDeps, header: string): Stamp | 'scripted' {
  const script = deps.connectors(ctx.caller.environment).walletScript;
  const stamp = script?.stamp === header ? 'scripted' : parseStamp(header);
  if (stamp) return stamp;
  throw new Fault('WALLET_SIGNATURE_MALFORMED', 'The wallet signature is malformed.');
}

/**
 * Verifies a signed retry in the order of the contract: headers, form of the stamp, status of the
 * request, identical input, and the signature.
 */
export async function verifyRetry(
  ctx: Ctx,
  deps: WalletDeps,
  request: SignableRequest,
): Promise<VerifiedRetry | { rejected: Fault }> {
  const [header, requestId] = [stampOf(request.headers), requestIdOf(request.headers)];
  if (header === undefined)
    throw missingHeaderFault('WALLET_SIGNATURE_MISSING', 'wallet signature');
  if (requestId === undefined) throw missingHeaderFault('REQUEST_ID_MISSING', 'Request-Id');
  const stamp = readStamp(ctx, deps, header);
  const { row, wallet } = await findActiveRequest(ctx, request, requestId);
  const signer = JSON.parse(row.signer) as Signer;
  if (signer.by === 'nobody') throw unauthorizedFault('The Request-Id belongs to another request.');
  const input = decryptColumn<unknown>(ctx, wallet, row, 'input');
  if (canonical(input) !== canonical(request.input)) {
    const reason = 'The request differs from the request for which the signature was requested.';
    throw new Fault('WALLET_SIGNATURE_BODY_MISMATCH', reason);
  }
  const boundData = decryptColumn<unknown>(ctx, wallet, row, 'bound');
  if (row.status !== 'PENDING') {
    if (row.stamp_hash !== sha256Hex(header)) {
      throw unauthorizedFault('The Request-Id was already used with another signature.');
    }
    return { wallet, row, boundData, verifiedSigner: undefined };
  }
  const payload = decryptColumn<string>(ctx, wallet, row, 'payload');
  const verifiedSigner = await verifySigner(ctx, deps, { stamp, signer, payload });
  if (verifiedSigner instanceof Fault) return rejectSignature(ctx, row, verifiedSigner);
  recordStamp(ctx, wallet, {
    operation: request.operationId,
    subject: request.resourceId || row.id,
    stamp: header,
    payload,
    verifiedSigner,
  });
  return { wallet, row, boundData, verifiedSigner };
}

/**
 * Stages the one-time delivery of the result. Reply and bound data are deleted, because they can
 * contain key material.
 */
export const markDelivered = (ctx: Ctx, row: RequestRow): RequestRow =>
  ctx.update(walletRequests, row, {
    status: requestStates.next(row.status, 'deliver'),
    reply: null,
    bound: '',
  });

/** Stages a valid signature, with `polls` PROCESSING replies to follow. */
export const markAccepted = (ctx: Ctx, row: RequestRow, stamp: string, polls: number): RequestRow =>
  ctx.update(walletRequests, row, {
    status: requestStates.next(row.status, 'accept'),
    stamp_hash: sha256Hex(stamp),
    polls,
  });

export const countPoll = (ctx: Ctx, row: RequestRow): RequestRow =>
  ctx.update(walletRequests, row, { polls: row.polls - 1 });

/** Stages the reply of work that finished in the background. */
export const markSettled = (
  ctx: Ctx,
  wallet: Wallet,
  row: RequestRow,
  reply: unknown,
): RequestRow =>
  ctx.update(walletRequests, row, {
    status: requestStates.next(row.status, 'settle'),
    reply: sealFor(ctx, wallet, reply, contextOf(row.id, 'reply')),
  });
