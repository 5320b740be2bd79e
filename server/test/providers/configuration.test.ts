// Providers and routes from a file, which is validated completely, compared, and applied in one
// commit.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { gateway } from '../../src/connectors/gateway/index.ts';
import { providerFileSchema } from '../../src/document.ts';
import { openProviderDirectory } from '../../src/features/providers/index.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createCircuits } from '../../src/runtime/jobs/circuits.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { openSecondProcess } from '../kit/app/second-process.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';

const { service, newOperator, call, read, rejects, write } = operatorService();
const folder = mkdtempSync(path.join(os.tmpdir(), 'providers-'));
const filePath = path.join(folder, 'providers.json');
let firstAdapter: Adapter;
let secondAdapter: Adapter;

beforeAll(async () => {
  firstAdapter = await startAdapter(service.app);
  secondAdapter = await startAdapter(service.app);
});
afterAll(async () => {
  await firstAdapter.close();
  await secondAdapter.close();
  rmSync(folder, { recursive: true });
});

const provider = (providerId: string, { url, publicKeyPem }: Adapter, fields: object = {}) => ({
  ...{ providerId, environment: 'production', url, privateAddressAllowed: true },
  ...{ publicKeys: [publicKeyPem], ...fields },
});

const route = (providerId: string | null, fields: object = {}) => ({
  ...{ environment: 'production', providerId, priority: 10, ...fields },
});

const completeFile = () => ({
  providers: [
    provider('acme-bank', firstAdapter, {
      terms: { limits: [{ currency: 'EUR', perTransfer: 5_000 }] },
    }),
    provider('other-bank', secondAdapter),
  ],
  routes: [route('acme-bank', { currency: 'EUR', costFixed: 20 }), route(null, { priority: 20 })],
});

const importFile = (file: object, dryRun = false) =>
  write('POST', '/provider-configuration', { ...file, dryRun });

const rejectsFile = (body: object) =>
  rejects(400, 'INVALID_INPUT', 'POST', '/provider-configuration', { body });

describe('importProviders', () => {
  it('reports the paths of all errors, and applies no change', async () => {
    const file = {
      providers: [
        provider('acme-bank', firstAdapter, {
          url: 'ftp://x',
          publicKeys: ['x', secondAdapter.publicKeyPem],
        }),
        provider('acme-bank', secondAdapter, { terms: { limits: [{ currency: 'NONE' }] } }),
      ],
      routes: [
        route('missing-bank'),
        route('acme-bank', { environment: 'sandbox', minAmount: 5 }),
        route(null),
        route(null),
      ],
    };
    const invalidReply = await rejectsFile(file);
    expect(invalidReply.details.errors.map((error: { field: string }) => error.field)).toEqual([
      ...['providers.0.url', 'providers.0.publicKeys.0', 'providers.1.providerId'],
      ...['providers.1.terms.limits.0.currency', 'routes.0.providerId', 'routes.1.currency'],
      ...['routes.1.environment', 'routes.3'],
    ]);
    const { details } = await rejectsFile({ providers: [{ providerId: 'A' }], secret: 'x' });
    const fields = details.errors.map((error: { field: string }) => error.field);
    expect(fields).toEqual(
      expect.arrayContaining(['secret', 'providers.0.providerId', 'providers.0.url']),
    );
    const { data } = await read('/providers');
    expect(data.filter((provider: { kind: string }) => provider.kind === 'GATEWAY')).toEqual([]);
  });

  it('returns the changes of a dry run without applying them', async () => {
    const result = await importFile(completeFile(), true);
    expect(result).toMatchObject({
      applied: false,
      changes: [
        { action: 'ADD', subject: 'PROVIDER', id: 'acme-bank' },
        { action: 'ADD', subject: 'PROVIDER', id: 'other-bank' },
        { action: 'ADD', subject: 'ROUTE' },
        { action: 'ADD', subject: 'ROUTE' },
      ],
    });
    expect((await read('/provider-routes')).data).toEqual([]);
  });

  it('applies the file in one commit, and has no effect at the second import', async () => {
    const query = '/audit-records?operationId=importProviders&limit=100';
    const recordsBefore = (await read(query)).data.filter(
      (record: { hasChanges: boolean }) => record.hasChanges,
    );
    expect((await importFile(completeFile())).applied).toBe(true);
    expect(await importFile(completeFile())).toEqual({ applied: false, changes: [] });
    const recordsAfter = (await read(query)).data.filter(
      (record: { hasChanges: boolean }) => record.hasChanges,
    );
    expect(recordsAfter).toHaveLength(recordsBefore.length + 1);
    expect((await read('/providers/acme-bank')).ownKeys).toHaveLength(1);
    expect((await read('/provider-routes')).data).toHaveLength(2);
  });

  it('changes fields, keys and routes that differ', async () => {
    const thirdAdapter = await startAdapter(service.app);
    const file = completeFile();
    const [acme] = file.providers;
    if (!acme) throw new Error('the file has no provider');
    const result = await importFile({
      providers: [{ ...acme, publicKeys: [thirdAdapter.publicKeyPem], terms: {} }],
      routes: [route('other-bank'), file.routes[1]],
    });
    expect(
      result.changes.map((change: { action: string; subject: string }) =>
        [change.action, change.subject].join(' '),
      ),
    ).toEqual(['CHANGE PROVIDER', 'ADD KEY', 'REMOVE KEY', 'REMOVE ROUTE', 'ADD ROUTE']);
    expect(result.changes[0]).toMatchObject({ field: 'terms', after: '{}' });
    const { providerKeys } = await read('/providers/acme-bank');
    // The earlier key is accepted for another day.
    expect(providerKeys).toHaveLength(2);
    const { details } = await rejectsFile({ providers: [provider('other-bank', thirdAdapter)] });
    expect(details.errors).toMatchObject([
      {
        field: 'providers.0.publicKeys.0',
        message: 'is a key of the provider acme-bank. Use another key',
      },
    ]);
    await thirdAdapter.close();
  });

  it('requires the approval of a second operator if a policy exists', async () => {
    const policy = await write('POST', '/approval-policies', {
      ...{ operationId: 'importProviders', hours: 1 },
    });
    const secret = await newOperator({ roles: ['administrator'] });
    const body = { routes: [route('acme-bank')] };
    expect(
      (await call('POST', '/provider-configuration', { body: { ...body, dryRun: true }, secret }))
        .status,
    ).toBe(200);
    const pendingReply = await call('POST', '/provider-configuration', { body, secret });
    expect(pendingReply.status).toBe(202);
    expect((await read('/provider-routes')).data).toHaveLength(2);
    const approval = await write('POST', `/approvals/${pendingReply.body.id}/approve`, {
      reason: 'Agreed',
    });
    expect(approval.reply.applied).toBe(true);
    expect((await read('/provider-routes')).data).toMatchObject([{ providerId: 'acme-bank' }]);
    for (const operationId of ['setProviderTerms', 'setProviderBalance', 'pauseProvider']) {
      const otherPolicy = await write('POST', '/approval-policies', { operationId, hours: 1 });
      await write('DELETE', `/approval-policies/${otherPolicy.id}`);
    }
    await write('DELETE', `/approval-policies/${policy.id}`);
  });
});

describe('a change', () => {
  it('takes effect in another process within two seconds', async () => {
    const otherProcess = openSecondProcess(service.app);
    const { effects } = otherProcess;
    const directory = await openProviderDirectory({
      ...otherProcess,
      circuits: createCircuits(effects.now),
      protocol: gateway,
      log: createLog(effects, 'silent', () => undefined),
    });
    directory.start();
    expect(directory.current().routes).toHaveLength(1);
    const routes = [route('acme-bank'), route('other-bank', { country: 'FR' })];
    await importFile({ routes });
    await vi.waitFor(() => expect(directory.current().routes).toHaveLength(2), { timeout: 2_000 });
    await importFile({ routes: [route('acme-bank')] });
    await vi.waitFor(() => expect(directory.current().routes).toHaveLength(1), { timeout: 2_000 });
    await directory.stop();
    await otherProcess.close();
  });
});

describe('the file in the guide', () => {
  it('is the example file, and is valid', async () => {
    const readText = (file: string) => readFileSync(path.join(projectRoot(), file), 'utf8');
    const guide = readText('docs/guides/provider-routing.md');
    const [, json = ''] = /^```json\n([\s\S]*?)^```/m.exec(guide) ?? [];
    expect(json).toBe(readText('examples/providers.json'));
    // Providers of these names exist with other keys.
    const text = json.replaceAll('acme-bank', 'guide-bank').replaceAll('other-bank', 'guide-two');
    const result = await importFile(JSON.parse(text), true);
    expect(result.changes).toHaveLength(2 + 3 + 1);
  });
});

describe('exportProviders', () => {
  it('returns a file without secrets, whose import has no effect', async () => {
    const file = await read('/provider-configuration');
    expect(JSON.stringify(file)).not.toContain('PRIVATE');
    expect(file.providers.map((provider: { providerId: string }) => provider.providerId)).toEqual([
      ...['acme-bank', 'other-bank'],
    ]);
    expect(await importFile(file)).toEqual({ applied: false, changes: [] });
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      providerFileSchema(),
    );
    expect(validate(file)).toBe(true);
    expect(validate({ ...file, secret: 'x' })).toBe(false);
  });
});

describe('providers import', () => {
  it('prints the differences, and every error of an invalid file', async () => {
    const writeProviderFile = (value: unknown) =>
      writeFileSync(filePath, typeof value === 'string' ? value : JSON.stringify(value));
    const run = (...argv: string[]) => service.run('providers', 'import', filePath, ...argv);
    writeProviderFile(await service.runJson('providers', 'export'));
    expect((await run()).out).toBe('No change.\n');
    writeProviderFile({ routes: [route('other-bank', { rail: 'SEPA', costBasisPoints: 3 })] });
    const dryRunResult = await run('--dry-run');
    expect(dryRunResult.out).toMatch(/^- route .*acme-bank/m);
    expect(dryRunResult.out).toMatch(/^\+ route .*providerId=other-bank .*costBasisPoints=3$/m);
    expect(dryRunResult.out).toMatch(/No change was applied\.\n$/);
    expect((await run()).out).toMatch(/Applied\.\n$/);
    writeProviderFile({ providers: [{ providerId: 'x' }], other: 1 });
    const { code, err } = await run();
    expect(code).toBe(2);
    expect(err).toContain('other: is unknown\n');
    expect(err).toContain('providers.0.url: is required\n');
    writeProviderFile('{');
    expect((await run()).err).toContain('providers.json is not JSON');
  });
});
