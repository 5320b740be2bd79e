// The stablecoin provider over the protocol: accounts, tokens, and orders of mints and burns.

import { assertNever } from '../../kernel/assert-never.ts';
import { iso } from '../../kernel/effects.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import {
  StablecoinAccounts,
  StablecoinLink,
  StablecoinOrderReply,
  type StablecoinOrderState,
  StablecoinPreview,
  StablecoinToken,
} from '../ports/providers/stablecoins.ts';
import type {
  MintOrder,
  OrderAccount,
  OrderPreview,
  OrderProgress,
  ProviderLink,
  TokenLookup,
  UnlinkedResult,
} from '../ports/stablecoins.ts';
import { NOT_FOUND, type ProviderClient } from './client.ts';

const CHECK_AFTER_S = 60;

const unlinkedOf = ({ reason }: { reason: 'invalid' | 'revoked' }): UnlinkedResult => ({
  state: 'unlinked',
  reason: reason === 'invalid' ? 'INVALID' : 'REVOKED',
});

const checkAfterMs = ({ checkAfterSeconds = CHECK_AFTER_S }: { checkAfterSeconds?: number }) =>
  checkAfterSeconds * 1_000;

/**
 * A completion with another amount is not applied. The order stays pending until an operator has
 * decided. The status contains the reason.
 */
export function orderProgressOf(
  reportedState: StablecoinOrderState,
  amount: bigint,
): OrderProgress {
  const { providerStatus } = reportedState;
  switch (reportedState.state) {
    case 'funding':
    case 'submitted':
    case 'processing':
    case 'unknown':
      return {
        state: reportedState.state,
        providerStatus,
        checkAfterMs: checkAfterMs(reportedState),
      };
    case 'completed': {
      const { amount: executedAmount } = reportedState;
      if (executedAmount === undefined || BigInt(executedAmount) === amount) {
        return { state: 'completed', providerStatus };
      }
      const problem = `${providerStatus}: amount ${executedAmount} instead of ${amount}`;
      return { state: 'unknown', providerStatus: problem };
    }
    case 'failed':
      return { state: 'failed', providerStatus, reason: reportedState.reason };
    case 'expired':
      return {
        state: 'expired',
        providerStatus,
        ...(reportedState.isFinal ? { final: true } : {}),
      };
    default:
      return assertNever(reportedState, 'state of a mint or burn');
  }
}

const accountOf = ({ credentials, providerAccountId }: ProviderLink) => ({
  credentials,
  providerAccountId,
});

const partyOf = ({ id: accountId, rail, reference }: OrderAccount) => ({
  ...{ accountId, rail, reference },
});

const bodyOf = (link: ProviderLink, order: MintOrder) => ({
  orderId: order.id,
  type: order.type,
  account: accountOf(link),
  token: order.token,
  decimals: order.decimals,
  baseCurrency: order.baseCurrency,
  amount: String(order.amount),
  source: order.source,
  rail: order.rail,
  ...(order.from ? { from: partyOf(order.from) } : {}),
  ...(order.to ? { to: partyOf(order.to) } : {}),
  description: order.description,
  orderedAt: iso(order.orderedAt),
});

export function mintCalls(client: ProviderClient): ProviderPort['mint'] {
  return {
    async accountsOf({ clientId, clientSecret }) {
      const body = { clientId, clientSecret };
      return (await client.call('/stablecoins/accounts', body, StablecoinAccounts)).accounts;
    },
    async token(link, { providerTokenIdentifier, networkTokenIdentifier, network }) {
      const token = { providerTokenIdentifier, networkTokenIdentifier, network };
      const body = { account: accountOf(link), token };
      const reply = await client.call('/stablecoins/token', body, StablecoinToken);
      if (reply.result === 'unlinked') return unlinkedOf(reply);
      if (reply.result !== 'found') return { state: reply.result } satisfies TokenLookup;
      const { result: _, supply, checkAfterSeconds, ...tokenFields } = reply;
      const check = checkAfterSeconds === undefined ? {} : { checkAfterSeconds };
      return {
        state: 'found',
        token: { ...tokenFields, supply: BigInt(supply), checkAfterMs: checkAfterMs(check) },
      };
    },
    async linkAccount(link, { id: externalAccountId, info: details, rail }) {
      const body = { account: accountOf(link), externalAccountId, details, rail };
      const reply = await client.call('/stablecoins/link', body, StablecoinLink);
      if (reply.result === 'unlinked') return unlinkedOf(reply);
      return reply.result === 'linked'
        ? { state: 'linked', reference: reply.reference }
        : { state: 'rejected', problem: reply.problem };
    },
    async prepare(link, order): Promise<OrderPreview> {
      const reply = await client.call(
        '/stablecoins/prepare',
        bodyOf(link, order),
        StablecoinPreview,
      );
      if (reply.result === 'unlinked') return unlinkedOf(reply);
      if (reply.result === 'no_source') return { state: 'no-source' };
      if (reply.result === 'rejected') return { state: 'rejected', reason: reply.reason };
      const { fundingInstructions, expiresAt, estimatedDelivery } = reply;
      return {
        state: 'accepted',
        ...(fundingInstructions ? { fundingInstructions } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) }),
        ...(estimatedDelivery ? { estimatedDelivery } : {}),
      };
    },
    async submit(link, order) {
      const reply = await client.call(
        '/stablecoins/submit',
        bodyOf(link, order),
        StablecoinOrderReply,
      );
      return reply.state === 'unlinked' ? unlinkedOf(reply) : orderProgressOf(reply, order.amount);
    },
    async check(link, order) {
      const body = bodyOf(link, order);
      const reply = await client.callOrNotFound('/stablecoins/state', body, StablecoinOrderReply);
      // The order was submitted, so a 404 does not prove that it failed.
      if (reply === NOT_FOUND) return { state: 'unknown', providerStatus: 'not found' };
      return reply.state === 'unlinked' ? unlinkedOf(reply) : orderProgressOf(reply, order.amount);
    },
  };
}
