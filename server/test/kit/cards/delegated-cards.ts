// Fixture for cards funded by embedded wallets: a cardholder with a wallet and a session, a card,
// and the three requests that create a delegated key.

import { fundAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, CallOptions, TestApp } from '../app/harness.ts';
import { type Holder, signedHeaders, walletFixture } from '../wallets/embedded-wallets.ts';
import { cardFixture } from './cards.ts';

/** A card, its wallet, and a session of the wallet. */
export interface WalletCard {
  accountId: string;
  card: { id: string };
  session: Holder;
}

const PATH = '/auth/delegated-keys';

let counter = 0;

/** `platform` is the platform of the cards. Defaults to the main platform. */
export function delegatedFixture(app: TestApp, { platform }: Pick<CallOptions, 'platform'> = {}) {
  const wallets = walletFixture(app, { platform });
  const cards = cardFixture(app, { platform });
  const { call } = wallets;

  /** A customer with a wallet that holds `funds`, and a session of the wallet. */
  async function createWalletHolder({ funds = 0 }: { funds?: number } = {}) {
    const wallet = await wallets.createWalletCustomer();
    if (funds) await fundAccount(app, wallet.accountId, funds, { platform });
    return { ...wallet, session: await wallets.openEmailSession(wallet.accountId) };
  }

  /** A wallet holder with an active card funded by the wallet, without a delegated key. */
  async function createWalletCard({
    funds,
    ...cardFields
  }: { funds?: number } & Record<string, unknown> = {}) {
    const walletHolder = await createWalletHolder(funds === undefined ? {} : { funds });
    return { ...walletHolder, card: await cards.createCard(walletHolder, cardFields) };
  }

  const keyBody = (
    { accountId, card }: Pick<WalletCard, 'accountId' | 'card'>,
    overrides = {},
  ) => ({
    cardId: card.id,
    internalAccountId: accountId,
    nickname: `Key ${++counter}`,
    ...overrides,
  });

  const request = (body: unknown, headers?: Record<string, string>): Promise<ApiResponse> =>
    call('POST', PATH, body, headers);

  /** Sends the request again, with a signature of the payload in the previous reply. */
  const sendSigned = async (
    body: unknown,
    signingRequest: ApiResponse,
    session: Holder,
  ): Promise<ApiResponse> => request(body, await signedHeaders(ok(signingRequest, 202), session));

  /** Sends the first two requests. Returns the reply with the payload of the third. */
  const registerKey = async (body: unknown, session: Holder): Promise<ApiResponse> =>
    sendSigned(body, await request(body), session);

  /** Creates an active key with all three requests. */
  async function createKey(
    walletCard: WalletCard,
    overrides: object = {},
  ): Promise<ApiResponse['body']> {
    const body = keyBody(walletCard, overrides);
    return ok(
      await sendSigned(body, await registerKey(body, walletCard.session), walletCard.session),
      201,
    );
  }

  const listKeys = async (query: string): Promise<ApiResponse['body'][]> =>
    ok(await call('GET', `${PATH}?${query}`), 200).data;

  const readKey = async (id: string): Promise<ApiResponse['body']> =>
    ok(await call('GET', `${PATH}/${id}`), 200);

  const revoke = (id: string): Promise<ApiResponse> => call('DELETE', `${PATH}/${id}`);

  return {
    get platform() {
      return platform ?? app.platform;
    },
    wallets,
    cards,
    call,
    createWalletHolder,
    createWalletCard,
    keyBody,
    send: request,
    sendSigned,
    registerKey,
    createKey,
    listKeys,
    readKey,
    revoke,
  };
}
export type DelegatedFixture = ReturnType<typeof delegatedFixture>;
