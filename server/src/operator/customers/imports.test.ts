// Imports as shown to the operator, with rows of completed imports.
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { importErrors, imports } from '../../features/customers/imports/store.ts';
import { main } from '../../operator.ts';

const app = testApp();
let partialImportId: string;
let failedImportId: string;

async function run(...argv: string[]) {
  const result = { code: 0, out: '', err: '' };
  result.code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl },
    out: (chunk) => {
      result.out += chunk;
    },
    err: (chunk) => {
      result.err += chunk;
    },
  });
  return result;
}

beforeAll(async () => {
  const message = 'The header row lacks required columns: city';
  const columns = { columns: [], next_byte: 0n, completed_at: app.effects.now() };
  partialImportId = await app.operate(async (ctx) => {
    const { now: created_at, caller } = ctx;
    const fields = {
      id: ctx.id('BulkCustomerImportJob'),
      platform_id: caller.platformId,
      created_at,
    };
    const counts = { total: 2_001, successful: 1, failed: 2_000 };
    const row = ctx.insert(imports, { ...fields, ...columns, ...counts, status: 'COMPLETED' });
    for (let index = 1; index <= 2_000; index++) {
      const details = { errors: [{ field: 'city', message: 'is required' }] };
      const rowColumns = {
        correlation_id: `=c-${index}`,
        code: 'INVALID_INPUT',
        message: 'Invalid, "so"',
      };
      ctx.insert(importErrors, {
        id: `${row.id} ${index}`,
        import_id: row.id,
        row: index,
        ...rowColumns,
        details,
      });
    }
    return row.id;
  });
  app.effects.set(app.effects.now() + 1_000);
  failedImportId = await app.operate(async (ctx) => {
    const { now: created_at, caller } = ctx;
    const fields = {
      id: ctx.id('BulkCustomerImportJob'),
      platform_id: caller.platformId,
      created_at,
    };
    const counts = { total: 3, successful: 0, failed: 0 };
    const problem = { message, errors: [] };
    return ctx.insert(imports, { ...fields, ...columns, ...counts, problem, status: 'FAILED' }).id;
  }, app.other);
});

describe('imports list', () => {
  it('lists imports of all platforms or of one platform, newest first', async () => {
    const allImports = JSON.parse((await run('imports', 'list', '--json')).out);
    expect(allImports.map((each: { importId: string }) => each.importId)).toEqual([
      failedImportId,
      partialImportId,
    ]);
    expect(allImports[1]).toMatchObject({
      status: 'COMPLETED',
      total: 2_001,
      successful: 1,
      failed: 2_000,
    });
    const otherList = await run('imports', 'list', '--platform', app.other.id);
    expect(otherList.out).toContain(failedImportId);
    expect(otherList.out).not.toContain(partialImportId);
  });
});

describe('imports show', () => {
  it('shows the result of an import, and the error of its file', async () => {
    const { code, out } = await run('imports', 'show', failedImportId);
    expect(code).toBe(0);
    expect(out).toContain('FAILED');
    expect(out).toContain('lacks required columns: city');
  });

  it('prints every failed row as CSV, regardless of the number of rows', async () => {
    const { code, out } = await run('imports', 'show', partialImportId, '--errors');
    const lines = out.trimEnd().split('\r\n');
    expect(code).toBe(0);
    expect(lines).toHaveLength(2_001);
    expect(lines[0]).toBe('row,correlation_id,code,message,columns');
    expect(lines[2_000]).toBe(`2000,'=c-2000,INVALID_INPUT,"Invalid, ""so""",city: is required`);
  });

  it('rejects an unknown import', async () => {
    const { code, err } = await run('imports', 'show', 'BulkCustomerImportJob:no');
    expect([code, err]).toEqual([1, 'Import not found.\n']);
  });
});
