// Parsing of flags, usage errors and help.
import { describe, expect, it } from 'vitest';
import { describeFlags, type Flags, isUsageError, parse, usageOf } from './flags.ts';

const FLAGS: Flags = {
  platform: { value: 'PLATFORM', required: true, help: 'ID of the platform' },
  name: { value: 'NAME', help: 'Display name' },
  permissions: { value: 'A,B', list: true, choices: ['A', 'B'], help: 'Permissions of the token' },
  sca: { negation: 'no-sca', help: 'Strong authentication' },
  regulated: { negation: 'unregulated', help: 'Compliance by the platform' },
};

const read = (...argv: string[]) => parse(FLAGS, 'platform', argv).args;

function errorOf(...argv: string[]): string {
  try {
    read(...argv);
  } catch (error) {
    if (isUsageError(error)) return error.message;
    throw error;
  }
  return '';
}

describe('parse', () => {
  it('reads a positional argument as its flag', () => {
    expect(read('p').required('platform')).toBe('p');
    expect(read('--platform', 'p').required('platform')).toBe('p');
    expect(read('--platform=p').required('platform')).toBe('p');
  });

  it.each([
    [['--sca'], true],
    [['--sca', 'on'], true],
    [['--sca=on'], true],
    [['--sca=TRUE'], true],
    [['--no-sca'], false],
    [['--sca', 'off'], false],
    [['--sca=off'], false],
    [[], undefined],
  ])('reads the switch %j', (argv, expectedValue) => {
    expect(read('p', ...argv).isOn('sca')).toBe(expectedValue);
    expect(read(...argv, '--platform', 'p').isOn('sca')).toBe(expectedValue);
  });

  it('reads both flags of a switch', () => {
    expect(read('p', '--unregulated').isOn('regulated')).toBe(false);
    expect(read('p', '--regulated').isOn('regulated')).toBe(true);
  });

  it('splits lists at commas', () => {
    expect(read('p', '--permissions', 'A, B').list('permissions')).toEqual(['A', 'B']);
    expect(read('p').list('permissions')).toBeUndefined();
  });

  it.each([
    [[], 'PLATFORM is required'],
    [['p', 'q'], 'q is not recognized'],
    [['p', '--platform', 'q'], '--platform is repeated. Give its value once'],
    [['p', '--color', 'red'], "Unknown option '--color'"],
    [['p', '--permisions', 'A'], "Unknown option '--permisions'. Nearest match: --permissions"],
    [['p', '--jsno'], "Unknown option '--jsno'. Nearest match: --json"],
    [['p', '--verison'], "Unknown option '--verison'. Nearest match: --version"],
    [['p', '--name', '--sca'], "Option '--name' argument is ambiguous"],
    [['p', '--name', ''], '--name must not be empty'],
    [['p', '--permissions', 'A,C'], '--permissions must be one of A, B, not C'],
    [['p', '--permissions', ','], '--permissions must not be empty'],
    [['p', '--sca', '--no-sca'], '--sca and --no-sca exclude each other'],
    [['p', '--sca=maybe'], '--sca must be on or off, not maybe'],
    [['p', '--no-sca=off'], "Option '--no-sca' does not take an argument"],
  ])('rejects %j', (argv, message) => {
    expect(errorOf(...argv)).toBe(message);
  });

  it('validates only the syntax with --help', () => {
    expect(parse(FLAGS, 'platform', ['--help']).help).toBe(true);
    expect(parse(FLAGS, 'platform', ['a', 'b', '-h']).help).toBe(true);
  });
});

describe('help', () => {
  it('shows the required flags, and a description of each flag', () => {
    expect(usageOf(FLAGS, 'platform')).toBe('PLATFORM [flags]');
    expect(usageOf(FLAGS, undefined)).toBe('--platform PLATFORM [flags]');
    expect(describeFlags(FLAGS)).toContainEqual([
      '--permissions A,B',
      'Permissions of the token (A, B)',
    ]);
    expect(describeFlags(FLAGS)).toContainEqual([
      '--regulated, --unregulated',
      'Compliance by the platform',
    ]);
    expect(describeFlags(FLAGS)).toContainEqual(['--[no-]sca', 'Strong authentication']);
    expect(describeFlags(FLAGS).map(([syntax]) => syntax)).toContain('--json');
    expect(describeFlags(FLAGS, true).map(([syntax]) => syntax)).not.toContain('--json');
  });
});
