// Fixture for passkeys: customers with a wallet and a software authenticator as a credential, with
// challenges and assertions.
import { expect } from 'vitest';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse } from '../app/harness.ts';
import { type Authenticator, authenticator, base64url } from './authenticator.ts';
import { type ClientSession, generateKeys, type WalletFixture } from './embedded-wallets.ts';

let challengeCounter = 0;
/** A unique challenge. */
export const newChallenge = () => base64url(`challenge ${++challengeCounter}`);

export const passkeyRegistration = (
  accountId: string,
  device: Authenticator,
  { challenge = newChallenge(), ...overrides }: { challenge?: string; nickname?: string } = {},
) => ({
  type: 'PASSKEY',
  accountId,
  nickname: "Ada's phone",
  challenge,
  attestation: device.create(challenge),
  ...overrides,
});

interface Owner {
  accountId: string;
  session: ClientSession;
}

interface Holder extends Owner {
  device: Authenticator;
  id: string;
}

export const fieldsOf = ({ body }: ApiResponse) =>
  (body.details?.errors as { field: string }[] | undefined)?.map(({ field }) => field);

export function expectUnauthorized(response: ApiResponse, reason: string, code = 'UNAUTHORIZED') {
  expect(response).toMatchObject({ status: 401, body: { code, reason } });
}

export type PasskeyFixture = ReturnType<typeof passkeyFixture>;

export function passkeyFixture(fixture: WalletFixture) {
  /** A customer with a wallet and a session of its e-mail credential. */
  async function createWalletOwner(): Promise<Owner> {
    const { accountId } = await fixture.createWalletCustomer();
    return { accountId, session: await fixture.openEmailSession(accountId) };
  }

  const addCredential = (owner: Owner, body: object) =>
    fixture.callSigned('POST', '/auth/credentials', body, owner.session);

  /** A wallet owner with a passkey. */
  async function createPasskeyHolder(device = authenticator()): Promise<Holder> {
    const wallet = await createWalletOwner();
    const { id } = ok(
      await addCredential(wallet, passkeyRegistration(wallet.accountId, device)),
      201,
    );
    return { ...wallet, device, id };
  }

  const pathOf = ({ id }: Pick<Holder, 'id'>, action: string) =>
    `/auth/credentials/${id}/${action}`;

  const challengeOf = async (holder: Holder, clientPublicKey = generateKeys().publicKey) =>
    ok(await fixture.call('POST', pathOf(holder, 'challenge'), { clientPublicKey }), 200);

  const verifyWith = (
    holder: Holder,
    requestId: string | undefined,
    assertion: object,
    headers = {},
  ) =>
    fixture.call(
      'POST',
      pathOf(holder, 'verify'),
      { type: 'PASSKEY', assertion },
      { ...(requestId === undefined ? {} : { 'request-id': requestId }), ...headers },
    );

  /**
   * Requests a challenge and sends its assertion. `ceremony` sets deviations of the authenticator.
   */
  async function prove(holder: Holder, ceremony: Parameters<Authenticator['get']>[1] = {}) {
    const challengeReply = await challengeOf(holder);
    return verifyWith(
      holder,
      challengeReply.requestId,
      holder.device.get(challengeReply.challenge, ceremony),
    );
  }

  return {
    createWalletOwner,
    addCredential,
    createPasskeyHolder,
    pathOf,
    challengeOf,
    verifyWith,
    prove,
  };
}
