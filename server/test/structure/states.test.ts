// The page of lifecycles equals the state tables and contains all of them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAPTERS, statesPage } from '../../src/states-page.ts';

const root = path.resolve(import.meta.dirname, '../../..');

describe('docs/states.md', () => {
  it('equals the state tables, from which npm run states writes it', () => {
    expect(readFileSync(path.join(root, 'docs/states.md'), 'utf8')).toBe(statesPage());
  });

  it('contains every state table', () => {
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'server/src'], {
      cwd: root,
      encoding: 'utf8',
    })
      .split('\n')
      .filter((file) => /(features|runtime)\/.*(?<!\.test)\.ts$/.test(file));
    const tables = files.flatMap((file) =>
      [
        ...readFileSync(path.join(root, file), 'utf8').matchAll(/stateTable<[^(]*\(\s*'([^']*)'/g),
      ].map((match) => match[1]),
    );
    expect(tables.length).toBeGreaterThan(3);
    expect(CHAPTERS.map((chapter) => chapter.states.name).sort()).toEqual(tables.sort());
  });

  it('names every state and every transition', () => {
    const page = statesPage().replace(/ +/g, ' ');
    for (const { states } of CHAPTERS) {
      for (const [from, transitions] of Object.entries(states.transitions)) {
        expect(page).toContain(`\`${from}\``);
        for (const [event, to] of Object.entries(transitions)) {
          expect(page).toContain(`| \`${from}\` | ${event} | \`${String(to)}\` |`);
          expect(states.allows(from, String(to))).toBe(true);
        }
      }
    }
  });
});
