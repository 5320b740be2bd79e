// A card funded by a wallet. Each debit requires the signature of a key that its holder has
// delegated for this card. Each signature is stored with its payment.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import { walletFixture } from '../../../../test/kit/wallets/embedded-wallets.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { findWallet } from '../../wallets/accounts/wallet.ts';
import { authorizationPersonal } from '../../wallets/personal-data.ts';
import { parseStamp, verifyStamp } from '../../wallets/signing/stamp.ts';
import { walletAuthorizations } from '../../wallets/store.ts';
import { cardNetworkHandler } from '../authorization/network-handler.ts';
import { fundingSources } from '../store.ts';
import { activateKey, addKey, keysOf, revokeKey } from './delegated-keys.ts';

const app = testApp();
const cards = cardFixture(app);
const wallets = walletFixture(app);
let network: ReturnType<typeof cardNetwork>;
beforeAll(() => {
  network = cardNetwork(app);
});
afterAll(() => app.settle());

const declineDecision = (reason: string) => ({ approved: false, reason });

/** A customer whose wallet holds `amount` dollars. */
async function createWalletHolder(amount: number) {
  const { customer, accountId } = await wallets.createWalletCustomer();
  const { id: balanceId } = await findInternalAccount(app, customer.id, 'USDB');
  await fundAccount(app, accountId, amount * 1_000_000);
  return { customer, accountId, balanceId: balanceId as string };
}

/** Creates an active key for a card and its wallet, without the holder's signatures. */
const delegateKey = (cardId: string) =>
  app.operate(async (ctx) => {
    const [source] = await ctx.db.find(fundingSources, { card_id: cardId, ended_at: null });
    const wallet = source && (await findWallet(ctx, source.account_id));
    if (!wallet) throw new Error('No wallet funds the card.');
    const id = ctx.id('DelegatedKey');
    const { custody } = app.connectorsOf('sandbox');
    if (!custody) throw new Error('The sandbox has no custodian.');
    const generatedKey = await custody.newSigner({ id });
    const key = addKey(ctx, source, { id, ...generatedKey }, { nickname: 'Till', key: wallet.key });
    return activateKey(ctx, key);
  });

async function cardOf(amount = 20) {
  const holder = await createWalletHolder(amount);
  const { id } = await cards.createCard(holder);
  return { ...holder, cardId: id as string };
}

/** Signed payloads of a wallet, decrypted as for its holder. */
const readSignedPayloads = (accountId: string) =>
  app.operate(async (ctx) => {
    const wallet = await findWallet(ctx, accountId);
    const rows = await ctx.db.find(walletAuthorizations, { account_id: accountId });
    return rows.map((row) => {
      const { payload } = authorizationPersonal({ vault: ctx.vault, key: wallet?.key }, row);
      return { row, payload: payload as string };
    });
  });

const unsignedTransactionOf = (payload: string) => {
  const { parameters } = JSON.parse(payload);
  return JSON.parse(Buffer.from(parameters.unsignedTransaction, 'hex').toString());
};

describe('a card funded by a wallet', () => {
  it('declines before a key is delegated and after it is revoked', async () => {
    const fundedCard = await cardOf();
    expect(await network.request(fundedCard.cardId, 5_00)).toEqual(
      declineDecision('NO_FUNDING_SOURCE'),
    );
    const key = await delegateKey(fundedCard.cardId);
    expect(await network.request(fundedCard.cardId, 5_00)).toMatchObject({ approved: true });
    await app.operate(async (ctx) => {
      const [row] = await keysOf(ctx, { funding_source_id: key.funding_source_id });
      if (row) revokeKey(ctx, row);
    });
    expect(await network.request(fundedCard.cardId, 5_00)).toEqual(
      declineDecision('NO_FUNDING_SOURCE'),
    );
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 15_000_000,
      total: 15_000_000,
    });
  });

  it('signs each payment with the delegated key, over a payload that states the debit', async () => {
    const fundedCard = await cardOf();
    const key = await delegateKey(fundedCard.cardId);
    expect(await network.request(fundedCard.cardId, 5_01)).toMatchObject({ approved: true });
    expect(await network.request(fundedCard.cardId, 20_00)).toEqual(
      declineDecision('INSUFFICIENT_FUNDS'),
    );
    const [payment, ...otherPayments] = await network.paymentsOf(fundedCard.customer.id);
    expect(otherPayments).toEqual([]);
    const [signedPayload, ...rest] = await readSignedPayloads(fundedCard.accountId);
    // A declined payment is not signed.
    expect(rest).toEqual([]);
    expect(signedPayload?.row).toMatchObject({
      operation: 'cardPull',
      subject: payment.id,
      session_id: null,
      public_key: key.public_key,
    });
    const stamp = parseStamp(signedPayload?.row.stamp ?? '');
    expect(stamp && verifyStamp(stamp, signedPayload?.payload ?? '')).toBe(true);
    expect(unsignedTransactionOf(signedPayload?.payload ?? '')).toEqual({
      cardId: fundedCard.cardId,
      transactionId: payment.id,
      pull: 1,
      delegatedKeyId: key.id,
      source: fundedCard.accountId,
      currency: 'USDB',
      amount: '5010000',
    });
  });

  it('debits an amount cleared above the authorization with a further signature', async () => {
    const fundedCard = await cardOf();
    await delegateKey(fundedCard.cardId);
    const request = network.message(fundedCard.cardId, 5_00);
    await network.send(request);
    await app.settle();
    await network.notify(request.token, { kind: 'CLEARING', amount: 6_00n });
    await app.settle();
    const signedPayloads = await readSignedPayloads(fundedCard.accountId);
    const amounts = signedPayloads.map(({ payload }) => unsignedTransactionOf(payload).amount);
    expect(amounts.sort()).toEqual(['1000000', '5000000']);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 14_000_000,
      total: 14_000_000,
    });
  });

  it('needs no key for a credit', async () => {
    const fundedCard = await cardOf(1);
    const decision = await network.request(
      fundedCard.cardId,
      5_00,
      'FINANCIAL_CREDIT_AUTHORIZATION',
    );
    expect(decision).toMatchObject({ approved: true });
    expect((await readBalances(app, fundedCard.accountId)).balance).toBe(6_000_000);
  });

  it('is funded by the first of two sources, even if only the second has sufficient funds', async () => {
    const holder = await createWalletHolder(20);
    const fundingSources = [holder.balanceId, holder.accountId];
    const { id } = await cards.createCard(holder, { fundingSources });
    expect(await network.request(id, 10_00)).toEqual(declineDecision('INSUFFICIENT_FUNDS'));
    ok(await cards.patchCard(id, { fundingSources: fundingSources.reverse() }), 200);
    expect(await network.request(id, 10_00)).toEqual(declineDecision('NO_FUNDING_SOURCE'));
  });

  it.each([
    ['does not respond', () => Promise.reject(new Error('no response'))],
    ['returns an invalid stamp', () => Promise.resolve('stamp')],
    ['signs with another key', createOtherStamp],
  ])('declines if the custodian %s', async (failure, stampWith) => {
    const fundedCard = await cardOf();
    const key = await delegateKey(fundedCard.cardId);
    const { handler, loggedProblems } = handlerWith(stampWith);
    const request = network.message(fundedCard.cardId, 5_00);
    expect(await handler.authorize(request, Infinity)).toEqual(
      declineDecision('NO_FUNDING_SOURCE'),
    );
    expect(await network.paymentsOf(fundedCard.customer.id)).toEqual([]);
    expect(await readSignedPayloads(fundedCard.accountId)).toEqual([]);
    expect((await readBalances(app, fundedCard.accountId)).balance).toBe(20_000_000);
    expect(await network.logOf(fundedCard.cardId)).toMatchObject([{ reason: 'NO_FUNDING_SOURCE' }]);
    const problem = `the custodian did not sign with ${key.id}`;
    expect(loggedProblems).toEqual(failure === 'does not respond' ? [problem] : []);
  });

  it('logs the ID of a key that does not sign, without a secret', async () => {
    const fundedCard = await cardOf();
    const { id } = await delegateKey(fundedCard.cardId);
    const signerSql = "update delegated_keys set signer = 'sealed by another' where id = $1";
    await app.runtime.db.query(signerSql, [id]);
    const body = { amount: 5_00, currency: { code: 'USD' }, merchant: { descriptor: 'Shop' } };
    ok(
      await app.call('POST', `/sandbox/cards/${fundedCard.cardId}/simulate/authorization`, body),
      202,
    );
    expect(await network.logOf(fundedCard.cardId)).toMatchObject([{ reason: 'NO_FUNDING_SOURCE' }]);
    const [line, ...rest] = app.log
      .filter((each) => each.includes(id))
      .map((each) => JSON.parse(each));
    const problem = `the custodian did not sign with ${id}`;
    expect([line, rest]).toMatchObject([{ level: 'warn', problem }, []]);
    expect(app.log.join()).not.toContain('sealed by another');
  });

  it('rejects a clearing above the authorization while the custodian does not respond', async () => {
    const { fundedCard, token, clearing } = await prepareClearingAboveAuthorization();
    const appliedNotice = handlerWith(() =>
      Promise.reject(new Error('no response')),
    ).handler.applyNotice(clearing);
    // An error of a custodian may contain a secret, and errors are logged with their cause.
    await expect(appliedNotice).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: undefined,
    });
    expect(await network.logOf(fundedCard.cardId)).toHaveLength(1);
    expect(await network.paymentsOf(fundedCard.customer.id)).toMatchObject([
      { status: 'AUTHORIZED' },
    ]);
    await network.notify(token, clearing, clearing.id);
    await app.settle();
    expect(await network.paymentsOf(fundedCard.customer.id)).toMatchObject([{ status: 'SETTLED' }]);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 14_000_000,
      total: 14_000_000,
    });
  });

  it('makes no debit for a clearing above the authorization if the stamp is invalid', async () => {
    const { fundedCard, clearing } = await prepareClearingAboveAuthorization();
    await handlerWith(() => Promise.resolve('stamp')).handler.applyNotice(clearing);
    expect(await network.paymentsOf(fundedCard.customer.id)).toMatchObject([
      { status: 'EXCEPTION' },
    ]);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 15_000_000,
      total: 15_000_000,
    });
  });
});

/** A payment of 5.00 from a wallet with 20.00, and a clearing of 6.00 that is not sent yet. */
async function prepareClearingAboveAuthorization() {
  const fundedCard = await cardOf();
  await delegateKey(fundedCard.cardId);
  const request = network.message(fundedCard.cardId, 5_00);
  await network.send(request);
  await app.settle();
  const { token } = request;
  const clearing = { id: `of ${token}`, token, kind: 'CLEARING', amount: 6_00n } as const;
  return { fundedCard, token, clearing };
}

/** A network handler with this custodian, and the problems that it logs. */
function handlerWith(stampWith: (input: { payload: string }) => Promise<string>) {
  const { custody, ...rest } = app.connectorsOf('sandbox');
  const connectors = () => ({ ...rest, custody: { ...custody, stampWith } }) as Connectors;
  const loggedProblems: string[] = [];
  const deps = {
    connectors,
    origin: () => '',
    reportProblem: (problem: string) => void loggedProblems.push(problem),
  };
  return { handler: cardNetworkHandler(app.runtime, deps, 'sandbox'), loggedProblems };
}

async function createOtherStamp({ payload }: { payload: string }): Promise<string> {
  const { custody } = app.connectorsOf('sandbox');
  if (!custody) throw new Error('The sandbox has no custodian.');
  const { signer } = await custody.newSigner({ id: 'DelegatedKey:other' });
  return custody.stampWith({ id: 'DelegatedKey:other', signer, payload });
}
