// The index of the decision records lists each record.
// `npm test -- server/test/structure/decisions.test.ts -u` writes the list.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { read, root } from './sources.ts';

const FOLDER = 'docs/decisions';
const INDEX = 'index.md';

it('the index lists the title of every decision in order', async () => {
  const files = readdirSync(path.join(root, FOLDER)).filter((name) => name !== INDEX);
  const items = files.sort().map((name) => {
    const [, title = ''] = /^# (\d{4}: .*)$/m.exec(read(`${FOLDER}/${name}`)) ?? [];
    expect(title.slice(0, 4), name).toBe(name.slice(0, 4));
    return `- [${title}](${name})\n`;
  });
  const [introduction = ''] = read(`${FOLDER}/${INDEX}`).split('\n- [');
  const text = `${introduction.trimEnd()}\n\n${items.join('')}`;
  await expect(text).toMatchFileSnapshot(path.join(root, FOLDER, INDEX));
});
