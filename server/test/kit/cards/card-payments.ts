// Fixture for approved card payments. Each payment is authorized with sufficient funds. Its status,
// its account and the changes of system accounts are read together. Notices are sent through the
// handler of the issuer, which also accepts notices that the sandbox rejects.
import { randomUUID } from 'node:crypto';
import type { CardNotice } from '../../../src/connectors/ports/cards.ts';
import { transitionInternalAccount } from '../../../src/features/balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../../src/features/balances/internal-accounts/store.ts';
import { cardNetworkHandler } from '../../../src/features/cards/index.ts';
import type { SystemAccount } from '../../../src/ledger/chart.ts';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp } from '../app/harness.ts';
import { cardFixture } from './cards.ts';

const SYSTEM_ACCOUNTS: readonly SystemAccount[] = [
  'cards',
  'external_settlement',
  'losses',
  'suspense',
  'receivable',
];

/** A notice without the fields that every notice has. */
type NoticeContent<N = CardNotice> = N extends CardNotice ? Omit<N, 'id' | 'token'> : never;

export interface PaymentOptions {
  amount?: number;
  funds?: number;
  currency?: string;
  descriptor?: string;
  kind?: string;
}

type CardPayments = ReturnType<typeof cardPayments>;
export type CardPaymentFixture = Awaited<ReturnType<CardPayments['startPayment']>>;

export function cardPayments(app: TestApp) {
  const { createCardholder, createCard: cardFor, patchCard } = cardFixture(app);
  const handler = cardNetworkHandler(
    app.runtime,
    { connectors: app.connectorsOf, origin: () => 'http://localhost' },
    'sandbox',
  );

  async function readSystemBalances(currency: string): Promise<Map<SystemAccount, number>> {
    const ids = SYSTEM_ACCOUNTS.map((accountName) => `system:sandbox:${accountName}:${currency}`);
    const text = 'select id, balance from ledger_accounts where id = any($1)';
    const rows = await app.runtime.db.query(text, [ids]);
    const balanceOf = new Map(rows.map((row) => [row.id, Number(row.balance)]));
    return new Map(
      SYSTEM_ACCOUNTS.map((accountName, index) => [accountName, balanceOf.get(ids[index]) ?? 0]),
    );
  }

  async function readPayment(id: string): Promise<ApiResponse['body']> {
    return ok(await app.call('GET', `/transactions/${id}`), 200);
  }

  /** Starts a payment with a card that the account `accountId` funds. */
  async function startPaymentWith(
    card: ApiResponse['body'],
    options: PaymentOptions & { accountId: string },
  ) {
    const { amount = 100, descriptor = 'Shop', kind = 'authorization', currency = 'USD' } = options;
    const balancesBefore = await readSystemBalances(currency);
    const eventCountBefore = (await app.events()).length;
    const body = { amount, currency: { code: 'USD' }, merchant: { descriptor } };
    const path = `/sandbox/cards/${card.id}/simulate/${kind}`;
    const { issuerTransactionToken: token } = ok(await app.call('POST', path, body), 202);
    await app.settle();
    const { data } = ok(
      await app.call('GET', `/transactions?customerId=${card.cardholderId}`),
      200,
    );
    const [{ id }] = data.filter((transaction: { type: string }) => transaction.type === 'CARD');

    /** Status changes of the payment and balances of its account since the start, in order. */
    async function readEvents(): Promise<string[]> {
      const allEvents = (await app.events()).slice(eventCountBefore);
      return allEvents.flatMap((event) => {
        if (event.subject === id) return [event.type.replace('CARD_TRANSACTION.', '')];
        const isBalance =
          event.subject === options.accountId && event.type.endsWith('BALANCE_UPDATED');
        if (!isBalance || event.balance === null || event.held === null) return [];
        return [`${event.balance - event.held} of ${event.balance}`];
      });
    }

    return {
      ...{ id: id as string, token: token as string, card, accountId: options.accountId },
      readEvents,
      readResource: () => readPayment(id),
      /** Status, available and total balance, and changes of the system accounts. */
      async readState() {
        const { status } = await readPayment(id);
        const balancesAfter = await readSystemBalances(currency);
        const changes = SYSTEM_ACCOUNTS.map(
          (accountName) =>
            [
              accountName === 'external_settlement' ? 'settled' : accountName,
              (balancesAfter.get(accountName) ?? 0) - (balancesBefore.get(accountName) ?? 0),
            ] as const,
        );
        const text = 'select balance, held from ledger_accounts where id = $1';
        const [account] = await app.runtime.db.query(text, [options.accountId]);
        const [balance, heldAmount] = [Number(account?.balance), Number(account?.held)];
        return {
          status: status as string,
          account: `${balance - heldAmount} of ${balance}`,
          ...Object.fromEntries(changes.filter(([, difference]) => difference !== 0)),
        };
      },
      /** Applies a notice of the network and runs the jobs that it stages. */
      async notify(notice: NoticeContent, shouldSettle = true) {
        await handler.applyNotice({ id: randomUUID(), token, ...notice } as CardNotice);
        if (shouldSettle) await app.settle();
      },
      clear: (clearedAmount: number) =>
        handler.applyNotice({
          id: randomUUID(),
          token,
          kind: 'CLEARING',
          amount: BigInt(clearedAmount),
        }),
      close: async () => void ok(await patchCard(card.id, { state: 'CLOSED' }), 200),
    };
  }

  /**
   * A payment from an account with `funds`. The debits of the payment are complete unless the
   * descriptor selects another outcome.
   */
  async function startPayment({
    funds = 1_000,
    currency = 'USD',
    ...options
  }: PaymentOptions = {}) {
    const cardholder = await createCardholder({ currency, funds });
    return startPaymentWith(await cardFor(cardholder), {
      ...options,
      currency,
      accountId: cardholder.accountId,
    });
  }

  const transitionAccount = (id: string, event: 'freeze' | 'close') =>
    app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      if (row) transitionInternalAccount(ctx, row, event);
    });

  return {
    startPayment,
    startPaymentWith,
    freezeAccount: (id: string) => transitionAccount(id, 'freeze'),
    closeAccount: (id: string) => transitionAccount(id, 'close'),
  };
}
