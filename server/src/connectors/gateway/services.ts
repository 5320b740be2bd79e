// The services of a provider besides transfers, over the protocol: checks of accounts, rates, identity,
// account details for payments in, and messages to people.

import type { Static } from '@sinclair/typebox';
import { midRate, type RateTable, tableOfJson } from '../../catalog/currencies/rate-table.ts';
import { assertNever } from '../../kernel/assert-never.ts';
import { type Effects, iso, type Time } from '../../kernel/effects.ts';
import type {
  BeneficiaryVerificationPort,
  IdentityCase,
  IdentityVerdict,
  MailPort,
  NameCheck,
  RatePort,
} from '../ports/index.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import {
  AccountCheckResult,
  IdentityState,
  Instructions,
  PersonMessageResult,
  ReportedRates,
} from '../ports/providers/services.ts';
import { found, NOT_FOUND, type ProviderClient } from './client.ts';

const RATES_EVERY_MS = 30_000;
const RATES_RETRY_MS = 5_000;
const DEFAULT_VALIDITY_S = 3_600;
/** Tolerance for clock differences: rates of the future would remain the newest ones. */
const TOLERANCE_MS = 5 * 60_000;

/** Why reported rates cannot be used; undefined if they can. */
export function rateProblem(reported: ReportedRates, now: Time): string | undefined {
  const parsed = tableOfJson(JSON.stringify(reported), false);
  if ('problems' in parsed) return parsed.problems.join('; ');
  return Date.parse(reported.at) > now + TOLERANCE_MS ? 'at is in the future' : undefined;
}

function nameCheckOf(reply: Static<typeof AccountCheckResult>): NameCheck {
  switch (reply.result) {
    case 'matched':
      return { status: 'MATCHED', fullName: reply.fullName };
    case 'partly_matched':
      return { status: 'PARTIAL_MATCH', fullName: reply.fullName };
    case 'not_matched':
      return { status: 'NOT_MATCHED' };
    case 'unsupported':
      return { status: 'UNSUPPORTED' };
    case 'checked_at_execution':
      return { status: 'CHECKED_BY_RECEIVING_FI' };
    case 'pending':
      return { status: 'PENDING', checkAfterMs: reply.checkAfterSeconds * 1_000 };
    case 'invalid_account':
      return { status: 'INVALID_ACCOUNT' };
    default:
      return assertNever(reply, 'result of an account check');
  }
}

export const accountChecks = (client: ProviderClient): BeneficiaryVerificationPort => ({
  async verify(account, elapsedMs) {
    const body = { account, elapsedSeconds: Math.floor(elapsedMs / 1_000) };
    const path = '/accounts/check';
    return nameCheckOf(found(await client.call(path, body, AccountCheckResult), path));
  },
});

/** A reported state as a verdict. */
export function verdictOf(reported: Static<typeof IdentityState>): IdentityVerdict {
  if (reported.state !== 'review') return reported;
  const { checkAfterSeconds } = reported;
  return {
    state: 'review',
    ...(checkAfterSeconds === undefined ? {} : { checkAfterMs: checkAfterSeconds * 1_000 }),
  };
}

export function identityChecks(client: ProviderClient): ProviderPort['identity'] {
  const bodyOf = ({ id: caseId, ...submitted }: IdentityCase) => ({ caseId, ...submitted });
  const submit = async (submitted: IdentityCase) => {
    const path = '/identity/submit';
    return verdictOf(found(await client.call(path, bodyOf(submitted), IdentityState), path));
  };
  return {
    submit,
    async check(submitted) {
      const reply = await client.call('/identity/state', bodyOf(submitted), IdentityState);
      // It does not know the case: the service was moved to this provider after the submission.
      return reply === NOT_FOUND ? submit(submitted) : verdictOf(reply);
    },
  };
}

interface TimedTable extends RateTable {
  at: number;
  validUntil: number;
}

/** Null for rates that cannot be used. */
function tableOf(reported: ReportedRates, now: Time): TimedTable | null {
  const parsed = tableOfJson(JSON.stringify(reported), false);
  if ('problems' in parsed || rateProblem(reported, now) !== undefined) return null;
  const { at = 0 } = parsed.table;
  const validUntil = at + (reported.validForSeconds ?? DEFAULT_VALIDITY_S) * 1_000;
  return { ...parsed.table, at, validUntil };
}

/** Rates from the latest table: the one that a message reported, or the requested one. */
export function providerRates(
  client: ProviderClient,
  effects: Effects,
  reported: ReportedRates | null,
): RatePort {
  let latest = reported && tableOf(reported, effects.now());
  let requestAt = 0;
  let requesting: Promise<void> | undefined;

  async function request(): Promise<void> {
    requestAt = effects.now() + RATES_RETRY_MS;
    const reply = found(await client.call('/rates', {}, ReportedRates), '/rates');
    const table = tableOf(reply, effects.now());
    if (!table) throw new Error('the provider returned rates that cannot be used');
    if (!latest || table.at >= latest.at) latest = table;
    requestAt = effects.now() + RATES_EVERY_MS;
  }

  return {
    async rate(from, to) {
      if (effects.now() >= requestAt) {
        requesting ??= request().finally(() => {
          requesting = undefined;
        });
        // The earlier table is used while the provider does not respond.
        await requesting.catch((error: Error) => {
          if (!latest) throw error;
        });
      }
      if (!latest || effects.now() > latest.validUntil) return undefined;
      const rate = midRate(latest, from, to);
      return rate && { rate, at: latest.at };
    },
  };
}

export const fundingCalls = (client: ProviderClient): ProviderPort['funding'] => ({
  async request(account) {
    const path = '/funding/account';
    return found(await client.call(path, account, Instructions), path).instructions;
  },
  async forPayment({ amount, at: _, expiresAt, ...payment }) {
    const path = '/funding/payment';
    const body = { ...payment, amount: Number(amount), expiresAt: iso(expiresAt) };
    return found(await client.call(path, body, Instructions), path).instructions;
  },
});

export const messagePort = (client: ProviderClient, channel: 'email' | 'sms'): MailPort => ({
  async send({ id: messageId, ...message }) {
    const path = '/messages/send';
    const body = { messageId, channel, ...message };
    return found(await client.call(path, body, PersonMessageResult), path).result;
  },
});
