// Database URLs with one host and with several, and their errors.
import { describe, expect, it } from 'vitest';
import { databaseUrlProblem, readDatabaseUrl } from './database-url.ts';

describe('readDatabaseUrl', () => {
  it('returns one URL for each host and requires the primary of several hosts', () => {
    expect(readDatabaseUrl('postgresql://u:p%40@h1:5432,[::1]:5433,h3/db?connect=1')).toEqual({
      hosts: [
        'postgresql://u:p%40@h1:5432/db?connect=1',
        'postgresql://u:p%40@[::1]:5433/db?connect=1',
        'postgresql://u:p%40@h3/db?connect=1',
      ],
      requiresPrimary: true,
    });
  });

  it.each([
    ['postgres://h/db', false],
    ['postgres://h/db?target_session_attrs=read-write', true],
    ['postgres://h1,h2/db?target_session_attrs=primary', true],
    ['postgres://h1,h2/db?target_session_attrs=any', false],
    ['postgresql:///db?host=/run/postgresql', false],
  ])('reads from %s whether the primary is required: %s', (url, requiresPrimary) => {
    expect(readDatabaseUrl(url).requiresPrimary).toBe(requiresPrimary);
  });

  it('returns a URL with one host unchanged', () => {
    const url = 'postgresql://me@/db?host=%2Frun%2Fpostgresql&application_name=a%20b';
    expect(readDatabaseUrl(url).hosts).toEqual([url]);
  });

  it.each(['require', 'verify-ca', 'verify-full'])(
    'verifies certificates for sslmode=%s',
    (mode) => {
      const { hosts } = readDatabaseUrl(`postgres://h/db?a=1&sslmode=${mode}&b=2`);
      expect(hosts).toEqual(['postgres://h/db?a=1&sslmode=verify-full&b=2']);
    },
  );
});

describe('databaseUrlProblem', () => {
  it.each([
    ['postgres://h1:1,h2:x/db', 'must look like postgresql://user:password@host:5432/database'],
    ['postgres://h1,h 2/db', 'must look like postgresql://user:password@host:5432/database'],
    [
      'postgres://h1,h2/db?target_session_attrs=standby',
      'must have one of any, read-write, primary as target_session_attrs',
    ],
    [
      'postgres://h/db?sslmode=prefer',
      'must have one of disable, no-verify, require, verify-ca, verify-full as sslmode',
    ],
  ])('rejects %s', (url, problem) => {
    expect(databaseUrlProblem(url)).toBe(problem);
  });
});
