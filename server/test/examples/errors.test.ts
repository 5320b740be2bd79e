// Examples of error replies, one for each code of the platform API. The requests are those of the page
// of error codes, unless another request shows the error better.
import { describe, expect, inject, it } from 'vitest';
import { ERROR_GUIDE } from '../../src/http/error-guide.ts';
import { readExamples } from '../../src/http/examples.ts';
import type { Code } from '../../src/kernel/fault.ts';
import { execute, type TestServer } from '../kit/app/database.ts';
import { AMARA } from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';
import { CARDS } from '../operations/codes/cards.ts';
import { HTTP } from '../operations/codes/http.ts';
import { codeFixtureOf, type Provocation } from '../operations/codes/kit.ts';
import { MONEY } from '../operations/codes/money.ts';
import { PEOPLE } from '../operations/codes/people.ts';
import { STABLECOINS } from '../operations/codes/stablecoins.ts';
import { UMA } from '../operations/codes/uma.ts';
import { WALLETS } from '../operations/codes/wallets.ts';

/** Codes that these requests cause by an operator command, which returns no body. */
const WITHOUT_BODY: readonly Code[] = ['REFERENCE_NOT_FOUND'];

const recordInvalidFields = ({ recordError }: ExampleRecorder) =>
  recordError('INVALID_INPUT', 'createCustomer', {
    body: { ...AMARA, birthDate: '14 March 1990', nationality: 'USA' },
  });

/** The limit of an address from which no later request comes. */
async function recordRateLimit({ app, addError }: ExampleRecorder) {
  const authorization = `Basic ${Buffer.from('unknown:unknown').toString('base64')}`;
  const send = () =>
    app.server.inject({
      url: '/2025-10-13/config',
      headers: { authorization },
      remoteAddress: '203.0.113.7',
    });
  for (let attempt = 0; attempt < 10; attempt++) {
    const { statusCode: status, json } = await send();
    if (status === 429) return addError('RATE_LIMITED', { status, body: json() });
  }
  throw new Error('the limit was not reached');
}

/** A request while the database accepts no connections. */
async function recordUnavailableDatabase({ app, recordError }: ExampleRecorder) {
  const { url } = inject('testServer') as TestServer;
  const [row] = await app.runtime.db.query<{ name: string }>('select current_database() as name');
  const permitConnections = (isPermitted: boolean) =>
    execute(url, `alter database ${row?.name} with allow_connections ${isPermitted}`);
  await permitConnections(false);
  const text = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${row?.name}'`;
  await execute(url, text);
  try {
    await recordError('SERVICE_UNAVAILABLE', 'createCustomer', { body: AMARA });
  } finally {
    await permitConnections(true);
  }
}

const recordAll = (provocations: readonly Provocation[]) => async (recorder: ExampleRecorder) => {
  const fixture = codeFixtureOf(recorder.app);
  for (const { code, run } of provocations) {
    if (!WITHOUT_BODY.includes(code)) recorder.addError(code, await run(fixture));
  }
};

describe('examples of errors', () => {
  examples(
    'errors',
    {
      recordInvalidFields,
      recordRateLimit,
      recordUnavailableDatabase,
      recordPeople: recordAll(PEOPLE),
      recordMoney: recordAll(MONEY),
      recordWallets: recordAll(WALLETS),
      recordUma: recordAll(UMA),
      recordCards: recordAll(CARDS),
      recordStablecoins: recordAll(STABLECOINS),
      recordHttp: recordAll(HTTP),
    },
    {
      webhookTypes: [],
      rateLimits: { rejected: 2 },
      // The address in the message of a failed connection.
      replacements: [[/(?<!\/)127\.0\.0\.1:\d+/g, '203.0.113.7:443']],
    },
  );

  it('have `details` if the text of their code names them', () => {
    const codesWithDetails = (Object.keys(ERROR_GUIDE) as Code[]).filter((code) =>
      Object.values(ERROR_GUIDE[code]).some((text) => text.includes('`details')),
    );
    expect(codesWithDetails.length).toBeGreaterThan(4);
    const errors = new Map(readExamples().errors.map(({ code, body }) => [code, body]));
    const missingCodes = codesWithDetails.filter((code) => !errors.get(code)?.details);
    expect(missingCodes).toEqual([]);
  });
});
