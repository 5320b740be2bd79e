// Cards that an embedded wallet pays for, and the keys that let them, for tests: a cardholder with a wallet
// and a session of it, a card on that wallet, and the three requests that make a key.

import { fund, ok } from '../app/fixtures.ts';
import type { Answer, CallOptions, TestApp } from '../app/harness.ts';
import { type Holder, signedHeaders, walletFixture } from '../wallets/embedded-wallets.ts';
import { cardFixture } from './cards.ts';

/** Who pays for which card, and whose key signs for the wallet. */
export interface WalletCard {
  accountId: string;
  card: { id: string };
  session: Holder;
}

const PATH = '/auth/delegated-keys';

let counter = 0;

/** `as` is the platform that the cards belong to; the main one unless said. */
export function delegatedFixture(app: TestApp, { as }: Pick<CallOptions, 'as'> = {}) {
  const wallets = walletFixture(app, { as });
  const cards = cardFixture(app, { as });
  const { call } = wallets;

  /** A customer with a wallet that may pay for cards, with `funds` in it, and a session of the wallet. */
  async function holder({ funds = 0 }: { funds?: number } = {}) {
    const held = await wallets.customerWithWallet();
    if (funds) await fund(app, held.accountId, funds, { as });
    return { ...held, session: await wallets.emailSession(held.accountId) };
  }

  /** The same with an active card that the wallet pays for, and no key yet. */
  async function walletCard({ funds, ...more }: { funds?: number } & Record<string, unknown> = {}) {
    const held = await holder(funds === undefined ? {} : { funds });
    return { ...held, card: await cards.card(held, more) };
  }

  const bodyOf = ({ accountId, card }: Pick<WalletCard, 'accountId' | 'card'>, more = {}) => ({
    cardId: card.id,
    internalAccountId: accountId,
    nickname: `Key ${++counter}`,
    ...more,
  });

  const request = (body: unknown, headers?: Record<string, string>): Promise<Answer> =>
    call('POST', PATH, body, headers);

  /** The next leg after one that was answered with something to sign. */
  const follow = async (body: unknown, requested: Answer, session: Holder): Promise<Answer> =>
    request(body, await signedHeaders(ok(requested, 202), session));

  /** The first two legs: what is to be signed in the third. */
  const made = async (body: unknown, session: Holder): Promise<Answer> =>
    follow(body, await request(body), session);

  /** An active key: all three legs. */
  async function key(of: WalletCard, more: object = {}): Promise<Answer['body']> {
    const body = bodyOf(of, more);
    return ok(await follow(body, await made(body, of.session), of.session), 201);
  }

  const listed = async (query: string): Promise<Answer['body'][]> =>
    ok(await call('GET', `${PATH}?${query}`), 200).data;

  const keyNow = async (id: string): Promise<Answer['body']> =>
    ok(await call('GET', `${PATH}/${id}`), 200);

  const revoke = (id: string): Promise<Answer> => call('DELETE', `${PATH}/${id}`);

  return {
    get as() {
      return as ?? app.platform;
    },
    wallets,
    cards,
    call,
    holder,
    walletCard,
    bodyOf,
    send: request,
    follow,
    made,
    key,
    listed,
    keyNow,
    revoke,
  };
}
export type DelegatedFixture = ReturnType<typeof delegatedFixture>;
