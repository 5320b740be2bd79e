// Parsing of URLs with a non-ASCII letter after many calls, and rejected strings.
import { expect, it } from 'vitest';
import { readUrl } from './url.ts';

it('readUrl parses a host name with a non-ASCII letter after many calls', () => {
  const urls = Array.from({ length: 50_000 }, () => readUrl('https://bücher.example/a'));
  expect(urls.filter((url) => url?.hostname !== 'xn--bcher-kva.example')).toEqual([]);
});

it('readUrl returns undefined for other strings', () => {
  for (const text of ['', 'bücher', 'http://', 'https://[::1'])
    expect(readUrl(text)).toBeUndefined();
});
