// Requirements for every connector. Each connector is tested for the ports that it implements.
// The requirements of only one connector are tested in its folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { startIdentityService } from '../../../test/kit/http/identity-service.ts';
import { startMailServer } from '../../../test/kit/http/mail-server.ts';
import { startReceiver } from '../../../test/kit/http/webhook-receiver.ts';
import { offersOf } from '../../../test/kit/payments/connectors.ts';
import { exampleOf } from '../../catalog/accounts/account-examples.ts';
import { railsOf, sandboxSuffixOf } from '../../catalog/accounts/account-info.ts';
import { ACCOUNT_TYPES, type AccountType } from '../../catalog/accounts/account-types.ts';
import { CURRENCIES } from '../../catalog/currencies/currencies.ts';
import { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import { fieldErrors } from '../../kernel/contract/validate.ts';
import { connectorRegistry } from '../registry.ts';
import type { IdentityCase, PaymentFunding, Progress, RailInstruction } from './index.ts';

const effects = testEffects();
const NOW = effects.now();
const folder = mkdtempSync(path.join(os.tmpdir(), 'connectors-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ratesFile = path.join(folder, 'rates.csv');
writeFileSync(
  ratesFile,
  `base,USD\nat,${new Date(NOW).toISOString()}\nEUR,0.9154\nJPY,157.23\nMXN,17.0512\nBTC,0.0000112\n`,
);
const fundingFile = path.join(folder, 'funding.json');
writeFileSync(
  fundingFile,
  JSON.stringify({
    USD: [
      {
        accountOrWalletInfo: {
          ...{ accountType: 'USD_ACCOUNT', accountNumber: '12345678', routingNumber: '021000021' },
          ...{ bankName: 'First Bank', paymentRails: ['ACH', 'RTP'] },
        },
      },
    ],
    EUR: [
      {
        accountOrWalletInfo: {
          ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
          ...{ swiftCode: 'COBADEFF', paymentRails: ['SEPA_INSTANT'] },
        },
      },
    ],
  }),
);

const settings = { ratesFile, fundingFile };
const registry = connectorRegistry(effects, settings);

/** Suffixes that script the sandbox. Other connectors ignore them. */
const SUFFIXES = ['000', '001', '002', '003', '004', '005', '006', '007'];

function instruction(type: AccountType, overrides: Partial<RailInstruction> = {}): RailInstruction {
  const account = exampleOf(type);
  const rail = railsOf(account)[0] ?? null;
  return {
    ...{ id: `Transaction:${type}`, platformId: 'PlatformConfig:1', kind: 'payout' as const },
    reference: 'RH0123456789ABCDEF',
    ...{ origin: 'quote' as const, rail, currency: 'USD', amount: 10_000n, account, sentAt: NOW },
    ...overrides,
  };
}

const instructionWith = (suffix: string): RailInstruction =>
  instruction('USD_ACCOUNT', {
    account: { ...exampleOf('USD_ACCOUNT'), accountNumber: `123456${suffix}` },
  });

describe.each(offersOf('rail', effects))(
  'the rail of the %s connector in %s',
  (_name, mode, rail) => {
    const everyInstruction = [
      ...ACCOUNT_TYPES.map((type) => instruction(type)),
      ...SUFFIXES.map(instructionWith),
      ...SUFFIXES.map((suffix) => ({ ...instructionWith(suffix), origin: 'transfer' as const })),
      instruction('USD_ACCOUNT', { kind: 'debit', rail: 'ACH' }),
      instruction('USD_ACCOUNT', { kind: 'refund', rail: null }),
    ];

    it('treats a second submission of an instruction as the first', async () => {
      for (const railInstruction of everyInstruction) {
        const firstProgress = await rail.send(railInstruction);
        expect(await rail.send({ ...railInstruction })).toEqual(firstProgress);
        expect(await Promise.all([rail.send(railInstruction), rail.send(railInstruction)])).toEqual(
          [firstProgress, firstProgress],
        );
        const laterProgress = await rail.check(railInstruction, NOW + 60_000);
        await rail.send(railInstruction);
        expect(await rail.check(railInstruction, NOW + 60_000)).toEqual(laterProgress);
      }
    });

    it('returns a time of the next poll for unknown, and a reference for settled', async () => {
      const assertProgress = (progress: Progress) => {
        const { checkAfterMs } = progress as { checkAfterMs?: number };
        if (checkAfterMs !== undefined) {
          expect(Number.isFinite(checkAfterMs) && checkAfterMs >= 0).toBe(true);
        }
        if (progress.state === 'unknown') expect(checkAfterMs).toBeGreaterThan(0);
        if (progress.state === 'settled') expect(progress.reference).not.toBe('');
      };
      for (const railInstruction of everyInstruction) {
        assertProgress(await rail.send(railInstruction));
        for (const elapsedMs of [0, 1_000, 3_000, 31_000, 600_000]) {
          assertProgress(await rail.check(railInstruction, NOW + elapsedMs));
        }
      }
    });

    it('reaches a final state, or waits for a notification, with checks at the returned times', async () => {
      for (const railInstruction of everyInstruction) {
        let progress = await rail.send(railInstruction);
        let now = NOW;
        for (let count = 0; count < 20; count++) {
          const { checkAfterMs } = progress as { checkAfterMs?: number };
          if (checkAfterMs === undefined) break;
          now += checkAfterMs;
          progress = await rail.check(railInstruction, now);
        }
        expect((progress as { checkAfterMs?: number }).checkAfterMs).toBeUndefined();
        expect(progress.state).not.toBe('unknown');
      }
    });

    it('sends over supported rails and rejects others', async () => {
      for (const type of ACCOUNT_TYPES) {
        const payout = instruction(type);
        if (SUFFIXES.includes(sandboxSuffixOf(payout.account))) continue; // may be scripted to fail
        const { state } = await rail.send(payout);
        expect([type, state !== 'failed']).toEqual([type, rail.supportsPayout(type, payout.rail)]);
        const debit = await rail.send({ ...payout, kind: 'debit', origin: 'transfer' });
        if (mode === 'production') {
          const isDebitSupported = rail.supportsDebit?.(type, payout.rail) ?? false;
          expect([type, debit.state !== 'failed']).toEqual([type, isDebitSupported]);
        }
      }
      expect(rail.supportsDebit?.('USD_ACCOUNT', 'ACH')).toBe(true);
      expect(rail.supportsDebit?.('EUR_ACCOUNT', 'SEPA')).toBe(false);
    });
  },
);

const RATE_OFFERS = offersOf('rates', effects, settings);

describe.each(RATE_OFFERS)('the rates of the %s connector in %s', (_name, _mode, rates) => {
  it('have an inverse, and a time in the past', async () => {
    const codes = ['USD', 'EUR', 'JPY', 'MXN', 'BTC'];
    for (const from of codes) {
      for (const to of codes) {
        if (from === to) continue;
        const [rate, inverse] = await Promise.all([rates.rate(from, to), rates.rate(to, from)]);
        if (!rate || !inverse) throw new Error(`The connector has no rate from ${from} to ${to}.`);
        expect(rate.at).toBeLessThanOrEqual(NOW);
        expect(rate.rate.num > 0n && rate.rate.den > 0n).toBe(true);
        expect([from, to, rate.rate.num * inverse.rate.num]).toEqual([
          ...[from, to],
          rate.rate.den * inverse.rate.den,
        ]);
      }
    }
    expect(await rates.rate('USD', 'XXX')).toBeUndefined();
    expect(await rates.rate('XXX', 'USD')).toBeUndefined();
  });
});

const FUNDING_OFFERS = offersOf('funding', effects, settings);

describe.each(FUNDING_OFFERS)('the funding of the %s connector in %s', (_name, _mode, funding) => {
  const idAt = (number: number) =>
    `InternalAccount:018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
  const instructionsOf = (number: number, currency: string) =>
    funding.instructions({ accountId: idAt(number), currency, owner: 'customer' });

  it('is the same for one account, and differs between accounts', () => {
    for (const { code } of CURRENCIES) {
      const instructionLists = Array.from({ length: 25 }, (_, index) =>
        instructionsOf(index, code),
      );
      expect(instructionsOf(7, code)).toEqual(instructionLists[7]);
      if (instructionLists[0]?.length)
        expect(new Set(instructionLists.map((each) => JSON.stringify(each))).size).toBe(25);
      for (const each of instructionLists[0] ?? []) {
        expect(fieldErrors(PaymentInstructions, each, 'body')).toEqual([]);
      }
    }
    expect(instructionsOf(1, 'USD')).not.toEqual([]);
  });

  it('returns the same instructions, with the reference, for the same payment', async () => {
    const payment: PaymentFunding = {
      ...{ transactionId: 'Transaction:018f0000-0000-7000-8000-000000000001', currency: 'EUR' },
      ...{ reference: 'RH018F0000000070008000000000000001', amount: 12_345n },
      ...{ owner: 'customer', at: NOW, expiresAt: NOW + 300_000 },
    };
    const instructions = (await funding.forPayment?.(payment)) ?? [];
    expect(instructions).not.toEqual([]);
    expect(await funding.forPayment?.(payment)).toEqual(instructions);
    expect(JSON.stringify(instructions)).toContain(payment.reference);
    for (const each of instructions) {
      expect(fieldErrors(PaymentInstructions, each, 'body')).toEqual([]);
    }
  });
});

describe.each(offersOf('names', effects))(
  'the name checks of the %s connector in %s',
  (_name, _mode, names) => {
    it('have a result when polled at the returned times', async () => {
      for (const suffix of [...SUFFIXES, '102', '103', '104', '105', '106', '107']) {
        const { account } = instructionWith(suffix);
        let elapsedMs = 0;
        for (let count = 0; count < 20; count++) {
          const check = await names.verify(account, elapsedMs);
          expect(await names.verify(account, elapsedMs)).toEqual(check);
          if (check.status !== 'PENDING') break;
          expect(check.checkAfterMs).toBeGreaterThan(0);
          elapsedMs += check.checkAfterMs;
        }
        expect((await names.verify(account, elapsedMs))?.status).not.toBe('PENDING');
      }
    });
  },
);

/** Message senders, each with a local server and a function that sets its response. */
const MESSENGERS = [
  [
    'mail',
    async () => {
      const peer = await startMailServer();
      const { mail } = connectorRegistry(effects, { smtpUrl: peer.url, mailFrom: 'a@example.com' })(
        'production',
      );
      const responses = { sent: 250, rejected: 550, failed: 451 };
      return {
        peer,
        send: (to: string, id: string) => mail?.send({ id, to, subject: 'Hi', text: 'SECRET' }),
        answer: (outcome: keyof typeof responses, to: string) =>
          outcome === 'sent' ? undefined : peer.reject(to, responses[outcome]),
        ids: () =>
          peer.receivedMail.map(({ rawText }) => /^Message-ID: (.*)$/im.exec(rawText)?.[1]),
      };
    },
  ],
  [
    'sms',
    async () => {
      const peer = await startReceiver();
      const { sms } = connectorRegistry(effects, { smsUrl: peer.url })('production');
      const responses = { sent: 202, rejected: 422, failed: 429 };
      return {
        peer,
        send: (to: string, id: string) => sms?.send({ id, to, text: 'SECRET' }),
        answer: (outcome: keyof typeof responses) => peer.behave(responses[outcome]),
        ids: () => peer.arrivals.map(({ id }) => id),
      };
    },
  ],
] as const;

describe.each(MESSENGERS)('the %s connector', (_name, start) => {
  it('distinguishes sent from rejected messages, and throws other errors without the text', async () => {
    const { peer, send, answer, ids } = await start();
    const to = 'bo@example.org';
    answer('sent', to);
    expect([await send(to, 'Message:1'), await send(to, 'Message:1')]).toEqual(['sent', 'sent']);
    expect(ids()).toHaveLength(2);
    expect(ids()[0]).toContain('1');
    expect(new Set(ids()).size).toBe(1);
    answer('rejected', 'no@example.org');
    expect(await send('no@example.org', 'Message:2')).toBe('rejected');
    answer('failed', 'later@example.org');
    for (const isClosed of [false, true]) {
      if (isClosed) await peer.close();
      const thrown = await send('later@example.org', 'Message:3')?.catch((error: Error) => error);
      expect(thrown).toBeInstanceOf(Error);
      const { message, stack } = thrown as Error;
      expect(`${message} ${stack}`).not.toMatch(/later@example|SECRET/);
    }
  });

  it('is absent without its setting, and always in the sandbox', () => {
    const portsWithoutSettings = connectorRegistry(effects)('production');
    const allSettings = { smtpUrl: 'smtps://a', mailFrom: 'a@example.com', smsUrl: 'https://a' };
    const sandbox = connectorRegistry(effects, allSettings)('sandbox');
    for (const { mail, sms } of [portsWithoutSettings, sandbox])
      expect([mail, sms]).toEqual([undefined, undefined]);
  });
});

/** An operator's service that reports a review for the first two requests of a case. */
const service = await startIdentityService();
afterAll(() => service.close());
service.respondWith((reply, { id }) => {
  const requestCount = service.cases.filter((each) => each.id === id).length;
  const verdict =
    requestCount < 3 ? { state: 'review', checkAfterMs: 5_000 } : { state: 'approved' };
  reply.writeHead(200).end(JSON.stringify(verdict));
});
const unreachableService = await startIdentityService();
afterAll(() => unreachableService.close());
unreachableService.respondWith((reply) => reply.socket?.destroy());
const IDENTITY_CONNECTORS = [
  ['sandbox', registry('sandbox').identity],
  ['bridge', connectorRegistry(effects, { identityUrl: service.url })('production').identity],
  [
    'unreachable',
    connectorRegistry(effects, { identityUrl: unreachableService.url })('production').identity,
  ],
] as const;

describe.each(IDENTITY_CONNECTORS)('the identity checks of the %s connector', (name, identity) => {
  const documents: IdentityCase['documents'] = [
    { id: 'Document:1', holder: 'Customer:1', documentType: 'PASSPORT', country: 'US' },
  ];
  const cases = [...SUFFIXES, ''].flatMap((suffix): IdentityCase[] => {
    const commonFields = {
      ...{ platformId: 'PlatformConfig:1', customerId: 'Customer:1', identifier: null },
      ...{ email: null, phoneNumber: null, documents },
    };
    const personalInfo = { lastName: `Hopper${suffix}` };
    const owners = [
      { id: 'BeneficialOwner:1', roles: ['UBO'], ownershipPercentage: 50, personalInfo },
    ];
    const details = { businessInfo: { registrationNumber: `REG${suffix}` } };
    const fullName = `Ada Lovelace${suffix}`;
    return [
      { ...commonFields, id: `P${suffix}`, type: 'INDIVIDUAL', details: { fullName }, owners: [] },
      { ...commonFields, id: `B${suffix}`, type: 'BUSINESS', details, owners },
    ];
  });

  it('reach a final state, or wait for an operator, when polled at the returned times', async () => {
    for (const identityCase of cases) {
      let verdict = await identity?.submit(identityCase);
      for (let count = 0; count < 5; count++) {
        if (verdict?.state !== 'review' && verdict?.state !== 'unknown') break;
        if (verdict.checkAfterMs === undefined) break;
        expect(verdict.checkAfterMs).toBeGreaterThan(0);
        verdict = await identity?.check(identityCase);
      }
      if (name === 'unreachable') expect(verdict?.state).toBe('unknown');
      else expect((verdict as { checkAfterMs?: number }).checkAfterMs).toBeUndefined();
      if (verdict?.state === 'unresolved') expect(verdict.findings).not.toEqual([]);
    }
  });

  it('treat a second submission of a case as the first', async () => {
    for (const identityCase of cases) {
      const firstVerdict = await identity?.submit(identityCase);
      expect(await identity?.submit({ ...identityCase })).toEqual(firstVerdict);
    }
  });
});

describe('production', () => {
  it('has a rail other than that of the sandbox, and no optional connector by default', () => {
    const portsWithoutSettings = connectorRegistry(effects)('production');
    const sandbox = connectorRegistry(effects)('sandbox');
    expect(portsWithoutSettings.rail).toBeDefined();
    expect(portsWithoutSettings.rail).not.toBe(sandbox.rail);
    const { rates, funding, names, identity, uma } = portsWithoutSettings;
    expect([rates, funding, names, identity, uma]).toEqual(Array(5).fill(undefined));
  });
});
