// CHANGELOG.md has the format of Keep a Changelog, and the page of the documentation site has the
// same text. `npm test -- server/test/structure/changelog.test.ts -u` copies the text to the page.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root } from './sources.ts';

const changelog = read('CHANGELOG.md');
const { version } = JSON.parse(read('package.json')) as { version: string };
const SECTIONS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
/** Section with the steps of the operator before the upgrade. */
const UPGRADE = 'Before an upgrade from an earlier commit';

const headings = (level: string) =>
  [...changelog.matchAll(new RegExp(`^${level} (.*)$`, 'gm'))].map((match) => match[1] as string);

describe('the changelog', () => {
  it('lists unreleased changes, then the versions from the newest to the oldest', () => {
    const [firstHeading, ...versions] = headings('##');
    expect(firstHeading).toBe('Unreleased');
    const dates = versions.map((heading) => heading.split(' - ')[1]);
    for (const date of dates) expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(versions.map((heading) => heading.split(' - ')[0])).toContain(version);
    const sortedVersions = [...versions].sort((a, b) =>
      b.localeCompare(a, 'en', { numeric: true }),
    );
    expect(versions).toEqual(sortedVersions);
  });

  it('has the sections of Keep a Changelog', () => {
    expect(headings('###').filter((name) => ![...SECTIONS, UPGRADE].includes(name))).toEqual([]);
  });

  it('has lines of at most 100 characters', () => {
    expect(changelog.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('has the same text as the page of the documentation site', async () => {
    await expect(changelog).toMatchFileSnapshot(path.join(root, 'docs', 'changelog.md'));
  });
});
