// Matches the lines of a statement with our transfers and deposits: by ID, then by reference, then by
// amount and time. It is a pure function, independent of the source of the lines and of their order; each
// line and each of ours is used once. Its cost is that of sorting both.

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

/** One of our transfers, returns or deposits. */
export interface Ours extends Money {
  /** Unique, and the same in every run. */
  key: string;
  /** ID under which a provider can report it. */
  transferId: string;
  direction: Direction;
  at: Time;
  /** `settled`: a line is expected. `pending`: one is possible. `failed`: none should exist. */
  state: 'settled' | 'pending' | 'failed';
  references: readonly string[];
}

export type MatchedBy = 'ID' | 'REFERENCE' | 'AMOUNT';

export type Finding<L extends Line = Line, O extends Ours = Ours> = { line: L } & (
  | { kind: 'MISSING_WITH_US'; ours?: undefined; by?: undefined }
  | {
      kind: 'MATCH' | 'AMOUNT_DIFFERS' | 'CURRENCY_DIFFERS' | 'STATE_DIFFERS' | 'DUPLICATED';
      ours: O;
      by: MatchedBy;
    }
);

export interface MatchOptions {
  /** Largest distance of the times of a match by amount. */
  windowMs: number;
  /** Keys of ours that other lines have. */
  taken: ReadonlySet<string>;
}

/** What is compared first decides the kind of a difference. */
function kindOf(line: Line, ours: Ours) {
  if (line.currency !== ours.currency) return 'CURRENCY_DIFFERS';
  if (ours.state !== 'settled') return 'STATE_DIFFERS';
  return line.amount === ours.amount ? 'MATCH' : 'AMOUNT_DIFFERS';
}

/** Ours in their order under a text; used ones are skipped once and for all. */
function queuesOf<O extends Ours>() {
  const queues = new Map<string, { items: O[]; next: number }>();
  return {
    add(name: string, item: O): void {
      const queue = queues.get(name);
      if (queue) queue.items.push(item);
      else queues.set(name, { items: [item], next: 0 });
    },
    /** The first one that is not used. */
    first(name: string, isUsed: (item: O) => boolean): O | undefined {
      const queue = queues.get(name);
      if (!queue) return undefined;
      for (; queue.next < queue.items.length; queue.next++) {
        const item = queue.items[queue.next] as O;
        if (!isUsed(item)) return item;
      }
      return undefined;
    },
    any: (name: string): O | undefined => queues.get(name)?.items[0],
  };
}

type Queues<O extends Ours> = ReturnType<typeof queuesOf<O>>;

const byTime = (a: { at: Time }, b: { at: Time }, first: string, second: string) =>
  a.at - b.at || (first < second ? -1 : 1);

const referencesOf = ({ reference, bankReference }: Line) =>
  [reference, bankReference].filter((each): each is string => each !== null);

const moneyName = ({ direction, currency, amount }: Line | Ours) =>
  `${direction} ${currency} ${amount}`;

export function matchLines<L extends Line, O extends Ours>(
  lines: readonly L[],
  candidates: readonly O[],
  { windowMs, taken }: MatchOptions,
): Finding<L, O>[] {
  const ours = candidates.toSorted((a, b) => byTime(a, b, a.key, b.key));
  let open = lines.toSorted((a, b) => byTime(a, b, a.id, b.id));
  const used = new Set<string>(taken);
  const isUsed = ({ key }: O) => used.has(key);
  const findings: Finding<L, O>[] = [];

  const match = (line: L, item: O, by: MatchedBy): true => {
    used.add(item.key);
    findings.push({ line, kind: kindOf(line, item), ours: item, by });
    return true;
  };
  const duplicate = (line: L, item: O, by: MatchedBy): true => {
    findings.push({ line, kind: 'DUPLICATED', ours: item, by });
    return true;
  };
  /** Applies a rule to the lines that no earlier rule has matched. */
  const apply = (rule: (line: L) => boolean) => {
    open = open.filter((line) => !rule(line));
  };

  const byId = new Map(ours.map((each) => [`${each.direction} ${each.transferId}`, each]));
  apply((line) => {
    const item = byId.get(`${line.direction} ${line.transferId}`);
    if (!item || line.transferId === null) return false;
    return isUsed(item) ? duplicate(line, item, 'ID') : match(line, item, 'ID');
  });

  const exact = queuesOf<O>();
  const similar = queuesOf<O>();
  for (const each of ours) {
    for (const reference of each.references) {
      exact.add(`${moneyName(each)} ${reference}`, each);
      similar.add(`${each.direction} ${reference}`, each);
    }
  }
  const byReference = (queues: Queues<O>, nameOf: (line: L) => string) =>
    apply((line) =>
      referencesOf(line).some((reference) => {
        const item = queues.first(`${nameOf(line)} ${reference}`, isUsed);
        return item ? match(line, item, 'REFERENCE') : false;
      }),
    );
  byReference(exact, moneyName);
  apply((line) =>
    referencesOf(line).some((reference) => {
      const item = exact.any(`${moneyName(line)} ${reference}`);
      return item ? duplicate(line, item, 'REFERENCE') : false;
    }),
  );
  byReference(similar, ({ direction }) => direction);

  const settled = queuesOf<O>();
  for (const each of ours) if (each.state === 'settled') settled.add(moneyName(each), each);
  apply((line) => {
    // Both are in the order of time: what is too old for this line is too old for all that follow.
    const item = settled.first(
      moneyName(line),
      (each) => isUsed(each) || each.at < line.at - windowMs,
    );
    return item && item.at <= line.at + windowMs ? match(line, item, 'AMOUNT') : false;
  });
  return [...findings, ...open.map((line) => ({ line, kind: 'MISSING_WITH_US' as const }))];
}
