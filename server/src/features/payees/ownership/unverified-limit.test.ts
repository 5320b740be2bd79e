// The limit of payments to a wallet without a proof of ownership.
import { describe, expect, it } from 'vitest';
import {
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import {
  nextSecret,
  OWNER_PATHS,
  startOwnership,
  statusAndCode,
} from '../../../../test/kit/customers/ownership.ts';
import { evmWallet } from '../../../../test/kit/wallets/chain-wallets.ts';

const ownership = openForFile(startOwnership);

describe('payments to an unverified wallet', () => {
  it('are accepted up to the threshold, and above it after verification', async () => {
    const source = await findInternalAccount(ownership.app, ownership.person.id, 'USD', {
      platform: ownership.platform,
    });
    await fundAccount(ownership.app, source.id, 10_000_00, { platform: ownership.platform });
    const { id, wallet } = await ownership.createPendingProof();
    const pay = (cents: number) =>
      ownership.call('POST', '/quotes', quoteBody(source.id, id, cents));
    const VERIFICATION_REQUIRED = [400, 'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED'];
    ok(await pay(500_00), 201);
    expect(statusAndCode(await pay(5_000_00))).toEqual(VERIFICATION_REQUIRED);
    await ownership.verify(id, '0x00');
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
    ok(await pay(500_00), 201);
    expect(statusAndCode(await pay(5_000_00))).toEqual(VERIFICATION_REQUIRED);
    const { messageToSign } = ok(await ownership.challenge(id), 201);
    ok(await ownership.verify(id, wallet.sign(messageToSign)), 200);
    ok(await pay(5_000_00), 201);
  });

  it('require no verification for a wallet at a known custodian', async () => {
    const source = await findInternalAccount(ownership.app, ownership.person.id, 'USD', {
      platform: ownership.platform,
    });
    await fundAccount(ownership.app, source.id, 10_000_00, { platform: ownership.platform });
    const { address } = evmWallet(nextSecret());
    const custodialWallet = { accountType: 'ETHEREUM_WALLET', address, vaspName: 'Kraken' };
    const { id, status } = await ownership.add('', '', {
      fields: { accountInfo: custodialWallet },
    });
    expect(status).toBe('ACTIVE');
    ok(await ownership.call('POST', '/quotes', quoteBody(source.id, id, 5_000_00)), 201);
    const unlistedResponse = await ownership.call('POST', OWNER_PATHS.customer, {
      customerId: ownership.person.id,
      currency: 'USDC',
      accountInfo: { ...custodialWallet, vaspName: 'Unlisted & Sons' },
    });
    expect(statusAndCode(unlistedResponse)).toEqual([400, 'INVALID_INPUT']);
  });
});
