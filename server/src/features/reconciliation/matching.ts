// Matches the lines of a statement with the transfers and deposits of the ledger: by ID, then by reference,
// then by amount and time. The result is independent of the source and the order of the lines. Each line and
// each candidate is matched at most once. The cost is the cost of sorting lines and candidates.

import type { Time } from '../../kernel/effects.ts';
import type { Money } from '../../kernel/money.ts';

export type Direction = 'in' | 'out';

/** An entry of a statement. */
export interface Line extends Money {
  id: string;
  direction: Direction;
  at: Time;
  transferId: string | null;
  reference: string | null;
  bankReference: string | null;
}

/** A transfer, return or deposit that a line can match. */
export interface Candidate extends Money {
  /** Unique and stable between runs. */
  key: string;
  /** The ID that the line of a provider can contain. */
  transferId: string;
  direction: Direction;
  at: Time;
  /** `settled`: a line is expected. `pending`: a line is possible. `failed`: no line should exist. */
  state: 'settled' | 'pending' | 'failed';
  references: readonly string[];
}

export type MatchedBy = 'ID' | 'REFERENCE' | 'AMOUNT';

export type Finding<L extends Line = Line, C extends Candidate = Candidate> = { line: L } & (
  | { kind: 'MISSING_WITH_US'; candidate?: undefined; by?: undefined }
  | {
      kind: 'MATCH' | 'AMOUNT_DIFFERS' | 'CURRENCY_DIFFERS' | 'STATE_DIFFERS' | 'DUPLICATED';
      candidate: C;
      by: MatchedBy;
    }
);

export interface MatchOptions {
  /** Maximum time between a line and a candidate that are matched by amount. */
  windowMs: number;
  /** Keys of candidates that are already matched to other lines. */
  matchedKeys: ReadonlySet<string>;
}

/** If several fields differ, the first comparison determines the kind. */
function kindOf(line: Line, candidate: Candidate) {
  if (line.currency !== candidate.currency) return 'CURRENCY_DIFFERS';
  if (candidate.state !== 'settled') return 'STATE_DIFFERS';
  return line.amount === candidate.amount ? 'MATCH' : 'AMOUNT_DIFFERS';
}

/** Queues of candidates by name. The position in a queue only advances, so that the total cost is linear. */
function createQueues<C extends Candidate>() {
  const queues = new Map<string, { items: C[]; next: number }>();
  return {
    add(name: string, item: C): void {
      const queue = queues.get(name);
      if (queue) queue.items.push(item);
      else queues.set(name, { items: [item], next: 0 });
    },
    /** Returns the first candidate that is not used. */
    first(name: string, isUsed: (item: C) => boolean): C | undefined {
      const queue = queues.get(name);
      if (!queue) return undefined;
      for (; queue.next < queue.items.length; queue.next++) {
        const item = queue.items[queue.next] as C;
        if (!isUsed(item)) return item;
      }
      return undefined;
    },
    /** Returns a candidate of the queue, used or not. */
    any: (name: string): C | undefined => queues.get(name)?.items[0],
  };
}

type Queues<C extends Candidate> = ReturnType<typeof createQueues<C>>;

/** Equal times are ordered by ID, so that the result does not depend on the order of the input. */
const compareTimes = (a: { at: Time }, b: { at: Time }, aId: string, bId: string) =>
  a.at - b.at || (aId < bId ? -1 : 1);

const referencesOf = ({ reference, bankReference }: Line) =>
  [reference, bankReference].filter((text): text is string => text !== null);

/** The name of the queue of one direction and amount. */
const moneyName = ({ direction, currency, amount }: Line | Candidate) =>
  `${direction} ${currency} ${amount}`;

export function matchLines<L extends Line, C extends Candidate>(
  lines: readonly L[],
  candidates: readonly C[],
  { windowMs, matchedKeys }: MatchOptions,
): Finding<L, C>[] {
  const sortedCandidates = candidates.toSorted((a, b) => compareTimes(a, b, a.key, b.key));
  let unmatchedLines = lines.toSorted((a, b) => compareTimes(a, b, a.id, b.id));
  const usedKeys = new Set<string>(matchedKeys);
  const isUsed = ({ key }: C) => usedKeys.has(key);
  const findings: Finding<L, C>[] = [];

  const match = (line: L, candidate: C, by: MatchedBy): true => {
    usedKeys.add(candidate.key);
    findings.push({ line, kind: kindOf(line, candidate), candidate, by });
    return true;
  };
  const duplicate = (line: L, candidate: C, by: MatchedBy): true => {
    findings.push({ line, kind: 'DUPLICATED', candidate, by });
    return true;
  };
  /** Applies a rule to the lines that no earlier rule has matched. */
  const apply = (rule: (line: L) => boolean) => {
    unmatchedLines = unmatchedLines.filter((line) => !rule(line));
  };

  const byId = new Map(
    sortedCandidates.map((item) => [`${item.direction} ${item.transferId}`, item]),
  );
  apply((line) => {
    const item = byId.get(`${line.direction} ${line.transferId}`);
    if (!item || line.transferId === null) return false;
    return isUsed(item) ? duplicate(line, item, 'ID') : match(line, item, 'ID');
  });

  const byReferenceAndAmount = createQueues<C>();
  const byReference = createQueues<C>();
  for (const item of sortedCandidates) {
    for (const reference of item.references) {
      byReferenceAndAmount.add(`${moneyName(item)} ${reference}`, item);
      byReference.add(`${item.direction} ${reference}`, item);
    }
  }
  const matchReferences = (queues: Queues<C>, nameOf: (line: L) => string) =>
    apply((line) =>
      referencesOf(line).some((reference) => {
        const item = queues.first(`${nameOf(line)} ${reference}`, isUsed);
        return item ? match(line, item, 'REFERENCE') : false;
      }),
    );
  matchReferences(byReferenceAndAmount, moneyName);
  apply((line) =>
    referencesOf(line).some((reference) => {
      const item = byReferenceAndAmount.any(`${moneyName(line)} ${reference}`);
      return item ? duplicate(line, item, 'REFERENCE') : false;
    }),
  );
  matchReferences(byReference, ({ direction }) => direction);

  const settledByAmount = createQueues<C>();
  for (const item of sortedCandidates) {
    if (item.state === 'settled') settledByAmount.add(moneyName(item), item);
  }
  apply((line) => {
    // Lines and candidates are sorted by time, so a candidate too old for this line is too old for all later
    // lines.
    const item = settledByAmount.first(
      moneyName(line),
      (candidate) => isUsed(candidate) || candidate.at < line.at - windowMs,
    );
    return item && item.at <= line.at + windowMs ? match(line, item, 'AMOUNT') : false;
  });
  return [
    ...findings,
    ...unmatchedLines.map((line) => ({ line, kind: 'MISSING_WITH_US' as const })),
  ];
}
