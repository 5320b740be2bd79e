// What waits for a signature. The first leg stores the exact text to sign, the request input and
// who may sign; the second leg is held against that row and against nothing that could be built anew. A
// request is answered once. The order in which a second leg is judged is part of the contract.
import { canonical } from '../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { type Code, Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { findWallet, openFor, sealFor, type Wallet, type WalletParts } from '../accounts/wallet.ts';
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
/** How long work that goes on may still be request for after its request ran out. */
const GRACE_MS = 60 * 60_000;
/** Requests of one wallet that wait for a signature at once; beyond it the oldest is dropped. */
const MAX_PENDING = 10;
const MAX_INVALID_SIGNATURES = 5;

/** A request as it came. */
export interface SignableRequest {
  operationId: string;
  /** The id in its path; empty where there is none. */
  resourceId: string;
  /** What both legs must say alike: path and body. */
  input: { params: unknown; body: unknown };
  headers: Readonly<Record<string, string | undefined>>;
}

/** What a first leg wants signed. */
export interface SignatureRequest {
  wallet: Wallet;
  /** Shown where the contract shows it. */
  type?: CredentialType;
  /** An activity, or a text that is made for the request. */
  payload: Activity | ((request: { id: string; expiresAt: Time }) => Promise<string>);
  /** What was found out and the second leg goes on with. */
  bound?: unknown;
  signer: Signer;
  /** Where it may not be signed for as long as usual. */
  until?: Time;
}

/** A second leg that was found good. */
export interface VerifiedRetry {
  wallet: Wallet;
  row: RequestRow;
  bound: unknown;
  /** Who signed; undefined where that was seen on an earlier try. */
  signed: VerifiedSigner | undefined;
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

/** An empty header is one that was not sent: some clients cannot leave one out. */
export const stampOf = (headers: SignableRequest['headers']): string | undefined =>
  headers[STAMP] || undefined;
export const requestIdOf = (headers: SignableRequest['headers']): string | undefined =>
  headers[REQUEST_ID] || undefined;

/** Whether a request has neither of the two headers: then it is a first leg. */
export const isUnsigned = (headers: SignableRequest['headers']): boolean =>
  stampOf(headers) === undefined && requestIdOf(headers) === undefined;

/** Waits for a device, and not for a signature of the wallet. */
const isForDevice = ({ by }: Signer) => by === 'nobody';

/**
 * Makes room for one more: what has run out is dropped, and the oldest of what is too much. Nothing else of
 * a wallet stays PENDING, so there are never many. `but` is being answered just now. Devices are request for
 * whoever comes to sign in, so what waits for them pushes out nothing: whoever asks is limited otherwise.
 */
async function dropExcessRequests(
  ctx: Ctx,
  accountId: string,
  signer: Signer,
  but: string | undefined,
): Promise<void> {
  const pending = await ctx.db.find(
    walletRequests,
    { account_id: accountId, status: 'PENDING' },
    { ...ALL_OF_ONE, orderBy: 'created_at' },
  );
  const others = pending.filter((row) => row.id !== but);
  const live = others.filter((row) => row.expires_at > ctx.now);
  const signable = live.filter((row) => !isForDevice(JSON.parse(row.signer)));
  const room = isForDevice(signer) ? MAX_PENDING : MAX_PENDING - 1;
  const dropped = new Set(signable.slice(0, -room));
  for (const row of others.filter((each) => !live.includes(each) || dropped.has(each))) {
    ctx.update(walletRequests, row, { status: requestStates.next(row.status, 'drop') });
  }
}

/** Stages a request to sign and shows it: the body of a 202. */
export async function issueChallenge(ctx: Ctx, request: SignableRequest, input: SignatureRequest) {
  const { wallet, type, payload, bound, signer, until = Infinity } = input;
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
    bound: sealFor(ctx, wallet, bound, contextOf(id, 'bound')),
    signer: JSON.stringify(signer),
    wrong: 0,
    polls: 0,
    expires_at: expiresAt,
    created_at: ctx.now,
  });
  const shown = { payloadToSign: text, requestId: id, expiresAt: iso(expiresAt) };
  return type === undefined ? shown : { type, ...shown };
}

const unauthorized = (reason: string) => new Fault('UNAUTHORIZED', reason);

/** A request of the calling platform that can still be answered; throws UNAUTHORIZED for every other. */
export async function activeRequest(
  ctx: Ctx,
  request: Pick<SignableRequest, 'operationId' | 'resourceId'>,
  id: string,
): Promise<{ row: RequestRow; wallet: Wallet }> {
  const row = isId(id, 'Request') ? await ctx.read(walletRequests, id) : undefined;
  const wallet = row && (await findWallet(ctx, row.account_id));
  if (!wallet || row.platform_id !== ctx.caller.platformId) {
    throw unauthorized('The Request-Id is not known.');
  }
  if (row.status === 'DONE') throw unauthorized('The Request-Id was used before.');
  const started = row.status === 'PROCESSING' || row.status === 'SETTLED';
  const isOver = ctx.now >= row.expires_at + (started ? GRACE_MS : 0);
  if (isOver) throw unauthorized('The Request-Id has expired.');
  if (row.status === 'DROPPED') {
    throw unauthorized('The Request-Id is good no longer: too much was request or wrongly signed.');
  }
  if (row.subject !== subjectOf(request)) {
    throw unauthorized('The Request-Id belongs to another request.');
  }
  return { row, wallet };
}

/** Whether the headers name a request that was made for the same thing, however it ended. */
export async function matchesKnownRequest(ctx: Ctx, request: SignableRequest): Promise<boolean> {
  const id = requestIdOf(request.headers);
  const row = id && isId(id, 'Request') ? await ctx.read(walletRequests, id) : undefined;
  return row?.platform_id === ctx.caller.platformId && row.subject === subjectOf(request);
}

/**
 * Does the work of a request that was live when it was read. Where it fails and a twin of the request was
 * answered meanwhile, that is the reason that is told.
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
    await activeRequest(ctx, request, id);
    throw error;
  }
}

/** What of a stored request only its own wallet's key opens. */
export const decryptColumn = <T>(
  ctx: Ctx,
  wallet: Wallet,
  row: RequestRow,
  column: 'payload' | 'input' | 'bound' | 'reply',
): T => openFor<T>(ctx, wallet, row[column], contextOf(row.id, column));

export const authorizationContext = (id: string) => `wallet_authorizations ${id} payload`;

/** Writes down for good what was signed. */
export function recordStamp(
  ctx: Ctx,
  wallet: Wallet,
  given: {
    operation: string;
    subject: string;
    stamp: string;
    payload: string;
    signed: VerifiedSigner;
  },
): void {
  const id = ctx.id('WalletAuthorization');
  const { operation, subject, stamp, payload, signed } = given;
  ctx.insert(walletAuthorizations, {
    id,
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.row.customer_id,
    operation,
    subject,
    session_id: signed.session?.id,
    public_key: signed.publicKey,
    stamp,
    payload: sealFor(ctx, wallet, payload, authorizationContext(id)),
    created_at: ctx.now,
  });
}

/** A wrong signature counts, so its refusal is committed; beyond a few the request is gone. */
function rejectSignature(ctx: Ctx, row: RequestRow, fault: Fault): { rejected: Fault } {
  const wrong = row.wrong + 1;
  const status =
    wrong >= MAX_INVALID_SIGNATURES ? requestStates.next(row.status, 'drop') : row.status;
  ctx.update(walletRequests, row, { wrong, status });
  return { rejected: fault };
}

const missing = (code: Code, what: string) => new Fault(code, `The ${what} header is missing.`);

/** The stamp that a header is, or that a script takes for one; throws where it cannot be read. */
export function readStamp(ctx: Ctx, parts: WalletParts, header: string): Stamp | 'scripted' {
  const script = parts.connectors(ctx.caller.environment).walletScript;
  const stamp = script?.stamp === header ? 'scripted' : parseStamp(header);
  if (stamp) return stamp;
  throw new Fault('WALLET_SIGNATURE_MALFORMED', 'The wallet signature cannot be read.');
}

/**
 * Judges a second leg, in the contract's order: which header is missing, whether the stamp can be read,
 * whether the request waits, whether it is the one that was request, and whether the right one signed it.
 */
export async function verifyRetry(
  ctx: Ctx,
  parts: WalletParts,
  request: SignableRequest,
): Promise<VerifiedRetry | { rejected: Fault }> {
  const [header, requestId] = [stampOf(request.headers), requestIdOf(request.headers)];
  if (header === undefined) throw missing('WALLET_SIGNATURE_MISSING', 'wallet signature');
  if (requestId === undefined) throw missing('REQUEST_ID_MISSING', 'Request-Id');
  const stamp = readStamp(ctx, parts, header);
  const { row, wallet } = await activeRequest(ctx, request, requestId);
  const signer = JSON.parse(row.signer) as Signer;
  if (signer.by === 'nobody') throw unauthorized('The Request-Id belongs to another request.');
  const input = decryptColumn<unknown>(ctx, wallet, row, 'input');
  if (canonical(input) !== canonical(request.input)) {
    const reason = 'The request differs from the one that the signature was request for.';
    throw new Fault('WALLET_SIGNATURE_BODY_MISMATCH', reason);
  }
  const bound = decryptColumn<unknown>(ctx, wallet, row, 'bound');
  if (row.status !== 'PENDING') {
    if (row.stamp_hash !== sha256Hex(header)) {
      throw unauthorized('The Request-Id was used before, with another signature.');
    }
    return { wallet, row, bound, signed: undefined };
  }
  const payload = decryptColumn<string>(ctx, wallet, row, 'payload');
  const signed = await verifySigner(ctx, parts, { stamp, signer, payload });
  if (signed instanceof Fault) return rejectSignature(ctx, row, signed);
  recordStamp(ctx, wallet, {
    operation: request.operationId,
    subject: request.resourceId || row.id,
    stamp: header,
    payload,
    signed,
  });
  return { wallet, row, bound, signed };
}

/**
 * Stages that a request was answered, and cannot be again. Neither its answer is kept nor what it went on
 * with, which may be what a new key signs with.
 */
export const markDelivered = (ctx: Ctx, row: RequestRow): RequestRow =>
  ctx.update(walletRequests, row, {
    status: requestStates.next(row.status, 'deliver'),
    reply: null,
    bound: '',
  });

/** Stages that a good signature came and that the work goes on for `polls` more answers. */
export const markAccepted = (ctx: Ctx, row: RequestRow, stamp: string, polls: number): RequestRow =>
  ctx.update(walletRequests, row, {
    status: requestStates.next(row.status, 'accept'),
    stamp_hash: sha256Hex(stamp),
    polls,
  });

export const countPoll = (ctx: Ctx, row: RequestRow): RequestRow =>
  ctx.update(walletRequests, row, { polls: row.polls - 1 });

/** Stages the answer of work that was done without being request again. */
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
