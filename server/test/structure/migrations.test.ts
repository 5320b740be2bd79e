// Migrations permit two versions of the server on one database
// (docs/decisions/0110-migrations-in-two-steps.md).
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = path.resolve(import.meta.dirname, '../../migrations');
/** Last migration that required a stop of all servers. */
const LAST_WITH_STOP = '0092';

/** Statements whose result the previous version of the server cannot use. */
const BREAKING_STATEMENTS = [
  /\bdrop\s+(table|column|view|function)\b/i,
  /\brename\s+(to|column)\b/i,
  /\bset\s+not\s+null\b/i,
  /\balter\s+(column\s+)?"?\w+"?\s+(set\s+data\s+)?type\b/i,
];

/** Statements of an expansion that break the previous version. */
function breakingLines(sql: string): string[] {
  if (/^-- contract after \d{4}$/m.test(sql)) return [];
  const lines = sql.split('\n').filter((line) => !line.trimStart().startsWith('--'));
  return lines
    .filter((line) => BREAKING_STATEMENTS.some((pattern) => pattern.test(line)))
    .map((line) => line.trim());
}

describe('an expansion', () => {
  it('that breaks the previous version is found', () => {
    const sql = `alter table a add column b text;
      alter table a drop column c;
      alter table a rename column d to e;
      alter table a alter column f type bigint;
      create index g on a (b);
      alter table a alter b set not null;`;
    expect(breakingLines(sql)).toHaveLength(4);
    expect(breakingLines(`-- contract after 0093\n${sql}`)).toEqual([]);
  });

  it('leaves all objects of the previous version unchanged', () => {
    const laterMigrations = readdirSync(folder).filter((name) => name.slice(0, 4) > LAST_WITH_STOP);
    const violations = laterMigrations.flatMap((name) =>
      breakingLines(readFileSync(path.join(folder, name), 'utf8')).map(
        (line) => `${name}: ${line}`,
      ),
    );
    expect(violations).toEqual([]);
  });
});
