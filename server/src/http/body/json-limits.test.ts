// Counts of levels, values and list items, compared with the parsed value.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../../test/kit/app/harness.ts';
import { excessOf } from './json-limits.ts';

const nestedList = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);

const MAX_VALUES = 1_000_000;
const depthOf = (text: string, depth: number) =>
  excessOf(text, { depth, values: MAX_VALUES, items: MAX_VALUES });
const valuesOf = (text: string, values: number) =>
  excessOf(text, { depth: 32, values, items: MAX_VALUES });
const itemsOf = (text: string, items: number) =>
  excessOf(text, { depth: 32, values: MAX_VALUES, items });

describe('excessOf', () => {
  it('counts levels of objects and lists', () => {
    expect(depthOf(nestedList(3), 3)).toBeUndefined();
    expect(depthOf(nestedList(4), 3)).toBe('depth');
    expect(depthOf('{"a":{"b":1},"c":{"d":2}}', 2)).toBeUndefined();
    expect(depthOf('{"a":{"b":[1]}}', 2)).toBe('depth');
    expect(depthOf(JSON.stringify([1, 2, 3]) + ' '.repeat(99), 1)).toBeUndefined();
  });

  it('counts values', () => {
    expect(valuesOf('7', 1)).toBeUndefined();
    expect(valuesOf('[1,2,3]', 4)).toBeUndefined();
    expect(valuesOf('[1,2,3]', 3)).toBe('values');
    expect(valuesOf('{"a":{"b":1,"c":2}}', 4)).toBeUndefined();
    expect(valuesOf('{"a":{"b":1,"c":2}}', 3)).toBe('values');
  });

  it('counts the items of each list without the members of objects', () => {
    expect(itemsOf('[1,2,3]', 3)).toBeUndefined();
    expect(itemsOf('[1,2,3]', 2)).toBe('items');
    expect(itemsOf('[[1,2],[3,4]]', 2)).toBeUndefined();
    expect(itemsOf('{"a":1,"b":2,"c":[1,2],"d":4}', 2)).toBeUndefined();
    expect(itemsOf('[{"a":1,"b":2,"c":3},{"d":[[],4]},5]', 2)).toBe('items');
    expect(itemsOf('[{"a":1,"b":2,"c":3},{"d":[[],4]}]', 2)).toBeUndefined();
  });

  it('skips strings', () => {
    expect(depthOf(JSON.stringify(['[[[[{{{{']), 1)).toBeUndefined();
    expect(depthOf(JSON.stringify(['\\" [[[ \\', '{"{[']), 1)).toBeUndefined();
    expect(depthOf(JSON.stringify(['\\', ['x']]), 1)).toBe('depth');
    expect(valuesOf(JSON.stringify([',,,,"\\",', ',']), 3)).toBeUndefined();
  });

  it('never counts fewer values than parsing', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, each) => sum + count(each), 1)
        : 1;
    const json = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        const valueCount = count(JSON.parse(text));
        expect(valueCount > 1 ? valuesOf(text, valueCount - 1) : 'values').toBe('values');
      }),
    );
  });
});

describe('a body that is nested too deep', () => {
  it('is rejected, regardless of the position of the nesting', async () => {
    const app = await startApp();
    const login = Buffer.from(`${app.platform.clientId}:${app.platform.clientSecret}`);
    const send = (url: string, payload: string) =>
      app.server.inject({
        method: 'POST',
        url: `/2025-10-13${url}`,
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${login.toString('base64')}`,
        },
        payload,
      });
    const deep = nestedList(30_000);
    const beneficiary = `{"beneficiaryType":"INDIVIDUAL","fullName":"A","x":${deep}}`;
    const account = `{"currency":"USD","accountInfo":{"accountType":"USD_ACCOUNT",
      "accountNumber":"123456000","routingNumber":"021000021","beneficiary":${beneficiary}}}`;
    for (const reply of [
      await send('/platform/external-accounts', account),
      await send('/quotes', `{"senderCustomerInfo":${deep}}`),
      await send('/quotes', deep),
    ]) {
      expect(reply.statusCode).toBe(400);
      expect(reply.json()).toMatchObject({
        code: 'INVALID_INPUT',
        reason: expect.stringMatching(/nested/),
      });
    }
    await app.close();
  });
});
