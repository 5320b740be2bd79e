import { describe, expect, it } from 'vitest';
import { fund, internalAccount, ok, quoteBody } from '../../../../test/kit/app/fixtures.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import {
  nextSecret,
  OF,
  startOwnership,
  statusAndCode,
} from '../../../../test/kit/customers/ownership.ts';
import { evmWallet } from '../../../../test/kit/wallets/chain-wallets.ts';

const own = opened(startOwnership);

describe('payments to an unverified wallet', () => {
  it('are accepted up to the threshold, and above it after verification', async () => {
    const source = await internalAccount(own.app, own.person.id, 'USD', { as: own.as });
    await fund(own.app, source.id, 10_000_00, { as: own.as });
    const { id, wallet } = await own.waiting();
    const pay = (cents: number) => own.call('POST', '/quotes', quoteBody(source.id, id, cents));
    const TOO_MUCH = [400, 'EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED'];
    ok(await pay(500_00), 201);
    expect(statusAndCode(await pay(5_000_00))).toEqual(TOO_MUCH);
    await own.verify(id, '0x00');
    expect(await own.statusOf(id)).toBe('UNVERIFIED');
    ok(await pay(500_00), 201);
    expect(statusAndCode(await pay(5_000_00))).toEqual(TOO_MUCH);
    const { messageToSign } = ok(await own.challenge(id), 201);
    ok(await own.verify(id, wallet.sign(messageToSign)), 200);
    ok(await pay(5_000_00), 201);
  });

  it('need no verification for a wallet at a known custodian', async () => {
    const source = await internalAccount(own.app, own.person.id, 'USD', { as: own.as });
    await fund(own.app, source.id, 10_000_00, { as: own.as });
    const { address } = evmWallet(nextSecret());
    const held = { accountType: 'ETHEREUM_WALLET', address, vaspName: 'Kraken' };
    const { id, status } = await own.add('', '', { more: { accountInfo: held } });
    expect(status).toBe('ACTIVE');
    ok(await own.call('POST', '/quotes', quoteBody(source.id, id, 5_000_00)), 201);
    const unknown = await own.call('POST', OF.customer, {
      customerId: own.person.id,
      currency: 'USDC',
      accountInfo: { ...held, vaspName: 'Unlisted & Sons' },
    });
    expect(statusAndCode(unknown)).toEqual([400, 'INVALID_INPUT']);
  });
});
