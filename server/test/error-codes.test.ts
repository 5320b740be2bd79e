// Every error code there is, each provoked on a real server, and the page about them, which is made from the
// same rows: `npm test -- server/test/error-codes.test.ts -u` writes it anew.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Code, STATUS_OF } from '../src/kernel/fault.ts';
import { CARDS } from './codes/cards.ts';
import { type CodeDesk, codeDesk, type Way } from './codes/kit.ts';
import { MONEY } from './codes/money.ts';
import { PEOPLE } from './codes/people.ts';
import { STABLECOINS } from './codes/stablecoins.ts';
import { UMA } from './codes/uma.ts';
import { WALLETS } from './codes/wallets.ts';

const WAYS: readonly Way[] = [...PEOPLE, ...MONEY, ...WALLETS, ...UMA, ...CARDS, ...STABLECOINS];

/** Codes that clients may know and that nothing here answers with. */
const NEVER: Readonly<Partial<Record<Code, string>>> = {
  VELOCITY_LIMIT_EXCEEDED: 'limits of a day answer DAILY_VOLUME_LIMIT_EXCEEDED',
  EMAIL_OTP_CREDENTIAL_SYNC_FAILED:
    'one commit changes all that is tied, so no part can fail alone',
};

const SOURCE = path.join(import.meta.dirname, '..', 'src');

const CODES = Object.keys(STATUS_OF) as Code[];

const HEAD = `# Error codes

Every error is \`{ code, reason, details?, status, message }\`; \`details.errors\` names
each bad field. This page lists every code there is and a way to meet it in the sandbox. A test
walks all of these ways, and this page is made from it.
`;

function page(): string {
  const sections = [...new Set(Object.values(STATUS_OF))].sort().map((status) => {
    const codes = CODES.filter((code) => STATUS_OF[code] === status && !NEVER[code]).sort();
    const rows = codes.flatMap((code) =>
      WAYS.filter((each) => each.code === code).map(({ how }) => `- \`${code}\`: ${how}.`),
    );
    return rows.length === 0 ? '' : [`## ${status}`, '', ...rows, ''].join('\n');
  });
  const never = Object.entries(NEVER).map(([code, why]) => `- \`${code}\`: ${why}.`);
  const end = ['## Known to clients, and never answered', '', ...never, ''].join('\n');
  return [HEAD, ...sections.filter(Boolean), end].join('\n');
}

let desk: CodeDesk;
beforeAll(async () => {
  desk = await codeDesk();
});
afterAll(() => desk.app.close());

describe('every error code', () => {
  it('has a way to be met, or a reason why not', () => {
    const known = new Set<string>([...WAYS.map((each) => each.code), ...Object.keys(NEVER)]);
    expect(CODES.filter((code) => !known.has(code))).toEqual([]);
    expect(WAYS.filter(({ code }) => NEVER[code])).toEqual([]);
  });

  it('is thrown somewhere, unless nothing answers with it', () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
    const text = files
      .filter(
        (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('fault.ts'),
      )
      .map((name) => readFileSync(path.join(SOURCE, name), 'utf8'))
      .join('\n');
    expect(Object.keys(NEVER).filter((code) => text.includes(`'${code}'`))).toEqual([]);
  });

  it.each(WAYS.map((each) => [each.code, each.how, each] as const))('%s: %s', async (...row) => {
    const { code, run } = row[2];
    const { status, body } = await run(desk);
    expect([status, body.code]).toEqual([STATUS_OF[code], code]);
  });

  it('stands on the page about them', async () => {
    await expect(page()).toMatchFileSnapshot('../../docs/errors.md');
  });
});
