// Produces every error code on a real server, and generates docs/errors.md from the same rows:
// `npm test -- server/test/operations/error-codes.test.ts -u` updates the page.
import { describe, expect, it } from 'vitest';
import { ERROR_GUIDE } from '../../src/http/error-guide.ts';
import { type Code, STATUS_OF } from '../../src/kernel/fault.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { CARDS } from './codes/cards.ts';
import { HTTP } from './codes/http.ts';
import { codeFixture, type Provocation } from './codes/kit.ts';
import { MONEY } from './codes/money.ts';
import { PEOPLE } from './codes/people.ts';
import { STABLECOINS } from './codes/stablecoins.ts';
import { UMA } from './codes/uma.ts';
import { WALLETS } from './codes/wallets.ts';

const PROVOCATIONS: readonly Provocation[] = [
  ...PEOPLE,
  ...MONEY,
  ...WALLETS,
  ...UMA,
  ...CARDS,
  ...STABLECOINS,
  ...HTTP,
];

const CODES = Object.keys(STATUS_OF) as Code[];

const HEAD = `# Error codes

Every error reply is \`{ code, reason, details?, status, message }\`. \`code\` is for programs,
\`reason\` for people, and \`details.errors\` names each invalid field. Each code below states its
cause, what to do next, and how to reproduce it, in the sandbox unless stated otherwise. The page is
generated from the table of codes. A test reproduces each of them.
`;

/** The section of a code on the page. */
function sectionOf(code: Code): string[] {
  const { cause, remedy } = ERROR_GUIDE[code];
  const descriptions = PROVOCATIONS.filter((provocation) => provocation.code === code).map(
    ({ description }) => description,
  );
  if (descriptions.length === 0) return [];
  const reproductions = descriptions.map(
    (description) =>
      `- To reproduce: ${description.charAt(0).toLowerCase()}${description.slice(1)}.`,
  );
  return [`### ${code}`, '', cause, '', `- What to do: ${remedy}`, ...reproductions, ''];
}

function renderPage(): string {
  const sections = [...new Set(Object.values(STATUS_OF))].sort().map((status) => {
    const codes = CODES.filter((code) => STATUS_OF[code] === status).sort();
    const rows = codes.flatMap(sectionOf);
    return rows.length === 0 ? '' : [`## ${status}`, '', ...rows].join('\n');
  });
  return [HEAD, ...sections.filter(Boolean)].join('\n');
}

const fixture = openForFile(codeFixture);

describe('every error code', () => {
  it('has a fixture that reproduces it', () => {
    const listedCodes = new Set<string>(PROVOCATIONS.map((provocation) => provocation.code));
    expect(CODES.filter((code) => !listedCodes.has(code))).toEqual([]);
  });

  it.each(
    PROVOCATIONS.map(
      (provocation) => [provocation.code, provocation.description, provocation] as const,
    ),
  )('%s: %s', async (...row) => {
    const { code, run } = row[2];
    const { status, body } = await run(fixture);
    expect([status, body.code]).toEqual([STATUS_OF[code], code]);
  });

  it('is logged if it is a server error, even without a cause', () => {
    const errors = fixture.app.log.map((line) => JSON.parse(line)).filter((entry) => entry.err);
    const loggedCodes = errors.filter(({ level }) => level === 'error').map(({ err }) => err.code);
    expect(loggedCodes).toEqual(expect.arrayContaining(['SERVICE_SWITCH_ERROR']));
  });

  it('is in docs/errors.md', async () => {
    await expect(renderPage()).toMatchFileSnapshot('../../../docs/errors.md');
  });
});
