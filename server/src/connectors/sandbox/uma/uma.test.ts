// The hosts and the scripted addresses of the sandbox, with the outcome of each.
import { describe, expect, it } from 'vitest';
import { UMA_PROVIDERS } from '../../../catalog/rails/uma-providers.ts';
import { STATUS_OF } from '../../../kernel/fault.ts';
import type { UmaPayment } from '../../ports/index.ts';
import { sandboxUma } from './uma.ts';
import { UMA_SCRIPTS, umaCurrency } from './uma-addresses.ts';

const DOMAIN = 'uma.sandbox.test';
const MINUTE_MS = 60_000;
const NOW = 1_000_000;
const port = sandboxUma(DOMAIN);

const discoverPayee = (receiver: string) =>
  port.discoverPayee({ receiver, sender: '$a@b.example', at: NOW });
const payment = (receiver: string, overrides: Partial<UmaPayment> = {}): UmaPayment => ({
  id: 'Transaction:1',
  sender: '$a@b.example',
  receiver,
  currency: 'USD',
  amount: 10_00n,
  payerData: { FULL_NAME: 'Ada Lovelace' },
  at: NOW,
  ...overrides,
});
const referencedPayment = (receiver: string) => ({
  ...payment(receiver),
  reference: 'Transaction:1',
});

describe('hosts', () => {
  it('are the configured host, both documented spellings, and the listed providers', () => {
    for (const host of [
      DOMAIN,
      'sandbox.uma.money',
      'sandbox.northwind.uma.money',
      'montera.example',
    ]) {
      expect([host, port.reaches(`$any@${host}`)]).toEqual([host, true]);
    }
    for (const host of ['uma.money', 'sandbox.uma.money.example', 'a.b.uma.money', 'test']) {
      expect([host, port.reaches(`$any@${host}`)]).toEqual([host, false]);
    }
  });

  it('have the same receiver names, ignoring case', async () => {
    for (const host of [DOMAIN, 'sandbox.uma.money', 'SANDBOX.Northwind.uma.money']) {
      expect(await discoverPayee(`$Success.USD@${host}`)).toMatchObject({ state: 'found' });
      expect(await discoverPayee(`$unknown@${host}`)).toMatchObject({ code: 'UMA_NOT_FOUND' });
    }
  });

  it('of listed providers have receivers only in their own currencies', async () => {
    const { domain } = UMA_PROVIDERS.find((each) => !each.currencies.includes('EUR'))!;
    expect(await discoverPayee(`$success.usd@${domain}`)).toMatchObject({ state: 'found' });
    expect(await discoverPayee(`$success.eur@${domain}`)).toMatchObject({ code: 'UMA_NOT_FOUND' });
  });
});

describe('documented addresses', () => {
  it.each([
    ['$success.usd', 'USD'],
    ['$success.eur', 'EUR'],
    ['$success.mxn', 'MXN'],
  ])('include %s, which accepts %s and is paid immediately', async (name, currency) => {
    const receiver = `${name}@${DOMAIN}`;
    const discoveryReply = await discoverPayee(receiver);
    expect(discoveryReply).toMatchObject({ state: 'found', currencies: [umaCurrency(currency)] });
    const paymentReply = await port.payRequest(payment(receiver, { currency }));
    expect(paymentReply).toMatchObject({ state: 'accepted', reference: 'Transaction:1' });
    expect(await port.send(referencedPayment(receiver))).toEqual({
      state: 'settled',
      reference: 'Transaction:1',
      checkAfterMs: undefined,
    });
  });

  it('include $pending.long.usd, which settles after six minutes', async () => {
    const request = referencedPayment(`$pending.long.usd@${DOMAIN}`);
    expect(await port.payRequest(request)).toMatchObject({ state: 'accepted' });
    expect(await port.send(request)).toMatchObject({
      state: 'accepted',
      checkAfterMs: 6 * MINUTE_MS,
    });
    const earlyProgress = await port.check(request, NOW + 6 * MINUTE_MS - 1);
    expect(earlyProgress).toMatchObject({ state: 'accepted', checkAfterMs: 1 });
    expect(await port.check(request, NOW + 6 * MINUTE_MS)).toMatchObject({ state: 'settled' });
  });

  it('include $fail.compliance.usd, which accepts and then fails', async () => {
    const request = referencedPayment(`$fail.compliance.usd@${DOMAIN}`);
    expect(await port.payRequest(request)).toMatchObject({ state: 'accepted' });
    expect(await port.send(request)).toMatchObject({ state: 'accepted', checkAfterMs: 2_000 });
    const progress = await port.check(request, NOW + 2_000);
    expect(progress).toMatchObject({ state: 'failed', reason: 'COMPLIANCE_REJECTED' });
  });

  it('include $non.existent.usd, which is not found', async () => {
    const receiver = `$non.existent.usd@${DOMAIN}`;
    expect(await discoverPayee(receiver)).toMatchObject({
      state: 'rejected',
      code: 'UMA_NOT_FOUND',
    });
    expect(await port.payRequest(payment(receiver))).toMatchObject({ code: 'UMA_NOT_FOUND' });
  });
});

describe('scripted rejections', () => {
  const rejectingScripts = UMA_SCRIPTS.filter((each) => each.name.startsWith('$error.'));

  it('have unique names', () => {
    expect(new Set(UMA_SCRIPTS.map((each) => each.name)).size).toBe(UMA_SCRIPTS.length);
    expect(rejectingScripts.length).toBeGreaterThan(25);
  });

  it.each(rejectingScripts.map((each) => [each.name, each] as const))(
    'include %s with its error code',
    async (name, script) => {
      const receiver = `${name}@${DOMAIN}`;
      const rejection = script.rejectedAt!;
      const code = 'discovery' in rejection ? rejection.discovery : rejection.payRequest;
      expect(name.endsWith(code.toLowerCase().replaceAll('_', '-'))).toBe(true);
      expect(STATUS_OF[code]).toBeGreaterThanOrEqual(400);
      const expectedDiscovery =
        'discovery' in rejection ? { state: 'rejected', code } : { state: 'found' };
      expect(await discoverPayee(receiver)).toMatchObject(expectedDiscovery);
      expect(await port.payRequest(payment(receiver))).toMatchObject({ state: 'rejected', code });
    },
  );
});

describe('a payment request', () => {
  const receiver = `$success.usd@${DOMAIN}`;

  it('is rejected in another currency', async () => {
    const reply = await port.payRequest(payment(receiver, { currency: 'EUR' }));
    expect(reply).toMatchObject({ code: 'INVALID_CURRENCY' });
  });

  it('is rejected below the minimum and above the maximum', async () => {
    const { min, max } = umaCurrency('USD');
    const request = async (amount: bigint) => port.payRequest(payment(receiver, { amount }));
    expect(await request(min - 1n)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
    expect(await request(max + 1n)).toMatchObject({ code: 'AMOUNT_OUT_OF_RANGE' });
    expect(await request(min)).toMatchObject({ state: 'accepted' });
    expect(await request(max)).toMatchObject({ state: 'accepted' });
  });

  it('is rejected without required data of the payer', async () => {
    const reply = await port.payRequest(payment(receiver, { payerData: { BIRTH_DATE: 'x' } }));
    expect(reply).toMatchObject({ code: 'MISSING_MANDATORY_USER_INFO' });
  });
});
