// The scripted, stateless rail. The state of an instruction follows from its timeline and the time
// since it was sent. Restarts and repetitions therefore have no effect.

import { base58 } from '@scure/base';
import { networkOf, sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { OnChain, Progress, RailInstruction, RailPort } from '../../ports/index.ts';
import { bytesOf } from './account-details.ts';
import {
  QUOTE_OUTCOMES,
  REFUND_OUTCOMES,
  type Step,
  SUCCESS,
  type Timeline,
  TRANSFER_OUTCOMES,
} from './outcomes.ts';

// The simulated transaction of a payout to a wallet: a hash in the chain's format, derived from the
// payment ID.

const hexHash = (id: string) => bytesOf(id, 'transaction hash').toString('hex');

/** A Solana signature has 64 bytes. */
const solanaSignature = (id: string) =>
  base58.encode(Buffer.concat([bytesOf(id, 'transaction r'), bytesOf(id, 'transaction s')]));

const HASH_FUNCTIONS: Readonly<Record<string, (id: string) => string>> = {
  BITCOIN: hexHash,
  SPARK: hexHash,
  TRON: hexHash,
  SOLANA: solanaSignature,
  ETHEREUM: (id) => `0x${hexHash(id)}`,
  BASE: (id) => `0x${hexHash(id)}`,
  POLYGON: (id) => `0x${hexHash(id)}`,
  PLASMA: (id) => `0x${hexHash(id)}`,
};

/** Undefined unless the instruction is a payout over a network of the table. */
function onChainOf({ id, kind, account }: RailInstruction): OnChain | undefined {
  const network = kind === 'payout' ? networkOf(account) : undefined;
  const hash = network === undefined ? undefined : HASH_FUNCTIONS[network];
  return network !== undefined && hash ? { transactionHash: hash(id), network } : undefined;
}

/**
 * Suffix of a payer's identifier, which can be any text of the payer's bank. Empty for other
 * accounts.
 */
function payerSuffix({ accountType, accountIdentifier }: RailInstruction['account']): string {
  return accountType === 'ORIGINATOR' ? String(accountIdentifier ?? '').slice(-3) : '';
}

function timelineOf({ kind, origin, account }: RailInstruction): Timeline {
  if (kind === 'refund') return REFUND_OUTCOMES[payerSuffix(account)] ?? SUCCESS;
  const isQuotePayout = kind === 'payout' && origin === 'quote';
  return (isQuotePayout ? QUOTE_OUTCOMES : TRANSFER_OUTCOMES)[sandboxSuffixOf(account)] ?? SUCCESS;
}

function progressOf(step: Step, reference: string, checkAfterMs: number | undefined): Progress {
  switch (step.state) {
    case 'accepted':
      return { state: 'accepted', reference, checkAfterMs: checkAfterMs ?? 0 };
    case 'settled':
      return { state: 'settled', reference, checkAfterMs };
    case 'cancelled':
      return { state: 'cancelled' };
    case 'failed':
      return { state: 'failed', reason: step.reason, refundable: step.refundable };
    case 'returned':
      return { state: 'returned', reason: step.reason };
    default:
      return assertNever(step, 'step of an outcome');
  }
}

/** State of a timeline after `elapsedMs`, and the time until the next poll. */
export function progressOn(timeline: Timeline, reference: string, elapsedMs: number): Progress {
  const reachedSteps = timeline.filter((step) => step.afterMs <= elapsedMs);
  const step = reachedSteps.at(-1) ?? timeline[0];
  const nextStep = timeline[reachedSteps.length];
  return progressOf(step, reference, nextStep && nextStep.afterMs - elapsedMs);
}

/** State of the instruction after `elapsedMs`, and the time until the next poll. */
export function progressAt(instruction: RailInstruction, elapsedMs: number): Progress {
  const progress = progressOn(timelineOf(instruction), instruction.id, elapsedMs);
  if (progress.state !== 'settled') return progress;
  const onChain = onChainOf(instruction);
  return onChain ? { ...progress, onChain } : progress;
}

export const sandboxRail: RailPort = {
  supportsPayout: () => true,
  supportsDebit: (accountType, rail) =>
    accountType === 'USD_ACCOUNT' && (rail === null || rail === 'ACH'),
  send: async (instruction) => progressAt(instruction, 0),
  check: async (instruction, now: Time) => progressAt(instruction, now - instruction.sentAt),
  // Only accepted instructions can be canceled.
  cancel: async (instruction, now: Time) =>
    progressAt(instruction, now - instruction.sentAt).state === 'accepted'
      ? 'cancelled'
      : 'rejected',
};
