// Trust in an account that is paid to: the customer binding that it means this account and this direction, and
// from then on payments to it are not asked about one by one. It is no payment itself, so it needs no login,
// and a proof of one is none of the other: challenges are found by what they are about.
import type { Static } from '@sinclair/typebox';
import { shortenedIdentifier } from '../../../../catalog/accounts/account-info.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { invalidField } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { handle } from '../../../../runtime/operation/handle.ts';
import {
  type ExternalAccountRow,
  externalAccountOf,
  requireExternalAccount,
  setTrusted,
} from '../../../payees/external-accounts/index.ts';
import { checkLock } from '../../lockout/index.ts';
import {
  type About,
  openChallenge,
  pendingChallenge,
  presentChallenge,
  prove,
  type Who,
} from '../challenges.ts';
import { type ScaParts, scaCustomer } from '../parts.ts';
import {
  confirmBeneficiaryTrust,
  confirmBeneficiaryUntrust,
  startBeneficiaryTrust,
  startBeneficiaryUntrust,
} from './trust-contract.ts';

type Direction = 'TRUST' | 'UNTRUST';
type ConfirmRequest = Static<(typeof confirmBeneficiaryTrust)['body']>;

const aboutOf = (kind: Direction, { id, customer_id }: ExternalAccountRow): About => ({
  kind,
  subject: id,
  // An account's details never change, so that its id stands for them.
  binding: canonical([kind, customer_id, id]),
});

const WORDS: Readonly<Record<Direction, string>> = {
  TRUST: 'trust in',
  UNTRUST: 'removal of trust in',
};

interface Asked {
  who: Who;
  account: ExternalAccountRow;
  about: About;
}

/** The account of the path with its customer, who must not be shut out. */
async function askedFor(ctx: Ctx, kind: Direction, id: string): Promise<Asked> {
  const account = await externalAccountOf(ctx, id, 'customer');
  const who = await scaCustomer(ctx, account.customer_id as string);
  await checkLock(ctx, who.customer.id);
  return { who, account, about: aboutOf(kind, account) };
}

async function start(ctx: Ctx, parts: ScaParts, kind: Direction, id: string) {
  const { who, account, about } = await askedFor(ctx, kind, id);
  const row = await openChallenge(ctx, parts, who, {
    ...about,
    factor: undefined,
    field: 'externalAccountId',
    words: `${WORDS[kind]} ${shortenedIdentifier(account.info)}`,
  });
  requireExternalAccount(ctx, account);
  const scaChallenge = await presentChallenge(ctx, who, row, about);
  return { status: 200, body: { scaChallenge } } as const;
}

/** Stages the trust, unless it stands like that already. */
function setTrust(ctx: Ctx, account: ExternalAccountRow, isTrusted: boolean): void {
  if ((account.trusted_at !== null) === isTrusted) {
    requireExternalAccount(ctx, account);
    return;
  }
  const trusted_at = isTrusted ? ctx.now : null;
  setTrusted(ctx, account, trusted_at);
}

async function confirm(
  ctx: Ctx,
  kind: Direction,
  id: string,
  { challengeId, ...proof }: ConfirmRequest,
) {
  const { who, account, about } = await askedFor(ctx, kind, id);
  const row = await pendingChallenge(ctx, kind, account.id);
  if (!row || (challengeId ?? row.id) !== row.id) {
    throw invalidField('challengeId', 'has no pending challenge for this action; start a new one');
  }
  const refused = await prove(ctx, who, row, { about, proof });
  if (refused) return refused;
  const trusted = kind === 'TRUST';
  setTrust(ctx, account, trusted);
  return { status: 200, body: { trusted } } as const;
}

/** The operations; list them where those of the feature are put together. */
export const trustOperations = (parts: ScaParts) => [
  handle(startBeneficiaryTrust, (ctx, { params }) =>
    start(ctx, parts, 'TRUST', params.externalAccountId),
  ),
  handle(confirmBeneficiaryTrust, (ctx, { params, body }) =>
    confirm(ctx, 'TRUST', params.externalAccountId, body),
  ),
  handle(startBeneficiaryUntrust, (ctx, { params }) =>
    start(ctx, parts, 'UNTRUST', params.externalAccountId),
  ),
  handle(confirmBeneficiaryUntrust, (ctx, { params, body }) =>
    confirm(ctx, 'UNTRUST', params.externalAccountId, body),
  ),
];
