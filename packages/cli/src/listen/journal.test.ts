// Reading of the journal after an interruption at any point, and the addresses of receivers.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { receiverOf } from './forward.ts';
import { openJournal, readJournal } from './journal.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'railhead-journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['', [], []],
  ['>a\n=a\n>b\n', ['a'], ['b']],
  ['>a\n-a\n', [], []],
  ['>a\n=a\n>b\n=', ['a'], ['b']],
  ['>a\n=a', [], ['a']],
])(
  'the journal %j contains the forwarded events %j and the uncertain events %j',
  (text, forwarded, uncertain) => {
    const journal = readJournal(text);
    expect([[...journal.forwarded], [...journal.uncertain]]).toEqual([forwarded, uncertain]);
  },
);

it('the journal is readable after an incomplete line, and clears no uncertain events', () => {
  const file = path.join(folder, 'journal');
  const firstJournal = openJournal(file);
  firstJournal.begin('a');
  firstJournal.finish('a');
  firstJournal.begin('b');
  firstJournal.close();
  appendFileSync(file, '=');
  const secondJournal = openJournal(file);
  expect([[...secondJournal.forwarded], [...secondJournal.uncertain]]).toEqual([['a'], ['b']]);
  secondJournal.clear();
  secondJournal.begin('c');
  secondJournal.finish('c');
  secondJournal.close();
  expect(readFileSync(file, 'utf8')).toBe('>b\n>c\n=c\n');
});

it.each([
  ['3000/hook', 'http://localhost:3000/hook'],
  ['localhost:3000', 'http://localhost:3000/'],
  ['https://a.test/x', 'https://a.test/x'],
])('%s is completed to the URL %s', (text, url) => {
  expect(receiverOf(text).href).toBe(url);
});

it('a receiver must be a URL', () => {
  expect(() => receiverOf('http://')).toThrow('is not a URL');
  expect(() => receiverOf('ftp://a.test')).toThrow('neither an http nor an https URL');
});
