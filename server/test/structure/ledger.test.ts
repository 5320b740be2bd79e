// The boundaries of the ledger, checked on the source: which check of the kernel it compares currencies with.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const source = path.join(root, 'server/src');

const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  .map((file) => file.replaceAll(path.sep, '/'))
  .map((file) => ({ file, text: readFileSync(path.join(source, file), 'utf8') }));

it('compares currencies in the ledger with sameCurrency', () => {
  const compared = sources
    .filter(({ file }) => file.startsWith('ledger/'))
    .flatMap(({ file, text }) =>
      text
        .split('\n')
        .flatMap((line) =>
          /currenc\w*\)*( \?\? \w+\))? [!=]==|[!=]== [\w.(]*currenc/i.test(line)
            ? `${file}: ${line.trim()}`
            : [],
        ),
    );
  expect(compared).toEqual([]);
});
