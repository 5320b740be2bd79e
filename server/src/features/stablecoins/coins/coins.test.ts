// Registration, lists and issuance of tokens, and their supply accounts in the ledger.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  linkedFixture,
  newFixture,
  stablecoinFixture,
} from '../../../../test/kit/payments/stablecoins.ts';
import type { MintPort } from '../../../connectors/ports/stablecoins.ts';
import {
  circulatingTokensAccount,
  issuedTokensAccount,
  TOKEN_UNIT,
} from '../../../ledger/chart.ts';
import { ledgerAccounts } from '../../../runtime/committer/ledger-accounts.ts';
import { createWorker } from '../../../runtime/jobs/jobs.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import { createMetrics } from '../../../runtime/observability/metrics.ts';
import { schedulePoll } from '../minting/issuance-polls.ts';
import { MAX_UNITS } from '../minting/validation.ts';
import { stablecoins } from '../store.ts';
import { supplyProblems } from '../supply/reconciliation.ts';
import { openSupplyAccounts } from '../supply/supply-accounts.ts';
import { stablecoinJobs } from './coin-jobs.ts';

const SECOND = 1_000;

const app = testApp();

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];

describe('registerStablecoin', () => {
  it('reads the description of the token from the provider', async () => {
    const fixture = await linkedFixture(app);
    const body = {
      providerTokenIdentifier: 'acme-usd',
      networkTokenIdentifier: 'btkn1acme',
      network: 'SPARK',
    };
    const coin = ok(await fixture.write('/stablecoins', body), 201);
    expect(coin).toEqual({
      id: expect.stringMatching(/^Stablecoin:[0-9a-f-]{36}$/),
      ...body,
      name: 'Acme USD',
      symbol: 'ACMEUSD',
      baseCurrency: 'USD',
      decimals: 6,
      issuanceStatus: 'PROVISIONED',
      serviceOperationsStatus: 'NOT_ENABLED',
      provider: 'BRALE',
      stablecoinProviderAccountId: fixture.account.id,
      providerEnvironment: 'SANDBOX',
      createdAt: expect.any(String),
      updatedAt: coin.createdAt,
    });
    expect(ok(await fixture.read(`/stablecoins/${coin.id}`), 200)).toEqual(coin);
  });

  it('reports every invalid field in one response', async () => {
    const fixture = await linkedFixture(app);
    const invalidFields = { providerTokenIdentifier: '', network: 'ETHEREUM' };
    const response = await app.call('POST', '/stablecoins', invalidFields, {
      platform: fixture.platform,
    });
    expect(codeOf(response)).toEqual([400, 'INVALID_INPUT']);
    const fields = response.body.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual([
      'Idempotency-Key',
      'network',
      'networkTokenIdentifier',
      'providerTokenIdentifier',
    ]);
  });

  it.each([
    ['a token that the provider does not have', '004', {}],
    [
      'a token with another identifier on the network',
      '000',
      { networkTokenIdentifier: 'btkn1-002' },
    ],
  ])('rejects %s', async (_, suffix, overrides) => {
    const fixture = await linkedFixture(app);
    const response = await fixture.registerCoin(suffix, overrides);
    expect(codeOf(response)).toEqual([400, 'STABLECOIN_VERIFICATION_FAILED']);
    expect(ok(await fixture.read('/stablecoins'), 200).data).toEqual([]);
  });

  it('returns SERVICE_UNAVAILABLE if the provider does not respond', async () => {
    const fixture = await linkedFixture(app);
    expect(codeOf(await fixture.registerCoin('007'))).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(ok(await fixture.read('/stablecoins'), 200).data).toEqual([]);
  });

  it('replays the first reply under its key, including concurrently', async () => {
    const fixture = await linkedFixture(app);
    const body = fixture.tokenBody();
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => fixture.write('/stablecoins', body, 'once')),
    );
    expect(new Set(responses.map((each) => each.status))).toEqual(new Set([201]));
    expect(new Set(responses.map((each) => each.body.id)).size).toBe(1);
    const otherResponse = await fixture.write('/stablecoins', fixture.tokenBody(), 'once');
    expect(codeOf(otherResponse)).toEqual([409, 'CONFLICT']);
  });
});

describe('the provider account of a token', () => {
  it('must exist', async () => {
    const fixture = await newFixture(app);
    const NOT_FOUND = [404, 'STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND'];
    expect(codeOf(await fixture.registerCoin())).toEqual(NOT_FOUND);
    const { id } = await stablecoinFixture(app).createLinkedAccount();
    const registerWith = (stablecoinProviderAccountId: string) =>
      fixture.registerCoin('000', { stablecoinProviderAccountId });
    expect(codeOf(await registerWith(id))).toEqual(NOT_FOUND);
    expect(codeOf(await registerWith('StablecoinProviderAccount:none'))).toEqual(NOT_FOUND);
  });

  it('must be specified if two are active', async () => {
    const fixture = await linkedFixture(app);
    const invalidAccount = await fixture.createLinkedAccount('003');
    expect(codeOf(await fixture.registerCoin())).toEqual([
      400,
      'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
    ]);
    const accountField = { stablecoinProviderAccountId: invalidAccount.id };
    expect((await fixture.registerCoin('000', accountField)).body.code).toBe(
      'STABLECOIN_PROVIDER_ACCOUNT_INVALID',
    );
    const coin = ok(await fixture.registerCoin(), 201);
    expect(coin.stablecoinProviderAccountId).toBe(fixture.account.id);
  });
});

describe('a token that is already registered', () => {
  it('is recognized by its identifier first, then by its symbol', async () => {
    const fixture = await linkedFixture(app);
    const body = fixture.tokenBody();
    ok(await fixture.write('/stablecoins', body), 201);
    expect(codeOf(await fixture.write('/stablecoins', body))).toEqual([
      409,
      'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
    ]);
    const otherIdentifier = { networkTokenIdentifier: `${body.networkTokenIdentifier}-other` };
    expect(codeOf(await fixture.write('/stablecoins', { ...body, ...otherIdentifier }))).toEqual([
      409,
      'STABLECOIN_SYMBOL_ALREADY_EXISTS',
    ]);
    // Another platform can register the same identifier and symbol.
    const otherFixture = await linkedFixture(app);
    ok(await otherFixture.write('/stablecoins', body), 201);
  });

  it.each([
    ['symbol', 'STABLECOIN_SYMBOL_ALREADY_EXISTS', false],
    ['token', 'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS', true],
  ])(
    'is registered once by ten concurrent requests with the same %s',
    async (_, code, isSameToken) => {
      const fixture = await linkedFixture(app);
      const body = fixture.tokenBody();
      const networkOfAttempt = (attempt: number) =>
        isSameToken ? {} : { networkTokenIdentifier: `${body.networkTokenIdentifier}-${attempt}-` };
      const responses = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          fixture.write('/stablecoins', { ...body, ...networkOfAttempt(index) }),
        ),
      );
      expect(responses.map(codeOf).sort()).toEqual([
        [201, undefined],
        ...Array(9).fill([409, code]),
      ]);
      expect(ok(await fixture.read('/stablecoins'), 200).data).toHaveLength(1);
    },
  );
});

describe('issuance', () => {
  describe('getStablecoin', () => {
    it.each([
      ['001', 'PROVISIONING'],
      ['002', 'REJECTED'],
      ['003', 'FAILED'],
    ])('returns a token with the suffix %s as %s permanently', async (suffix, issuanceStatus) => {
      const fixture = await linkedFixture(app);
      const coin = ok(await fixture.registerCoin(suffix), 201);
      expect(coin.issuanceStatus).toBe(issuanceStatus);
      await app.advance(3_600 * SECOND);
      expect(ok(await fixture.read(`/stablecoins/${coin.id}`), 200)).toEqual(coin);
    });
  });

  it('continues automatically, without an event', async () => {
    const fixture = await linkedFixture(app);
    const coin = ok(await fixture.registerCoin('005'), 201);
    const statuses: string[] = [];
    const readCoin = async () => {
      const { issuanceStatus } = ok(await fixture.read(`/stablecoins/${coin.id}`), 200);
      statuses.push(issuanceStatus);
    };
    await readCoin();
    await app.advance(15 * SECOND - 1);
    await readCoin();
    await app.advance(1);
    await readCoin();
    await app.advance(15 * SECOND - 1);
    await readCoin();
    await app.advance(1);
    await readCoin();
    expect(statuses).toEqual([
      'PENDING_REVIEW',
      'PENDING_REVIEW',
      'PROVISIONING',
      'PROVISIONING',
      'PROVISIONED',
    ]);
    expect((await app.events()).filter(({ subject }) => subject === coin.id)).toEqual([]);
    const jobsSql = "select kind from jobs where kind like 'stablecoins.%'";
    expect(await app.runtime.db.query(jobsSql, [])).toEqual([]);
  });

  it.each(['002', '003'])(
    'that failed for the suffix %s releases the identifier and the symbol',
    async (suffix) => {
      const fixture = await linkedFixture(app);
      const body = fixture.tokenBody(suffix);
      const failedStablecoin = ok(await fixture.write('/stablecoins', body), 201);
      const repeatedBody = {
        ...body,
        providerTokenIdentifier: `${failedStablecoin.symbol.toLowerCase()}-000`,
      };
      const registeredStablecoin = ok(await fixture.write('/stablecoins', repeatedBody), 201);
      expect(registeredStablecoin.symbol).toBe(failedStablecoin.symbol);
      expect(codeOf(await fixture.write('/stablecoins', repeatedBody))).toEqual([
        409,
        'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
      ]);
      const otherBody = {
        ...repeatedBody,
        networkTokenIdentifier: `${body.networkTokenIdentifier}-x`,
      };
      expect(codeOf(await fixture.write('/stablecoins', otherBody))).toEqual([
        409,
        'STABLECOIN_SYMBOL_ALREADY_EXISTS',
      ]);
    },
  );
});

describe('listStablecoins', () => {
  it('lists newest first, in pages, with filters', async () => {
    const fixture = await linkedFixture(app);
    const ids: string[] = [];
    for (const suffix of ['000', '001', '000']) {
      app.effects.set(app.effects.now() + SECOND);
      ids.unshift(ok(await fixture.registerCoin(suffix), 201).id);
    }
    ok(await fixture.requestEnablement(ids[2] as string), 200);
    const list = async (query = '') => {
      const { data } = ok(await fixture.read(`/stablecoins${query}`), 200);
      return data.map((each: { id: string }) => each.id);
    };
    expect(await list()).toEqual(ids);
    const firstPage = ok(await fixture.read('/stablecoins?limit=2'), 200);
    expect(firstPage).toMatchObject({ hasMore: true, totalCount: 3 });
    expect(await list(`?limit=2&cursor=${firstPage.nextCursor}`)).toEqual([ids[2]]);
    expect(await list('?issuanceStatus=PROVISIONING')).toEqual([ids[1]]);
    expect(await list('?serviceOperationsStatus=PENDING_APPROVAL')).toEqual([ids[2]]);
    expect(await list('?serviceOperationsStatus=NOT_ENABLED&issuanceStatus=PROVISIONED')).toEqual([
      ids[0],
    ]);
    expect(await list('?provider=BRALE')).toEqual(ids);
    for (const query of ['?provider=ACME', '?issuanceStatus=GONE', '?limit=0', '?cursor=x']) {
      expect([query, (await fixture.read(`/stablecoins${query}`)).status]).toEqual([query, 400]);
    }
    const otherFixture = await newFixture(app);
    expect(ok(await otherFixture.read('/stablecoins'), 200).data).toEqual([]);
    expect(codeOf(await otherFixture.read(`/stablecoins/${ids[0]}`))).toEqual([
      404,
      'STABLECOIN_NOT_FOUND',
    ]);
  });
});

describe('supply accounts of a token', () => {
  const openSupply = (supply: bigint) =>
    app.operate(async (ctx) => {
      const id = ctx.id('Stablecoin');
      openSupplyAccounts(ctx, { id }, supply);
      return id;
    });

  it('are opened with the circulating supply', async () => {
    const id = await openSupply(1_500_000n);
    const [issuedAccount, circulatingAccount] = await Promise.all(
      [issuedTokensAccount(id), circulatingTokensAccount(id)].map((each) =>
        app.runtime.db.read(ledgerAccounts, each),
      ),
    );
    expect(issuedAccount).toMatchObject({ balance: -1_500_000n, currency: TOKEN_UNIT + id });
    expect(circulatingAccount).toMatchObject({ balance: 1_500_000n, floor: 0n });
    await expectBalancedBooks(app);
  });

  /** Polls a token three times concurrently. The provider reports PROVISIONED with this supply. */
  async function createProvisioned(supply: bigint) {
    const fixture = await linkedFixture(app);
    const { id } = ok(await fixture.registerCoin('001'), 201);
    const { mint } = app.connectorsOf('sandbox');
    const token: MintPort['token'] = async (link, name, time) => {
      const response = await (mint as MintPort).token(link, name, time);
      if (response.state !== 'found') return response;
      return { ...response, token: { ...response.token, issuance: 'PROVISIONED', supply } };
    };
    const connectors = () => ({ mint: { ...(mint as MintPort), token } });
    const worker = createWorker({
      runtime: app.runtime,
      handlers: stablecoinJobs({ connectors: connectors as never }),
      sweeps: [],
      log: createLog(app.effects, 'silent', () => {}),
      metrics: createMetrics(),
    });
    const readCirculating = async () =>
      (await app.runtime.db.read(ledgerAccounts, circulatingTokensAccount(id)))?.balance;
    expect(await readCirculating()).toBe(0n);
    await app.operate(async (ctx) => {
      const row = await ctx.read(stablecoins, id);
      for (let times = 0; row && times < 3; times++) schedulePoll(ctx, row);
    }, fixture.platform);
    while ((await worker.runDue()) > 0);
    const { issuanceStatus } = ok(await fixture.read(`/stablecoins/${id}`), 200);
    expect(await supplyProblems((text) => app.runtime.db.query(text))).toEqual([]);
    await expectBalancedBooks(app);
    return { id, issuanceStatus, circulatingSupply: await readCirculating() };
  }

  it('contain the circulating supply once the token is provisioned', async () => {
    for (const supply of [70_000n, MAX_UNITS]) {
      const result = await createProvisioned(supply);
      expect(result).toMatchObject({ issuanceStatus: 'PROVISIONED', circulatingSupply: supply });
    }
  });

  it('reject a supply above the maximum, and the token fails', async () => {
    for (const supply of [MAX_UNITS + 1n, 10n ** 30n]) {
      const { id, ...result } = await createProvisioned(supply);
      expect(result).toEqual({ issuanceStatus: 'FAILED', circulatingSupply: 0n });
      const actionsSql = 'select actor, action, reason from account_actions where account_id = $1';
      expect(await app.runtime.db.query(actionsSql, [id])).toEqual([
        {
          actor: 'service',
          action: 'fail',
          reason: 'The circulating supply exceeds the maximum of the ledger.',
        },
      ]);
    }
  });

  it('accept at most the maximum supply', async () => {
    expect(await openSupply(MAX_UNITS)).toContain('Stablecoin:');
    for (const supply of [MAX_UNITS + 1n, 10n ** 30n]) {
      await expect(openSupply(supply)).rejects.toMatchObject({
        code: 'STABLECOIN_VERIFICATION_FAILED',
      });
    }
    await expectBalancedBooks(app);
  });
});
