// Ledger postings of payouts, internal payments and deposits: holds, transfers, and the final balance of
// the rails.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
let options: { platform: TestPlatform };
let platformUsd: string;
beforeAll(async () => {
  options = { platform: await app.newPlatform('Bookkeeper') };
  platformUsd = (await findInternalAccount(app, null, 'USD', options)).id;
});

/** A posting as `phase step: debit > credit amount currency`, accounts by their role in the payment. */
async function readPostings(id: string, roles: Record<string, string>): Promise<string[]> {
  const rows = await app.runtime.db.query(
    'select * from ledger_transfers where transaction_id = $1',
    [id],
  );
  const nameOf = (account: unknown) => {
    const text = String(account);
    return roles[text] ?? text.replace('system:sandbox:', '').replace(/:[A-Z]{3}$/, '');
  };
  const postings = rows.map(
    (row) =>
      `${row.phase} ${row.step}: ${nameOf(row.debit)} > ${nameOf(row.credit)} ${row.amount} ${row.currency}`,
  );
  return postings.sort();
}

const FEE = {
  platformFeeOverride: {
    platformFixedFee: { amount: 50, currency: 'USD' },
    platformVariableFeeBps: 30,
  },
};

async function pay(currency: string, suffix: string, overrides: object = FEE) {
  const { person, account } = await createFundedCustomer(app, 1_000_00, options);
  const target = await createExternalAccount(app, person.id, currency, suffix, options);
  const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true, ...overrides });
  const quote = ok(await app.call('POST', '/quotes', body, options), 201);
  const id = quote.transactionId as string;
  const readPaymentPostings = () =>
    readPostings(id, { [account.id]: 'payer', [platformUsd]: 'platform' });
  return { id, readPaymentPostings };
}

const HELD_POSTINGS = [
  'pending fee.service: payer > fees 50 USD',
  'pending fee.platform: payer > platform 80 USD',
  'pending sell: payer > fx_position 9870 USD',
];
const SUBMITTED_POSTINGS = [
  'post fee.service!: payer > fees 50 USD',
  'post fee.platform!: payer > platform 80 USD',
  'post sell!: payer > fx_position 9870 USD',
  'posted buy: fx_position > rail_in_transit 9080 EUR',
];
const SETTLED_POSTINGS = ['posted settle: rail_in_transit > external_settlement 9080 EUR'];
const RELEASED_POSTINGS = [
  'void fee.service!: payer > fees 50 USD',
  'void fee.platform!: payer > platform 80 USD',
  'void sell!: payer > fx_position 9870 USD',
];
const REFUNDED_POSTINGS = [
  'posted refund.buy: rail_in_transit > fx_position 9080 EUR',
  'posted refund.sell: fx_position > payer 9870 USD',
  'posted refund.fee.platform: platform > payer 80 USD',
  'posted refund.fee.service: fees > payer 50 USD',
];
const REVERSED_POSTINGS = ['posted refund.settle: external_settlement > rail_in_transit 9080 EUR'];

describe('payout in another currency', () => {
  it.each<[string, string, string[]]>([
    ['000', 'arrives', [...HELD_POSTINGS, ...SUBMITTED_POSTINGS, ...SETTLED_POSTINGS]],
    ['002', 'is rejected before submission', [...HELD_POSTINGS, ...RELEASED_POSTINGS]],
    ['003', 'arrives late', [...HELD_POSTINGS, ...SUBMITTED_POSTINGS, ...SETTLED_POSTINGS]],
    [
      '004',
      'fails after submission',
      [...HELD_POSTINGS, ...SUBMITTED_POSTINGS, ...REFUNDED_POSTINGS],
    ],
    [
      '005',
      'is returned',
      [
        ...HELD_POSTINGS,
        ...SUBMITTED_POSTINGS,
        ...SETTLED_POSTINGS,
        ...REVERSED_POSTINGS,
        ...REFUNDED_POSTINGS,
      ],
    ],
    ['006', 'is canceled', [...HELD_POSTINGS, ...SUBMITTED_POSTINGS, ...REFUNDED_POSTINGS]],
    [
      '007',
      'fails and cannot be refunded',
      [
        ...HELD_POSTINGS,
        ...SUBMITTED_POSTINGS,
        ...REFUNDED_POSTINGS.map((each) => each.replace('> payer', '> suspense')),
      ],
    ],
  ])(
    'posts the legs of every step: account suffix %s, %s',
    async (suffix, _description, expectedPostings) => {
      const { readPaymentPostings } = await pay('EUR', suffix);
      expect(await readPaymentPostings()).toEqual(HELD_POSTINGS.toSorted());
      await app.advance(6 * 60_000);
      expect(await readPaymentPostings()).toEqual(expectedPostings.toSorted());
    },
  );
});

describe('payout in the same currency', () => {
  const heldPostings = [
    'pending fee.platform: payer > platform 80 USD',
    'pending pay: payer > rail_in_transit 9920 USD',
  ];
  const submittedPostings = [
    'post fee.platform!: payer > platform 80 USD',
    'post pay!: payer > rail_in_transit 9920 USD',
  ];
  const settledPostings = ['posted settle: rail_in_transit > external_settlement 9920 USD'];
  const refundedPostings = [
    'posted refund.pay: rail_in_transit > payer 9920 USD',
    'posted refund.fee.platform: platform > payer 80 USD',
  ];
  it.each<[string, string[]]>([
    ['000', [...heldPostings, ...submittedPostings, ...settledPostings]],
    ['004', [...heldPostings, ...submittedPostings, ...refundedPostings]],
    [
      '005',
      [
        ...heldPostings,
        ...submittedPostings,
        ...settledPostings,
        'posted refund.settle: external_settlement > rail_in_transit 9920 USD',
        ...refundedPostings,
      ],
    ],
  ])('posts the legs of every step: account suffix %s', async (suffix, expectedPostings) => {
    const { readPaymentPostings } = await pay('USD', suffix);
    await app.advance(60_000);
    expect(await readPaymentPostings()).toEqual(expectedPostings.toSorted());
  });

  it('posts one transfer with a hold for transfer-out', async () => {
    const { person, account } = await createFundedCustomer(app, 1_000_00, options);
    const target = await createExternalAccount(app, person.id, 'USD', '000', options);
    const body = {
      source: { accountId: account.id },
      destination: { accountId: target.id },
      amount: 1_00,
    };
    const { id } = ok(await app.call('POST', '/transfer-out', body, options), 201);
    await app.settle();
    expect(await readPostings(id, { [account.id]: 'payer' })).toEqual([
      'pending pay: payer > rail_in_transit 100 USD',
      'post pay!: payer > rail_in_transit 100 USD',
      'posted settle: rail_in_transit > external_settlement 100 USD',
    ]);
  });
});

describe('payment between internal accounts', () => {
  async function readInternalPostings(currency: string, overrides: object = {}) {
    const { account } = await createFundedCustomer(app, 1_000_00, options);
    const payee = await createCustomer(app, options);
    const target = await findInternalAccount(app, payee.id, currency, options);
    const body = quoteBody(account.id, target.id, 100_00, {
      immediatelyExecute: true,
      ...overrides,
    });
    const quote = ok(await app.call('POST', '/quotes', body, options), 201);
    const roles = { [account.id]: 'payer', [target.id]: 'payee', [platformUsd]: 'platform' };
    return readPostings(quote.transactionId, roles);
  }

  it('converts and credits immediately', async () => {
    expect(await readInternalPostings('EUR', FEE)).toEqual([
      'posted buy: fx_position > payee 9080 EUR',
      'posted fee.platform: payer > platform 80 USD',
      'posted fee.service: payer > fees 50 USD',
      'posted sell: payer > fx_position 9870 USD',
    ]);
  });

  it('posts one transfer in the same currency', async () => {
    expect(await readInternalPostings('USD')).toEqual(['posted pay: payer > payee 10000 USD']);
  });
});

describe('deposit', () => {
  it('debits the rail in transit and credits the account', async () => {
    const person = await createCustomer(app, options);
    const account = await findInternalAccount(app, person.id, 'USD', options);
    await fundAccount(app, account.id, 12_34, options);
    const { data } = ok(
      await app.call('GET', `/transactions?customerId=${person.id}`, undefined, options),
      200,
    );
    expect(await readPostings(data[0].id, { [account.id]: 'payee' })).toEqual([
      'posted deposit: rail_in_transit > payee 1234 USD',
    ]);
  });
});

describe('system accounts', () => {
  it('separate sandbox and production', async () => {
    const rows = await app.runtime.db.query(
      "select id from ledger_accounts where id like 'system:production:%' and (balance <> 0 or held <> 0)",
      [],
    );
    expect(rows).toEqual([]);
  });

  it('have a rail in transit of zero after every payment is final', async () => {
    await app.advance(10 * 60_000);
    // Without deposits, every posting into the rail in transit is followed by a posting out of it.
    const [row] = await app.runtime.db.query(
      `select sum(case when split_part(credit, ':', 3) = 'rail_in_transit' then amount
        else -amount end)::text as net
        from ledger_transfers where phase in ('posted', 'post') and step <> 'deposit'
          and (credit like 'system:%:rail_in_transit:%' or debit like 'system:%:rail_in_transit:%')`,
      [],
    );
    expect(row?.net).toBe('0');
  });
});
