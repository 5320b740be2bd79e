// Receives a message of a provider: verifies its signature, applies it once, and stores it with its
// result. A message that is malformed or contradicts the recorded state is not applied. It is stored
// encrypted for operators.

import { createHash } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type { ProviderProtocol } from '../../../connectors/ports/providers/port.ts';
import {
  type MESSAGE_RESULTS,
  Message,
  type MessageResult,
  type StatementPage,
} from '../../../connectors/ports/providers/protocol.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { fieldErrors } from '../../../kernel/contract/validate.ts';
import { type SignableRequest, verifyRequest } from '../../../kernel/crypto/http-signatures.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate } from '../../../runtime/operation/operate.ts';
import { applyReportedDecision } from '../../customers/verifications/index.ts';
import {
  type Provider,
  type ProviderDirectory,
  providerManagement,
  providerOfService,
  providerOfTransfer,
} from '../../providers/index.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { applyReportedRecall } from '../recalls/index.ts';
import type { CardSubject } from './card-network.ts';
import {
  applyCardMessage,
  type CardMessage,
  type CardMessageDeps,
  type CardResult,
  isCardMessage,
} from './cards.ts';
import { applyDepositMessage, applyDepositReturn } from './deposits.ts';
import { bodyContext, type ProviderMessageRow, providerMessages } from './store.ts';
import { applyTransferMessage, type Outcome } from './transfers.ts';

export interface ReceiverDeps extends CardMessageDeps {
  directory: ProviderDirectory;
  protocol: Pick<ProviderProtocol, 'progressOf' | 'recallProgressOf' | 'verdictOf' | 'rateProblem'>;
  /** Applies the state of a mint or burn. Provided by the stablecoins feature. */
  stablecoinOrders(providerId: string, message: StablecoinMessage): Promise<Outcome>;
  /** Stores a page of a statement. Provided by the reconciliation feature. */
  statements(providerId: string, page: StatementPage): Promise<Pick<Outcome, 'result' | 'problem'>>;
  /** Logs a problem for operators, without personal data. */
  reportProblem(problem: string): void;
}

type Result = (typeof MESSAGE_RESULTS)[number];

export type StablecoinMessage = Extract<Message, { type: 'stablecoin.order' }>;

/** Errors caused by the content of a message, so that a retry cannot succeed. */
const FINAL_ERRORS = ['NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'REFERENCE_NOT_FOUND', 'INVALID_CURRENCY'];

/** Rejections of card messages: an impossible entry, or an ID that belongs to another object. */
const FINAL_CARD_ERRORS = ['NOT_FOUND', 'TRANSACTION_NOT_FOUND', 'CONFLICT', 'INVALID_INPUT'];

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Throws NOT_FOUND for an unknown provider, and UNAUTHORIZED for an invalid signature. */
export async function authenticateProvider(
  { runtime, directory }: ReceiverDeps,
  providerId: string,
  request: SignableRequest,
): Promise<Provider> {
  const provider = directory.current().providers.get(providerId);
  if (!provider) throw new Fault('NOT_FOUND', 'Provider not found.');
  const now = runtime.effects.now();
  try {
    await verifyRequest(request, provider.publicKeys(now), now);
  } catch (error) {
    throw new Fault('UNAUTHORIZED', (error as Error).message);
  }
  return provider;
}

/** Applies a decision of the provider that serves identity checks in its environment. */
async function applyIdentityMessage(
  { runtime, directory, protocol }: ReceiverDeps,
  { id, environment }: Provider['row'],
  { caseId, decision }: Extract<Message, { type: 'identity.decided' }>,
): Promise<Outcome> {
  if (providerOfService(directory, environment, 'identity', true)?.row.id !== id) {
    throw new Fault('NOT_FOUND', 'The identity checks are not routed to this provider.');
  }
  return applyReportedDecision(runtime, environment, caseId, protocol.verdictOf(decision));
}

async function apply(
  deps: ReceiverDeps,
  { row }: Provider,
  message: Exclude<Message, CardMessage>,
): Promise<Outcome> {
  const { runtime, protocol } = deps;
  const reportedBy = { providerId: row.id, environment: row.environment };
  switch (message.type) {
    case 'transfer.updated':
      return applyTransferMessage(runtime, row.id, message, protocol.progressOf(message.transfer));
    case 'transfer.recall': {
      const progress = protocol.recallProgressOf(message.recall);
      return applyReportedRecall(runtime, row.id, message.transferId, progress);
    }
    case 'deposit.received':
      return applyDepositMessage(runtime, reportedBy, message);
    case 'deposit.returned':
      return applyDepositReturn(runtime, reportedBy, message);
    case 'identity.decided':
      return applyIdentityMessage(deps, row, message);
    case 'rates.updated':
      return {
        result: (await providerManagement.recordRates(deps, row.id, message.rates))
          ? 'APPLIED'
          : 'IGNORED',
      };
    case 'statement.day':
      return deps.statements(row.id, message.statement);
    case 'stablecoin.order':
      return deps.stablecoinOrders(row.id, message);
    default:
      return assertNever(message, 'type of a message');
  }
}

type StoredMessage = Pick<ProviderMessageRow, 'result'> &
  Partial<Pick<ProviderMessageRow, 'platform_id' | 'transaction_id' | 'problem' | 'type'>>;

/** Stages a message, with its body if it was rejected or contradictory. */
function stageStored(
  ctx: Ctx,
  { row }: Provider,
  id: string,
  body: string,
  storedRow: StoredMessage,
): void {
  const hasBody = storedRow.result === 'REJECTED' || storedRow.result === 'CONTRADICTORY';
  const rowId = `${row.id}/${id}`;
  ctx.insert(providerMessages, {
    id: rowId,
    provider_id: row.id,
    digest: sha256(body),
    ...storedRow,
    body: hasBody ? ctx.vault.sealOwn(body, bodyContext(rowId)) : null,
    created_at: ctx.effects.now(),
  });
}

/** Stores a message. Returns false if the message is already stored. */
async function store(
  { runtime }: ReceiverDeps,
  provider: Provider,
  id: string,
  body: string,
  storedRow: StoredMessage,
): Promise<boolean> {
  try {
    await operate(runtime, systemCaller('', provider.row.environment), async (ctx) =>
      stageStored(ctx, provider, id, body, storedRow),
    );
    return true;
  } catch (error) {
    if (isKeyTaken(error)) return false;
    throw error;
  }
}

/** The message, or a fault with every invalid field. */
function messageOf(
  { runtime, protocol }: ReceiverDeps,
  value: unknown,
): { message: Message } | { fault: Fault } {
  const errors = fieldErrors(Message, value, 'body');
  if (errors.length > 0) return { fault: invalid(errors) };
  const message = value as Message;
  if (message.type === 'rates.updated') {
    const problem = protocol.rateProblem(message.rates, runtime.effects.now());
    if (problem === undefined) return { message };
    return { fault: invalid([{ field: 'rates', message: problem }]) };
  }
  if (message.type !== 'deposit.received') return { message };
  const targets = [message.accountId, message.paymentReference].filter(Boolean);
  if (targets.length === 1) return { message };
  const field = {
    field: 'accountId',
    message: 'is required if paymentReference is absent, and must be absent otherwise',
  };
  return { fault: invalid([field]) };
}

/** The payment of an invalid message, so that the message is erased with the customer. */
async function subjectOfInvalid({ runtime }: ReceiverDeps, providerId: string, value: unknown) {
  const { transferId } = (value ?? {}) as { transferId?: unknown };
  if (typeof transferId !== 'string') return {};
  const isOwn = (await providerOfTransfer(runtime, transferId)) === providerId;
  return isOwn ? { transaction_id: transferId.split('/')[0] ?? null } : {};
}

/**
 * Result of a message that was received before. Throws CONFLICT if its body differs, or if it was
 * contradictory.
 */
function repeatedResult(storedRow: ProviderMessageRow, body: string): Result {
  if (storedRow.digest !== sha256(body)) {
    throw new Fault(
      'CONFLICT',
      'Another message with this ID was already received. Use a new ID for each message.',
    );
  }
  if (storedRow.result === 'APPLIED' || storedRow.result === 'IGNORED') return 'DUPLICATE';
  throw new Fault('CONFLICT', storedRow.problem ?? 'The message was already rejected.');
}

/** A result, and the response to an authorization. */
type Reply = Static<typeof MessageResult>;

const replyOf = (result: Result, { authorization }: Pick<CardResult, 'authorization'>): Reply =>
  authorization === undefined ? { result } : { result, authorization };

/** Stores a message that contradicts the recorded state, and throws CONFLICT. */
async function rejectContradiction(
  deps: ReceiverDeps,
  provider: Provider,
  { id, type }: Message,
  body: string,
  { problem = 'The message contradicts the recorded state.', ...subject }: Partial<Outcome>,
): Promise<never> {
  const { platformId = null, transactionId = null } = subject;
  const ids = { platform_id: platformId, transaction_id: transactionId };
  const storedResult = { result: 'CONTRADICTORY', type, problem, ...ids } as const;
  if (await store(deps, provider, id, body, storedResult)) {
    const { id: providerId } = provider.row;
    deps.reportProblem(`a message of the provider ${providerId} contradicts the recorded state`);
  }
  throw new Fault('CONFLICT', problem);
}

async function receiveNonCardMessage(
  deps: ReceiverDeps,
  provider: Provider,
  message: Exclude<Message, CardMessage>,
  body: string,
): Promise<Reply> {
  const outcome = await apply(deps, provider, message).catch((error: unknown) => {
    if (!(error instanceof Fault) || !FINAL_ERRORS.includes(error.code)) throw error;
    return { result: 'CONTRADICTORY' as const, problem: error.message };
  });
  if (outcome.result === 'CONTRADICTORY') {
    return rejectContradiction(deps, provider, message, body, outcome);
  }
  const { result } = outcome;
  await store(deps, provider, message.id, body, {
    result,
    type: message.type,
    platform_id: outcome.platformId ?? null,
    transaction_id: outcome.transactionId ?? null,
    problem: outcome.problem ?? null,
  });
  return { result };
}

/** A card message is stored in the change set of its effect. */
async function receiveCard(
  deps: ReceiverDeps,
  provider: Provider,
  message: CardMessage,
  body: string,
): Promise<Reply> {
  const storedMessageOf = (
    result: 'APPLIED' | 'IGNORED',
    { platformId, transactionId }: CardSubject,
  ): StoredMessage => ({
    ...{ result, type: message.type },
    ...{ platform_id: platformId, transaction_id: transactionId },
  });
  try {
    const outcome = await applyCardMessage(deps, provider, message, (ctx, subject) =>
      stageStored(ctx, provider, message.id, body, storedMessageOf('APPLIED', subject)),
    );
    if (outcome.isNew) return replyOf('APPLIED', outcome);
    const ignoredMessage = storedMessageOf('IGNORED', outcome);
    if (await store(deps, provider, message.id, body, ignoredMessage))
      return replyOf('IGNORED', outcome);
    const earlierMessage = await deps.runtime.db.read(
      providerMessages,
      `${provider.row.id}/${message.id}`,
    );
    return replyOf(earlierMessage ? repeatedResult(earlierMessage, body) : 'DUPLICATE', outcome);
  } catch (error) {
    if (!(error instanceof Fault) || !FINAL_CARD_ERRORS.includes(error.code)) throw error;
    const { message: problem } = error;
    return rejectContradiction(deps, provider, message, body, { problem });
  }
}

/**
 * Result of a message that was received before, with the recorded decision about an authorization.
 * Throws CONFLICT if its body differs, or if it was contradictory.
 */
async function receiveRepetition(
  deps: ReceiverDeps,
  provider: Provider,
  message: Message,
  body: string,
  earlierMessage: ProviderMessageRow,
): Promise<Reply> {
  const result = repeatedResult(earlierMessage, body);
  if (message.type !== 'card.authorization') return { result };
  return replyOf(result, await applyCardMessage(deps, provider, message, () => undefined));
}

/**
 * Applies the message of an authenticated provider. Throws INVALID_INPUT with every invalid field, and
 * CONFLICT for a message that contradicts the recorded state. These two errors are final. After any other
 * error the provider sends the message again.
 */
export async function receiveMessage(
  deps: ReceiverDeps,
  provider: Provider,
  body: string,
  value: unknown,
): Promise<Reply> {
  const parsedMessage = messageOf(deps, value);
  if ('fault' in parsedMessage) {
    // The message is identified by its digest, because its ID may be missing.
    const problem = parsedMessage.fault.message;
    const subject = await subjectOfInvalid(deps, provider.row.id, value);
    const storedResult = { result: 'REJECTED', problem, ...subject } as const;
    await store(deps, provider, `sha256:${sha256(body)}`, body, storedResult);
    throw parsedMessage.fault;
  }
  const { message } = parsedMessage;
  const id = `${provider.row.id}/${message.id}`;
  const earlierMessage = await deps.runtime.db.read(providerMessages, id);
  if (earlierMessage) return receiveRepetition(deps, provider, message, body, earlierMessage);
  return isCardMessage(message)
    ? receiveCard(deps, provider, message, body)
    : receiveNonCardMessage(deps, provider, message, body);
}
