// Every scenario runs and has the outcome that it states.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SCENARIOS } from '../src/trigger/command.ts';
import { startTestServer } from './kit/cli.ts';
import { type Receiver, startReceiver } from './kit/receiver.ts';

const server = startTestServer('scenarios');
/** Webhook endpoint that approves payments from UMA addresses. */
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const OUTCOMES: Readonly<Record<string, RegExp>> = {
  'payout.completed': /of 100\.00 USD is COMPLETED/,
  'payout.failed': /FAILED: QUOTE_EXECUTION_FAILED/,
  'payout.refunded': /FAILED: COUNTERPARTY_POST_TX_FAILED\. The refund is COMPLETED/,
  'payout.returned': /FAILED: PAYOUT_RETURNED\. The refund is COMPLETED/,
  'payout.suspended': /FAILED/,
  'payout.processing': /PROCESSING/,
  'deposit.received': /1000\.00 USD/,
  'deposit.held': /balance 5\.000000 USDC, available 0\.000000 USDC/,
  'deposit.released': /5\.000000 USDC/,
  'uma.received': /COMPLETED/,
  'kyc.approved': /APPROVED/,
  'kyc.pending': /PENDING/,
  'kyc.rejected': /REJECTED/,
  'card.cleared': /SETTLED: 25\.00 USD of 25\.00 USD/,
  'card.partly-cleared': /PARTIALLY_SETTLED: 10\.00 USD of 25\.00 USD/,
  'card.refunded': /REFUNDED: 25\.00 USD of 25\.00 USD/,
  'card.declined': /declined/,
  'agent.paid': /APPROVED/,
  'agent.approval': /was PENDING_APPROVAL and is APPROVED/,
  'agent.rejected': /was PENDING_APPROVAL and is REJECTED/,
  'agent.over-limit': /may not exceed 500\.00 USD/,
};

it.each(SCENARIOS.map(({ name }) => name))(
  'the scenario %s has the expected outcome',
  async (name) => {
    if (name === 'uma.received') {
      const { err } = await server.cli.run(['trigger', name]);
      expect(err).toContain('railhead config update --webhook-endpoint URL');
      await server.client.config.updatePlatformConfig({ webhookEndpoint: receiver.url });
    }
    const { outcome, replies } = await server.cli.json('trigger', name);
    expect(outcome).toMatch(OUTCOMES[name] ?? /^$/);
    if (name === 'card.declined') expect(replies.payments.data).toEqual([]);
  },
);

it('trigger applies overrides, rejects unknown overrides, and lists the scenarios', async () => {
  const args = ['trigger', 'payout.completed', '--override', 'quote.lockedCurrencyAmount=5000'];
  const { out } = await server.cli.run([...args, '--override', 'customer.fullName=Grace Hopper']);
  expect(out).toMatch(/✓ customer +createCustomer +Customer:\S+ APPROVED/);
  expect(out).toMatch(/of 50\.00 USD is COMPLETED/);
  const invalidRun = await server.cli.run([
    'trigger',
    'payout.completed',
    '--override',
    'quot.x=1',
  ]);
  expect([invalidRun.code, invalidRun.err]).toEqual([
    2,
    expect.stringContaining('Did you mean quote?'),
  ]);
  const list = await server.cli.run(['trigger', '--list']);
  for (const { name } of SCENARIOS) expect(list.out).toContain(name);
});
