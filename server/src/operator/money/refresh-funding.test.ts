// Collection accounts that change after accounts were opened: which accounts receive new funding
// details, and which events are emitted.
import { describe, expect, it } from 'vitest';
import { createCustomer, findInternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import type { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import { manualFunding } from '../../connectors/manual/funding.ts';
import { parse } from '../cli/flags.ts';
import type { System } from '../cli/verb.ts';
import { refreshFundingVerb } from './accounts.ts';

const service = openForFile(startProduction);

const NEW_INSTRUCTIONS: PaymentInstructions[] = [
  {
    accountOrWalletInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: '555555555',
      routingNumber: '021000021',
      bankName: 'Second Bank',
      paymentRails: ['RTP'],
    },
  },
];

/** Runs the verb with other collection accounts than those of the server. */
async function refresh(argv: string[], usdInstructions: PaymentInstructions[] | undefined) {
  const port = usdInstructions && manualFunding({ USD: usdInstructions });
  const system = { runtime: service.app.runtime, fundingOf: () => port } as unknown as System;
  const { args } = parse(refreshFundingVerb.flags, refreshFundingVerb.positional, argv);
  return (await refreshFundingVerb.run(system, args)) as {
    json: { accounts: number; changed: string[] };
    text: string;
  };
}

const readEmittedEvents = async (id: string) => {
  const type = 'INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED';
  return (await service.app.events()).filter((each) => each.subject === id && each.type === type);
};

describe('accounts refresh-funding', () => {
  it('reports no change and emits no event if the details are unchanged', async () => {
    const { account } = await service.createPayer();
    const unchangedOutput = await service.runJson('accounts', 'refresh-funding', account);
    expect(unchangedOutput).toEqual({ accounts: 1, changed: [] });
    const person = await createCustomer(service.app);
    const sandboxAccount = await findInternalAccount(service.app, person.id, 'USD');
    expect(
      (await service.runJson('accounts', 'refresh-funding', sandboxAccount.id)).changed,
    ).toEqual([]);
    expect([await readEmittedEvents(account), await readEmittedEvents(sandboxAccount.id)]).toEqual([
      [],
      [],
    ]);
  });

  it('sets new details with the old reference, and emits an event with the balance', async () => {
    const { account } = await service.createPayer('12.00');
    const path = `/internal-accounts/${account}`;
    const accountBefore = ok(
      await service.app.call('GET', path, undefined, service.callOptions),
      200,
    );
    const { json, text } = await refresh([account], NEW_INSTRUCTIONS);
    expect(json).toEqual({ accounts: 1, changed: [account] });
    expect(text).toBe('Funding details of 1 of 1 accounts changed.\n');
    const accountAfter = ok(
      await service.app.call('GET', path, undefined, service.callOptions),
      200,
    );
    expect(accountAfter.fundingPaymentInstructions).toHaveLength(1);
    expect(accountAfter.fundingPaymentInstructions[0].accountOrWalletInfo).toMatchObject({
      bankName: 'Second Bank',
      reference: accountBefore.fundingPaymentInstructions[0].accountOrWalletInfo.reference,
    });
    const [event, ...otherEvents] = await readEmittedEvents(account);
    expect(otherEvents).toEqual([]);
    expect(event?.data).toMatchObject({
      id: account,
      fundingPaymentInstructions: accountAfter.fundingPaymentInstructions,
    });
    await service.app.settle();
    const bodies = service.sent.map((each) => JSON.parse(String(each.body)));
    const receivedEvent = bodies.find(
      (each) => each.type === event?.type && each.data.id === account,
    );
    expect(receivedEvent.data.balance.amount).toBe(12_00);
    expect((await refresh([account], NEW_INSTRUCTIONS)).json.changed).toEqual([]);
  });

  it('refreshes all accounts of a platform, except closed accounts', async () => {
    const closedPayer = await service.createPayer();
    await service.runJson('accounts', 'close', closedPayer.account);
    const { account } = await service.createPayer();
    const platformId = service.platform.id;
    const firstResult = (await refresh(['--platform', platformId], [])).json;
    expect(firstResult.accounts).toBeGreaterThan(firstResult.changed.length);
    expect(firstResult.changed).toContain(account);
    expect(firstResult.changed).not.toContain(closedPayer.account);
    const restoredOutput = await service.runJson(
      'accounts',
      'refresh-funding',
      '--platform',
      platformId,
    );
    expect(restoredOutput.changed).toEqual(firstResult.changed);
    expect(await readEmittedEvents(account)).toHaveLength(2);
  });

  it('requires collection accounts, a known ID and exactly one selection', async () => {
    const { account } = await service.createPayer();
    await expect(refresh([account], undefined)).rejects.toThrow(
      'No funding accounts are configured',
    );
    await expect(refresh(['unknown'], NEW_INSTRUCTIONS)).rejects.toThrow('Account not found.');
    await expect(refresh(['--platform', 'unknown'], NEW_INSTRUCTIONS)).rejects.toThrow(
      'Platform not found.',
    );
    for (const args of [[], [account, '--platform', service.platform.id]]) {
      await expect(refresh(args, NEW_INSTRUCTIONS)).rejects.toThrow('Either ACCOUNT or --platform');
    }
    expect(await readEmittedEvents(account)).toEqual([]);
  });
});
