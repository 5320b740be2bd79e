// Reset of a sandbox platform: removed data, retained data, and no effect on other platforms.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../test/kit/app/harness.ts';
import { createOneOfEach } from '../../../../test/kit/app/one-of-each.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import { documentForm, pdfFile } from '../../../../test/kit/http/documents.ts';
import { RESET_RULES } from '../../../features.ts';
import { fileReset } from '../../../runtime/files/files.ts';
import { idempotencyReset } from '../../../runtime/operation/idempotency.ts';

const app = testAppForEach();

const reset = (body?: object, options: CallOptions = {}) =>
  app.call('POST', '/sandbox/reset', body, options);

async function pay(options: CallOptions = {}, suffix = '000') {
  const { person, account } = await createFundedCustomer(app, 1_000_00, options);
  const target = await createExternalAccount(app, person.id, 'EUR', suffix, options);
  const body = quoteBody(account.id, target.id, 100_00);
  const quote = ok(await app.call('POST', '/quotes', body, options), 201);
  ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options), 200);
  return { person, account, quote };
}

/** Number of rows of the platform by table. Tables without such rows are absent. */
async function rowCountsOf(platformId: string): Promise<Record<string, number>> {
  const tables = await app.runtime.db.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where column_name = 'platform_id' and table_schema = current_schema()
        and table_name not like 'api_request%'`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await app.runtime.db.query<{ count: number }>(
      `select count(*)::int as count from "${name}" where platform_id = $1`,
      [platformId],
    );
    if (row?.count) counts[name] = row.count;
  }
  return counts;
}

describe('resetSandbox', () => {
  it('removes all data except configuration, tokens and accounts of the platform', async () => {
    await createOneOfEach(app, app.platform);
    await pay();
    await pay({}, '003');
    await app.settle();
    const rowsBefore = await rowCountsOf(app.platform.id);
    expect(Object.keys(rowsBefore).length).toBeGreaterThan(30);
    const { removed } = ok(await reset(), 200);
    expect(removed.customers).toBe(rowsBefore.customers);
    expect(removed.transactions).toBe(rowsBefore.transactions);
    expect(removed.rows).toBeGreaterThan(200);
    const rowsAfter = await rowCountsOf(app.platform.id);
    const { jobs: _jobs, files: _files, webhook_lanes: _leases, ...rest } = rowsAfter;
    expect(Object.keys(rest).sort()).toEqual(['internal_accounts', 'tokens', 'webhook_endpoints']);
    await app.settle();
    const { webhook_lanes: _laterLeases, ...laterRows } = await rowCountsOf(app.platform.id);
    expect(laterRows).toEqual(rest);
    await expectBalancedBooks(app);
  });

  it('resets the accounts of the platform to zero', async () => {
    const platformAccount = await findInternalAccount(app, null, 'USD');
    await fundAccount(app, platformAccount.id, 500_00);
    await pay();
    ok(await reset(), 200);
    expect(await readBalances(app, platformAccount.id)).toEqual({ balance: 0, total: 0 });
    await fundAccount(app, platformAccount.id, 7_00);
    expect(await readBalances(app, platformAccount.id)).toEqual({ balance: 7_00, total: 7_00 });
    await pay();
  });

  it('leaves other platforms unchanged', async () => {
    const otherPayment = await pay({ platform: app.other });
    await app.settle();
    const rowsBefore = await rowCountsOf(app.other.id);
    await pay();
    ok(await reset(), 200);
    expect(await rowCountsOf(app.other.id)).toEqual(rowsBefore);
    expect(await readBalances(app, otherPayment.account.id, { platform: app.other })).toEqual({
      balance: 900_00,
      total: 900_00,
    });
    await expectBalancedBooks(app);
  });

  it('removes stored replies, so that an idempotency key can be used again', async () => {
    const headers = { 'idempotency-key': 'the same in each run' };
    const body = {
      customerType: 'INDIVIDUAL',
      platformCustomerId: 'ada',
      fullName: 'Ada Lovelace',
    };
    const firstCustomer = ok(await app.call('POST', '/customers', body, { headers }), 201);
    ok(await reset(), 200);
    const secondCustomer = ok(await app.call('POST', '/customers', body, { headers }), 201);
    expect(secondCustomer.id).not.toBe(firstCustomer.id);
  });

  it('returns the stored reply to a repeated request without another reset', async () => {
    const headers = { 'idempotency-key': 'reset once' };
    await createCustomer(app);
    const firstResult = ok(await reset({}, { headers }), 200);
    const person = await createCustomer(app);
    expect(ok(await reset({}, { headers }), 200)).toEqual(firstResult);
    ok(await app.call('GET', `/customers/${person.id}`), 200);
  });

  it('removes the content of files', async () => {
    const person = await createCustomer(app);
    const form = documentForm(
      { documentHolder: person.id, documentType: 'OTHER', country: 'US' },
      { bytes: pdfFile() },
    );
    ok(await app.call('POST', '/documents', form), 201);
    ok(await reset(), 200);
    await app.settle();
    expect(await app.runtime.db.query('select id from files')).toEqual([]);
  });

  it('returns the clock to real time', async () => {
    ok(await app.call('POST', '/sandbox/clock', { advance: 'P3D', freeze: true }), 200);
    ok(await reset(), 200);
    const { currentTime, frozen } = ok(await app.call('GET', '/sandbox/clock'), 200);
    expect([Date.parse(currentTime), frozen]).toEqual([app.effects.now(), false]);
    const person = await createCustomer(app);
    expect(Date.parse(person.createdAt)).toBe(app.effects.now());
  });

  it('resets configuration and tokens if requested', async () => {
    const changedConfig = ok(
      await app.call('PATCH', '/config', { umaDomain: 'pay.example.com' }),
      200,
    );
    const secondToken = ok(
      await app.call('POST', '/tokens', { name: 'extra', permissions: ['VIEW'] }),
      201,
    );
    ok(await reset(), 200);
    expect(ok(await app.call('GET', '/config'), 200).umaDomain).toBe('pay.example.com');
    ok(await app.call('GET', `/tokens/${secondToken.id}`), 200);
    ok(await reset({ including: ['CONFIGURATION', 'TOKENS'] }), 200);
    const config = ok(await app.call('GET', '/config'), 200);
    expect(config.umaDomain).toBe(`${changedConfig.proxyUmaSubdomain}.uma.localhost`);
    expect(await app.call('GET', `/tokens/${secondToken.id}`)).toMatchObject({ status: 404 });
  });

  it('leaves one token if two tokens request the removal of the others concurrently', async () => {
    const platform = await app.newPlatform('Concurrent', {
      environment: 'sandbox',
      regulated: true,
    });
    const body = { name: 'second', permissions: ['VIEW', 'TRANSACT', 'MANAGE'] };
    const { clientId, clientSecret } = ok(
      await app.call('POST', '/tokens', body, { platform }),
      201,
    );
    const callers = [platform, { ...platform, clientId, clientSecret }];
    const replies = await Promise.all(
      callers.map((caller) =>
        app.call('POST', '/sandbox/reset', { including: ['TOKENS'] }, { platform: caller }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
    const reads = await Promise.all(
      callers.map((caller) => app.call('GET', '/config', undefined, { platform: caller })),
    );
    expect(reads.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('has a rule for every table of the database', async () => {
    const rows = await app.runtime.db.query<{ name: string }>(
      `select t.table_name as name from information_schema.tables t
        where t.table_schema = current_schema() and t.table_type = 'BASE TABLE'
          and not exists (select from information_schema.columns c where c.column_name =
            'platform_id' and c.table_schema = t.table_schema and c.table_name = t.table_name)`,
    );
    const rules = [...RESET_RULES, fileReset, idempotencyReset];
    const tablesOfOwners = rules.flatMap(({ belongs = {} }) => Object.keys(belongs));
    const tablesWithoutOwner = rows
      .map(({ name }) => name)
      .filter((name) => !tablesOfOwners.includes(name));
    expect(tablesWithoutOwner.sort()).toEqual([
      'archives',
      'bootstrap_steps',
      'data_keys',
      'event_epochs',
      'ledger_accounts',
      'ledger_checks',
      'ledger_transfers',
      'operator_audit_head',
      'operator_data_keys',
      'operator_links',
      'operator_passkeys',
      'operator_sessions',
      'operator_tokens',
      'operator_used_challenges',
      'operator_users',
      'platforms',
      'provider_balances',
      'provider_calls',
      'provider_days',
      'provider_keys',
      'provider_statement_lines',
      'provider_statement_pages',
      'provider_statements',
      'provider_usage',
      'providers',
      'reconciliation_differences',
      'schema_migrations',
      'signing_keys',
      'statement_sources',
    ]);
    const retainedTables = rules.flatMap(({ retained = {} }) => Object.keys(retained));
    const expectedTables = [
      'api_request_bodies',
      'api_request_reads',
      'api_requests',
      'files',
      'internal_accounts',
      'jobs',
      'operator_approval_policies',
      'operator_approvals',
      'operator_audit',
      'operator_audit_head',
      'operator_links',
      'operator_passkeys',
      'operator_sessions',
      'operator_tokens',
      'operator_used_challenges',
      'operator_users',
      'provider_balances',
      'provider_calls',
      'provider_days',
      'provider_keys',
      'provider_messages',
      'provider_routes',
      'provider_statement_lines',
      'provider_statement_pages',
      'provider_statements',
      'provider_usage',
      'providers',
      'reconciliation_differences',
      'statement_sources',
      'tokens',
      'webhook_endpoints',
      'webhook_lanes',
    ];
    expect(retainedTables.sort()).toEqual(expectedTables);
  });

  it('requires a sandbox platform and a token with MANAGE', async () => {
    expect(await reset(undefined, { platform: app.production })).toMatchObject({ status: 403 });
    const tokenWithoutManage = await app.tokenWith(['VIEW', 'TRANSACT']);
    expect(await reset(undefined, { platform: tokenWithoutManage })).toMatchObject({ status: 403 });
  });

  it('reports unknown fields', async () => {
    const rejectedResponse = await reset({ everything: true, including: ['DATA'] });
    expect(rejectedResponse.status).toBe(400);
    const fields = rejectedResponse.body.details.errors.map(
      (each: { field: string }) => each.field,
    );
    expect(fields.sort()).toEqual(['everything', 'including.0']);
  });

  it('affects no other platform and keeps the ledger balanced during payments', async () => {
    const payments = Array.from({ length: 6 }, (_, n) => pay(n % 2 ? { platform: app.other } : {}));
    const resets = [reset(), reset(), reset()];
    const outcomes = await Promise.allSettled(payments);
    for (const each of resets) ok(await each, 200);
    for (const [n, outcome] of outcomes.entries())
      if (n % 2) expect(outcome.status).toBe('fulfilled');
    await app.settle();
    await expectBalancedBooks(app);
  });
});
