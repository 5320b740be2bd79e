// The samples of the site have the origin of a local server, but not of another host or an export.
import { describe, expect, it } from 'vitest';

const script = new URL('../../../site/.vitepress/theme/sample-origin.mjs', import.meta.url).href;
const { originOfSamples } = await import(script);

const originAt = (address: string, isExport = false) => originOfSamples(new URL(address), isExport);

describe('the origin of samples', () => {
  it('is the origin of a local server at another port', () => {
    for (const origin of ['http://localhost:4100', 'http://127.0.0.1:80', 'https://[::1]:4443'])
      expect(originAt(`${origin}/docs/`)).toBe(new URL(origin).origin);
  });

  it('is unchanged at the default port, on other hosts and in an export', () => {
    expect(originAt('http://localhost:4000/docs/')).toBeUndefined();
    expect(originAt('http://127.0.0.1:4000/docs/')).toBeUndefined();
    expect(originAt('https://docs.example.com/docs/')).toBeUndefined();
    expect(originAt('https://localhost.example.com/docs/')).toBeUndefined();
    expect(originAt('http://localhost:3000/docs/', true)).toBeUndefined();
  });
});
