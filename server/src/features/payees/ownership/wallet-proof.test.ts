// Proof of ownership by signature for every wallet type.
import { describe, expect, it } from 'vitest';
import { createCustomer, eventTypes, ok } from '../../../../test/kit/app/fixtures.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import {
  nextSecret,
  OWNER_PATHS,
  startOwnership,
  statusAndCode,
} from '../../../../test/kit/customers/ownership.ts';
import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  sparkWallet,
  tronWallet,
} from '../../../../test/kit/wallets/chain-wallets.ts';
import { ownershipChallenges } from './store.ts';

const HOUR_MS = 3_600_000;

const ownership = openForFile(startOwnership);

describe.each([
  ['verifyExternalAccountOwnership', 'customer'],
  ['verifyPlatformExternalAccountOwnership', 'platform'],
] as const)('%s', (_operation, owner) => {
  it('verifies a wallet by its signature', async () => {
    const { id, wallet, messageToSign, expiresAt } = await ownership.createPendingProof(owner);
    expect(Date.parse(expiresAt)).toBe(ownership.app.effects.now() + HOUR_MS);
    expect(messageToSign.split('\n')).toEqual([
      'Railhead ownership check',
      `Account: ${id}`,
      `Address: ${wallet.address}`,
      expect.stringMatching(/^Nonce: [0-9a-f-]{36}$/),
      `Expires: ${expiresAt}`,
    ]);
    const provenAccount = ok(
      await ownership.verify(id, wallet.sign(messageToSign), {}, owner),
      200,
    );
    expect(provenAccount.status).toBe('ACTIVE');
    expect((await ownership.get(id, owner)).body).toEqual(provenAccount);
    expect(await eventTypes(ownership.app, id)).toEqual(['EXTERNAL_ACCOUNT.STATUS_UPDATED']);
    const event = (await ownership.app.events()).find((each) => each.subject === id);
    expect(event?.data).toEqual(provenAccount);
    expect(
      statusAndCode(await ownership.verify(id, wallet.sign(messageToSign), {}, owner)),
    ).toEqual([409, 'CONFLICT']);
    expect(statusAndCode(await ownership.challenge(id, undefined, owner))).toEqual([
      409,
      'CONFLICT',
    ]);
  });

  it('leaves the account pending while its chain node does not respond', async () => {
    const { id } = await ownership.createPendingProof(owner, 'BASE_WALLET');
    ownership.node.respondWith('nothing');
    expect((await ownership.verify(id, '0xabcd', {}, owner)).status).toBe(503);
    expect((await ownership.get(id, owner)).body.status).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect((await ownership.challenge(id, 'FAX', owner)).status).toBe(400);
  });

  it('accepts a signature in production, where no liveness check is available', async () => {
    const platform = ownership.app.production;
    const wallet = evmWallet(nextSecret());
    const ownerFields =
      owner === 'customer'
        ? { customerId: (await createCustomer(ownership.app, { platform })).id }
        : {};
    const accountInfo = { accountType: 'ETHEREUM_WALLET', address: wallet.address };
    const request = { ...ownerFields, currency: 'USDC', ownershipType: 'FIRST_PARTY', accountInfo };
    const { id } = ok(
      await ownership.app.call('POST', OWNER_PATHS[owner], request, { platform }),
      201,
    );
    const path = `${OWNER_PATHS[owner]}/${id}`;
    const livenessResponse = await ownership.app.call(
      'POST',
      `${path}/challenge`,
      { method: 'LIVENESS' },
      { platform },
    );
    expect(statusAndCode(livenessResponse)).toEqual([501, 'NOT_IMPLEMENTED']);
    const method = { method: 'WALLET_SIGNATURE' };
    const { messageToSign } = ok(
      await ownership.app.call('POST', `${path}/challenge`, method, { platform }),
      201,
    );
    const signature = wallet.sign(messageToSign);
    ok(await ownership.app.call('POST', `${path}/verify`, { signature }, { platform }), 200);
  });
});

describe.each([
  ['createExternalAccountOwnershipChallenge', 'customer'],
  ['createPlatformExternalAccountOwnershipChallenge', 'platform'],
] as const)('%s', (_operation, owner) => {
  it('returns 404 on the paths of the other owner type and for another platform', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof(owner);
    const otherOwner = owner === 'customer' ? 'platform' : 'customer';
    const responses = [
      await ownership.challenge(id, undefined, otherOwner),
      await ownership.verify(id, wallet.sign(messageToSign), {}, otherOwner),
      await ownership.app.call('POST', `${OWNER_PATHS[owner]}/${id}/challenge`, {
        method: 'LIVENESS',
      }),
      await ownership.app.call('POST', `${OWNER_PATHS[owner]}/${id}/verify`, { signature: 'x' }),
      await ownership.challenge('ExternalAccount:none', undefined, owner),
      await ownership.verify('ExternalAccount:none', 'x', {}, owner),
    ];
    for (const each of responses) expect(statusAndCode(each)).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    ok(await ownership.call('DELETE', `${OWNER_PATHS[owner]}/${id}`), 204);
    expect((await ownership.verify(id, wallet.sign(messageToSign), {}, owner)).status).toBe(404);
  });
});

describe('a wallet', () => {
  const createSeed = () => Buffer.from((nextSecret() % 256n).toString(16).padStart(64, '0'), 'hex');
  const chains: Record<string, () => { address: string; sign: (text: string) => string }> = {
    ETHEREUM_WALLET: () => evmWallet(nextSecret()),
    BASE_WALLET: () => evmWallet(nextSecret()),
    POLYGON_WALLET: () => evmWallet(nextSecret()),
    PLASMA_WALLET: () => evmWallet(nextSecret()),
    ARBITRUM_WALLET: () => evmWallet(nextSecret()),
    TRON_WALLET: () => tronWallet(nextSecret()),
    SOLANA_WALLET: () => solanaWallet(createSeed()),
    SPARK_WALLET: () => sparkWallet(nextSecret()),
  };
  const currencies: Record<string, string> = {
    PLASMA_WALLET: 'USDT',
    TRON_WALLET: 'USDT',
    SPARK_WALLET: 'BTC',
  };

  it.each(Object.keys(chains))('is verified by its signature: %s', async (accountType) => {
    const wallet = chains[accountType]!();
    const { id } = await ownership.add(accountType, wallet.address, {
      ...(currencies[accountType] ? { currency: currencies[accountType] } : {}),
    });
    const { messageToSign } = ok(await ownership.challenge(id), 201);
    const scheme = { signatureScheme: 'electrum' };
    const { status } = ok(await ownership.verify(id, wallet.sign(messageToSign), scheme), 200);
    expect(status).toBe('ACTIVE');
  });

  it.each([
    ['uncompressed', 'uncompressed', undefined],
    ['p2pkh', 'p2pkh', undefined],
    ['p2sh', 'p2sh', 'bip137'],
    ['segwit', 'segwit', 'bip137'],
    ['segwit', 'p2pkh', 'electrum'],
    ['p2sh', 'p2pkh', 'electrum'],
  ] as const)(
    'is verified by its signature: BITCOIN_L1, %s address, %s header, %s',
    async (kind, header, signatureScheme) => {
      const wallet = bitcoinWallet(nextSecret());
      const { id } = await ownership.add('BITCOIN_L1', wallet[kind], { currency: 'BTC' });
      const { messageToSign } = ok(await ownership.challenge(id), 201);
      const schemeField = signatureScheme ? { signatureScheme } : {};
      ok(await ownership.verify(id, wallet.sign(messageToSign, header), schemeField), 200);
    },
  );

  it('with a Bitcoin script address supports only the liveness check', async () => {
    const scriptAddress = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
    const { id } = await ownership.add('BITCOIN_L1', scriptAddress, { currency: 'BTC' });
    expect(statusAndCode(await ownership.challenge(id))).toEqual([409, 'CONFLICT']);
    ok(await ownership.challenge(id, 'LIVENESS'), 201);
  });
});

describe('a challenge', () => {
  const lightningAccount = {
    accountInfo: { accountType: 'LIGHTNING', lightningAddress: 'a@ln.test' },
  };
  it.each<[string, () => Promise<{ id: string }>]>([
    [
      'for a wallet of a third party',
      () =>
        ownership.add('ETHEREUM_WALLET', evmWallet(nextSecret()).address, {
          fields: {
            ownershipType: 'THIRD_PARTY',
            accountInfo: {
              accountType: 'ETHEREUM_WALLET',
              address: evmWallet(nextSecret()).address,
              beneficiary: {
                beneficiaryType: 'INDIVIDUAL',
                fullName: 'Grace Hopper',
                countryOfResidence: 'US',
              },
            },
          },
        }),
    ],
    [
      'for a custodial wallet',
      () =>
        ownership.add('ETHEREUM_WALLET', '', {
          fields: {
            accountInfo: {
              accountType: 'ETHEREUM_WALLET',
              address: evmWallet(nextSecret()).address,
              vaspName: 'Kraken',
            },
          },
        }),
    ],
    [
      'for Lightning',
      () => ownership.add('LIGHTNING', '', { currency: 'BTC', fields: lightningAccount }),
    ],
    [
      'for a bank account',
      () =>
        ownership.add('', '', {
          currency: 'USD',
          fields: {
            accountInfo: {
              accountType: 'USD_ACCOUNT',
              accountNumber: '123456789',
              routingNumber: '021000021',
              beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
            },
          },
        }),
    ],
  ])('is rejected %s', async (_, addAccount) => {
    const { id, status } = (await addAccount()) as { id: string; status: string };
    expect(status).toBe('ACTIVE');
    for (const method of ['WALLET_SIGNATURE', 'LIVENESS']) {
      expect(statusAndCode(await ownership.challenge(id, method))).toEqual([409, 'CONFLICT']);
    }
    expect(statusAndCode(await ownership.verify(id, '0x00'))).toEqual([409, 'CONFLICT']);
  });

  it('is rejected for a wallet without an ownership type', async () => {
    const { id } = ok(
      await ownership.app.call('POST', OWNER_PATHS.platform, {
        currency: 'USDC',
        accountInfo: { accountType: 'BASE_WALLET', address: evmWallet(nextSecret()).address },
      }),
      201,
    );
    const response = await ownership.app.call('POST', `${OWNER_PATHS.platform}/${id}/challenge`, {
      method: 'LIVENESS',
    });
    expect(response.status).toBe(409);
  });
});

describe('concurrent requests', () => {
  it('succeed once for the same signature', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof();
    const signature = wallet.sign(messageToSign);
    const responses = await Promise.all([1, 2, 3, 4].map(() => ownership.verify(id, signature)));
    expect(responses.map((each) => each.status).sort()).toEqual([200, 409, 409, 409]);
    expect(await eventTypes(ownership.app, id)).toHaveLength(1);
  });

  it('leave one of several challenges open', async () => {
    const wallet = evmWallet(nextSecret());
    const { id } = await ownership.add('ETHEREUM_WALLET', wallet.address);
    const responses = await Promise.all([1, 2, 3, 4].map(() => ownership.challenge(id)));
    const startedResponses = responses.filter((each) => each.status === 201);
    expect(startedResponses.length).toBeGreaterThan(0);
    for (const each of responses) expect([201, 409]).toContain(each.status);
    const storedChallenge = await ownership.app.runtime.db.read(ownershipChallenges, id);
    expect(startedResponses.map((each) => each.body.messageToSign)).toContain(
      storedChallenge?.message,
    );
    ok(await ownership.verify(id, wallet.sign(storedChallenge?.message as string)), 200);
  });
});
