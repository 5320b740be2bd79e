// The operations on delegated keys. A key that signs card payments of a wallet is created in two
// steps, both signed by the wallet. The first registers the key, the second its policy. Card,
// funding source and account are checked in each step, because they may change between the steps.

import type { Bound, Input } from '../../../kernel/contract/operation.ts';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  type Activity,
  custodyOf,
  signedOperation,
  type Wallet,
  walletOf,
} from '../../wallets/index.ts';
import { fundingSourcesOf } from '../clearing/funding.ts';
import type { CardDeps } from '../deps.ts';
import { cardOf } from '../deps.ts';
import { type CardRow, cards, type FundingSourceRow, fundingSources } from '../store.ts';
import {
  createDelegatedKey,
  type DelegatedKeyView,
  getDelegatedKeyById,
  listDelegatedKeys,
  revokeDelegatedKey,
} from './delegated-contract.ts';
import {
  activateKey,
  addKey,
  checkKeyCount,
  checkNoActiveKey,
  keyOf,
  keysOf,
  type NewKey,
  presentKey,
  revokeKey,
} from './delegated-keys.ts';

/** Data bound to a signature request: the key to create, or the key whose policy is created. */
type Step = { step: 'key'; key: NewKey } | { step: 'policy'; id: string };

interface Target {
  card: CardRow;
  wallet: Wallet;
  source: FundingSourceRow;
}

type KeyRequest = Input<typeof createDelegatedKey>['body'];

/** Throws if no key can be created for this card and wallet now. */
async function targetOf(ctx: Ctx, { cardId, internalAccountId }: KeyRequest): Promise<Target> {
  const card = await cardOf(ctx, cardId);
  const wallet = await walletOf(ctx, internalAccountId, 'internalAccountId');
  const { status } = wallet.account;
  if (status !== 'ACTIVE') {
    throw invalidField('internalAccountId', `must be ACTIVE, but the account is ${status}`);
  }
  if (card.state === 'CLOSED') throw new Fault('CARD_NOT_MUTABLE', 'The card is closed.');
  const sources = await fundingSourcesOf(ctx, card);
  const source = sources.find(({ account_id }) => account_id === wallet.row.id);
  if (!source) {
    const reason =
      'The wallet is not a funding source of the card. Add the wallet to the card first.';
    throw new Fault('NOT_FOUND', reason);
  }
  await checkNoActiveKey(ctx, source);
  return { card, wallet, source };
}

/**
 * Requires card and funding source as read, so that a concurrent closure or removal fails the
 * commit.
 */
function requireTarget(ctx: Ctx, { card, source }: Target): void {
  ctx.require(cards, card);
  ctx.require(fundingSources, source);
}

/** Any session of the wallet can sign. */
const holderOf = ({ row }: Wallet) => ({ by: 'session', accounts: [row.id] }) as const;

/** Registers the key as an additional user of the wallet. The user has no other credential. */
const createKeyActivity = (nickname: string, { id, publicKey }: NewKey): Activity => ({
  type: 'CREATE_USERS',
  parameters: {
    users: [
      {
        userName: nickname,
        apiKeys: [{ apiKeyName: id, publicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  },
});

/** The policy limits the key to debits of one card from this wallet. */
const createPolicyActivity = ({ card, wallet }: Target, id: string): Activity => ({
  type: 'CREATE_POLICIES',
  parameters: {
    policies: [
      {
        policyName: `Payments of ${card.id}`,
        effect: 'EFFECT_ALLOW',
        consensus: `approvers.any(user, user.id == '${id}')`,
        condition: `wallet.id == '${wallet.row.wallet_id}' && card.id == '${card.id}'`,
        notes: '',
      },
    ],
  },
});

const createKey = (deps: CardDeps) =>
  signedOperation(createDelegatedKey, deps, {
    async begin(ctx, { body }) {
      const { wallet, source } = await targetOf(ctx, body);
      await checkKeyCount(ctx, source);
      const id = ctx.id('DelegatedKey');
      const key: NewKey = { id, ...(await custodyOf(ctx, deps).newSigner({ id })) };
      const payload = createKeyActivity(body.nickname.trim(), key);
      const boundStep: Step = { step: 'key', key };
      return {
        signatureRequest: { wallet, payload, boundData: boundStep, signer: holderOf(wallet) },
      };
    },

    async perform(ctx, { body }, authorization) {
      const target = await targetOf(ctx, body);
      const { wallet, source } = target;
      requireTarget(ctx, target);
      const boundStep = authorization.boundData as Step;
      if (boundStep.step === 'key') {
        await checkKeyCount(ctx, source);
        // Serializes concurrent requests, so that the count is exact.
        ctx.update(fundingSources, source, {});
        const keyFields = { nickname: body.nickname.trim(), key: wallet.key };
        const { id } = addKey(ctx, source, boundStep.key, keyFields);
        const nextStep: Step = { step: 'policy', id };
        const payload = createPolicyActivity(target, id);
        return {
          signatureRequest: { wallet, payload, boundData: nextStep, signer: holderOf(wallet) },
        };
      }
      const { row } = await keyOf(ctx, boundStep.id);
      if (row.status !== 'PENDING' || row.funding_source_id !== source.id) {
        throw new Fault('CONFLICT', 'The key was revoked. Create a new key.');
      }
      const activatedKey = (await presentKey(ctx, activateKey(ctx, row))) as DelegatedKeyView;
      return { status: 201, body: activatedKey };
    },
  });

const listKeys = handle(listDelegatedKeys, async (ctx, { query }) => {
  const { accountId, fundingSourceId } = query;
  if (accountId === undefined && fundingSourceId === undefined) {
    const message = 'is required unless the other filter is set';
    throw invalid(['accountId', 'fundingSourceId'].map((field) => ({ field, message })));
  }
  const rows = await keysOf(ctx, {
    ...(accountId === undefined ? {} : { account_id: accountId }),
    ...(fundingSourceId === undefined ? {} : { funding_source_id: fundingSourceId }),
  });
  const data = await Promise.all(rows.map((row) => presentKey(ctx, row)));
  return { status: 200, body: { data: data.filter((each) => each !== undefined) } };
});

const getKey = handle(getDelegatedKeyById, async (ctx, { params }) => ({
  status: 200,
  body: (await keyOf(ctx, params.id)).view,
}));

const revokeOwnKey = handle(revokeDelegatedKey, async (ctx, { params }) => {
  const { row } = await keyOf(ctx, params.id);
  if (row.status !== 'ACTIVE') {
    throw new Fault(
      'INVALID_INPUT',
      `The key is ${row.status}. Only an ACTIVE key can be revoked.`,
    );
  }
  revokeKey(ctx, row);
  return { status: 204, body: undefined };
});

export const delegatedKeyOperations = (deps: CardDeps): Bound<Ctx>[] => [
  createKey(deps),
  listKeys,
  getKey,
  revokeOwnKey,
];
