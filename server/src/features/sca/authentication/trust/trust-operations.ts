// Trusted beneficiaries. The customer authorizes the trust in an external account once, and later
// payments to it need no authorization. No session is required, because no funds are transferred. A
// proof is valid for one account and one direction.
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
  findPendingChallenge,
  openChallenge,
  presentChallenge,
  prove,
  type ScaAction,
  type ScaParty,
} from '../challenges.ts';
import { type ScaDeps, scaCustomer } from '../deps.ts';
import {
  confirmBeneficiaryTrust,
  confirmBeneficiaryUntrust,
  startBeneficiaryTrust,
  startBeneficiaryUntrust,
} from './trust-contract.ts';

type Direction = 'TRUST' | 'UNTRUST';
type ConfirmRequest = Static<(typeof confirmBeneficiaryTrust)['body']>;

const actionOf = (kind: Direction, { id, customer_id }: ExternalAccountRow): ScaAction => ({
  kind,
  subject: id,
  // The ID identifies the account details, because they are immutable.
  binding: canonical([kind, customer_id, id]),
});

const DESCRIPTIONS: Readonly<Record<Direction, string>> = {
  TRUST: 'trust in',
  UNTRUST: 'removal of trust in',
};

interface TrustRequest {
  party: ScaParty;
  account: ExternalAccountRow;
  action: ScaAction;
}

/** The external account with this ID, and its customer. Throws ACCOUNT_LOCKED during a lockout. */
async function loadTrustRequest(ctx: Ctx, kind: Direction, id: string): Promise<TrustRequest> {
  const account = await externalAccountOf(ctx, id, 'customer');
  const party = await scaCustomer(ctx, account.customer_id as string);
  await checkLock(ctx, party.customer.id);
  return { party, account, action: actionOf(kind, account) };
}

async function start(ctx: Ctx, deps: ScaDeps, kind: Direction, id: string) {
  const { party, account, action } = await loadTrustRequest(ctx, kind, id);
  const row = await openChallenge(ctx, deps, party, {
    ...action,
    factor: undefined,
    field: 'externalAccountId',
    description: `${DESCRIPTIONS[kind]} ${shortenedIdentifier(account.info)}`,
  });
  requireExternalAccount(ctx, account);
  const scaChallenge = await presentChallenge(ctx, party, row, action);
  return { status: 200, body: { scaChallenge } } as const;
}

/** Stages the trust or its removal. Has no effect if the trust is unchanged. */
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
  const { party, account, action } = await loadTrustRequest(ctx, kind, id);
  const row = await findPendingChallenge(ctx, kind, account.id);
  if (!row || (challengeId ?? row.id) !== row.id) {
    throw invalidField('challengeId', 'has no pending challenge for this action. Start a new one');
  }
  const rejection = await prove(ctx, party, row, { action, proof });
  if (rejection) return rejection;
  const isTrusted = kind === 'TRUST';
  setTrust(ctx, account, isTrusted);
  return { status: 200, body: { trusted: isTrusted } } as const;
}

export const trustOperations = (deps: ScaDeps) => [
  handle(startBeneficiaryTrust, (ctx, { params }) =>
    start(ctx, deps, 'TRUST', params.externalAccountId),
  ),
  handle(confirmBeneficiaryTrust, (ctx, { params, body }) =>
    confirm(ctx, 'TRUST', params.externalAccountId, body),
  ),
  handle(startBeneficiaryUntrust, (ctx, { params }) =>
    start(ctx, deps, 'UNTRUST', params.externalAccountId),
  ),
  handle(confirmBeneficiaryUntrust, (ctx, { params, body }) =>
    confirm(ctx, 'UNTRUST', params.externalAccountId, body),
  ),
];
