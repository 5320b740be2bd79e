// Matching of lines with candidates, by examples and by random input.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, type Finding, type Line, matchLines } from './matching.ts';

const DAY_MS = 86_400_000;
const OPTIONS = { windowMs: 5 * DAY_MS, matchedKeys: new Set<string>() };

const createCandidate = (n: number, fields: Partial<Candidate> = {}): Candidate => ({
  ...{ key: `T${n}#out`, transferId: `T${n}`, direction: 'out', amount: 100n, currency: 'EUR' },
  ...{ at: n * 1_000, state: 'settled', references: [`R${n}`] },
  ...fields,
});
const createLine = (n: number, fields: Partial<Line> = {}): Line => ({
  ...{ id: `L${n}`, direction: 'out', amount: 100n, currency: 'EUR', at: n * 1_000 },
  ...{ transferId: null, reference: null, bankReference: null },
  ...fields,
});

const summarize = (findings: readonly Finding[]) =>
  findings
    .map(
      ({ line: { id }, kind, candidate, by }) =>
        `${id} ${kind} ${candidate?.key ?? '-'} ${by ?? '-'}`,
    )
    .sort();

describe('matchLines', () => {
  it('matches by ID before reference, and by reference before amount', () => {
    const lines = [
      createLine(1, { transferId: 'T3', reference: 'R1' }),
      createLine(2, { bankReference: 'R1' }),
      createLine(3),
    ];
    expect(
      summarize(
        matchLines(lines, [createCandidate(1), createCandidate(2), createCandidate(3)], OPTIONS),
      ),
    ).toEqual(['L1 MATCH T3#out ID', 'L2 MATCH T1#out REFERENCE', 'L3 MATCH T2#out AMOUNT']);
  });

  it('reports the field that differs: currency, state, amount', () => {
    const lines = [1, 2, 3].map((n) => createLine(n, { transferId: `T${n}`, amount: 99n }));
    const candidates = [
      createCandidate(1, { currency: 'USD' }),
      createCandidate(2, { state: 'pending' }),
      createCandidate(3),
    ];
    expect(summarize(matchLines(lines, candidates, OPTIONS))).toEqual([
      'L1 CURRENCY_DIFFERS T1#out ID',
      'L2 STATE_DIFFERS T2#out ID',
      'L3 AMOUNT_DIFFERS T3#out ID',
    ]);
  });

  it('reports a second line of the same transfer as duplicated, in the same and in a later run', () => {
    const lines = [createLine(1, { transferId: 'T1' }), createLine(2, { transferId: 'T1' })];
    expect(summarize(matchLines(lines, [createCandidate(1)], OPTIONS))).toEqual([
      'L1 MATCH T1#out ID',
      'L2 DUPLICATED T1#out ID',
    ]);
    const matchedKeys = new Set(['T1#out']);
    const [duplicatedFinding] = matchLines(
      [createLine(1, { reference: 'R1' })],
      [createCandidate(1)],
      {
        ...OPTIONS,
        matchedKeys,
      },
    );
    expect(duplicatedFinding).toMatchObject({ kind: 'DUPLICATED', by: 'REFERENCE' });
  });

  it('matches by amount only settled candidates of the same direction within the window', () => {
    const lines = [
      createLine(1),
      createLine(2, { direction: 'in' }),
      createLine(3, { at: 20 * DAY_MS }),
    ];
    const candidates = [
      createCandidate(1, { state: 'pending' }),
      createCandidate(2, { amount: 101n }),
      createCandidate(3),
    ];
    expect(summarize(matchLines(lines, candidates, OPTIONS))).toEqual([
      'L1 MATCH T3#out AMOUNT',
      'L2 MISSING_WITH_US - -',
      'L3 MISSING_WITH_US - -',
    ]);
  });

  it('assigns candidates with one reference to lines by amount', () => {
    const candidates = [1, 2, 3].map((n) =>
      createCandidate(n, { references: ['BATCH'], amount: BigInt(n) }),
    );
    const lines = [3, 1, 2].map((n) => createLine(n, { reference: 'BATCH', amount: BigInt(n) }));
    expect(summarize(matchLines(lines, candidates, OPTIONS))).toEqual([
      'L1 MATCH T1#out REFERENCE',
      'L2 MATCH T2#out REFERENCE',
      'L3 MATCH T3#out REFERENCE',
    ]);
  });

  it('uses every line and every candidate once, in any order of the input', () => {
    const lineArbitrary = fc.record({
      transfer: fc.integer({ min: 0, max: 8 }),
      amount: fc.bigInt({ min: 1n, max: 3n }),
      referenceKind: fc.constantFrom('id', 'reference', 'none', 'other'),
      at: fc.integer({ min: 0, max: 3 * DAY_MS }),
    });
    const stateArbitrary = fc.constantFrom('settled', 'pending', 'failed');
    const candidatesArbitrary = fc.array(
      fc.tuple(fc.bigInt({ min: 1n, max: 3n }), stateArbitrary),
      { maxLength: 9 },
    );
    fc.assert(
      fc.property(
        fc.array(lineArbitrary, { maxLength: 12 }),
        candidatesArbitrary,
        (lineSpecs, candidateSpecs) => {
          const candidates = candidateSpecs.map(([amount, itemState], n) =>
            createCandidate(n, { amount, state: itemState as 'settled' }),
          );
          const lines = lineSpecs.map(({ transfer, amount, referenceKind, at }, n) =>
            createLine(n, {
              ...{ amount, at },
              transferId: referenceKind === 'id' ? `T${transfer}` : null,
              reference:
                referenceKind === 'reference'
                  ? `R${transfer}`
                  : referenceKind === 'other'
                    ? 'X'
                    : null,
            }),
          );
          const findings = matchLines(lines, candidates, OPTIONS);
          expect(findings.map((each) => each.line.id).sort()).toEqual(
            lines.map(({ id }) => id).sort(),
          );
          const usedKeys = findings
            .filter(({ kind }) => kind !== 'DUPLICATED' && kind !== 'MISSING_WITH_US')
            .map(({ candidate }) => candidate?.key);
          expect(new Set(usedKeys).size).toBe(usedKeys.length);
          const reversedFindings = matchLines(lines.toReversed(), candidates.toReversed(), OPTIONS);
          expect(summarize(reversedFindings)).toEqual(summarize(findings));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('has a linear cost for many lines of one amount and reference', () => {
    const measureMsPerLine = (count: number) => {
      const numbers = Array.from({ length: count }, (_, n) => n);
      const candidates = numbers.map((n) => createCandidate(n, { references: ['SAME'] }));
      const lines = numbers.map((n) => createLine(n, n % 2 ? { reference: 'SAME' } : {}));
      const start = performance.now();
      const findings = matchLines(lines, candidates, OPTIONS);
      expect(findings.every(({ kind }) => kind === 'MATCH')).toBe(true);
      return (performance.now() - start) / count;
    };
    measureMsPerLine(2_000);
    // Quadratic cost would be fifty times as much per line.
    expect(measureMsPerLine(100_000)).toBeLessThan(10 * measureMsPerLine(2_000) + 0.02);
  });
});
