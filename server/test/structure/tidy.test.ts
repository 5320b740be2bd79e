// Verifies the rules of the style guide on the source.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /^(server|bench|scripts|examples|packages)\/.*\.(ts|mjs|js)$/.test(file))
  .filter((file) => existsSync(path.join(root, file)));

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sources = files.filter((file) => /^server\/src\/.*\.ts$/.test(file));
const sourceFiles = sources.filter((file) => !file.endsWith('.test.ts'));

/** Lines that break a rule, as file:line. */
function violations(list: string[], isInvalid: (line: string, file: string) => boolean): string[] {
  return list.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        isInvalid(line, file) ? [`${file}:${index + 1} ${line.trim()}`] : [],
      ),
  );
}

const isComment = (line: string) => /^\s*(\/\/|\*|\/\*)/.test(line);

describe('the source code', () => {
  it('has more than 50 files', () => {
    expect(sourceFiles.length).toBeGreaterThan(50);
  });

  it('keeps files to 500 lines', () => {
    const longFiles = files.filter((file) => read(file).split('\n').length > 501);
    expect(longFiles).toEqual([]);
  });

  it('keeps code to 100 columns and all lines to 110', () => {
    expect(violations(files, (line) => line.length > 110)).toEqual([]);
    const isLongCode = (line: string) =>
      line.length > 100 && !isComment(line) && !/['"`/]/.test(line);
    expect(violations(files, isLongCode)).toEqual([]);
  });

  it('starts every source with a header comment', () => {
    const filesWithoutHeader = files.filter((file) => !/^(#!.*\n)?(\/\/ |\/\*)/.test(read(file)));
    expect(filesWithoutHeader).toEqual([]);
  });

  it('keeps header comments to four sentences', () => {
    const sentencesOf = (file: string) => {
      const header = /^(?:#!.*\n)?((?:\/\/.*\n)+)/.exec(read(file))?.[1] ?? '';
      const text = header.replace(/^\/\/ ?/gm, '').replaceAll('\n', ' ');
      return text.match(/[.!?](?=\s+[A-Z`"'(]|\s*$)/g)?.length ?? 0;
    };
    expect(files.filter((file) => sentencesOf(file) > 4)).toEqual([]);
  });

  it('accesses clock, randomness and network only through Effects', () => {
    const allowedFiles = new Set(['server/src/runtime/config/system-effects.ts']);
    const bannedPattern =
      /\bDate\.now\(|new Date\(\)|Math\.random\(|\bfetch\(|\brandom(Bytes|UUID|Int)\(|getRandomValues/;
    const isViolation = (line: string, file: string) =>
      !allowedFiles.has(file) && !isComment(line) && bannedPattern.test(line);
    expect(violations(sourceFiles, isViolation)).toEqual([]);
    const clockInSql = /\b(now\(\)|current_timestamp|clock_timestamp|statement_timestamp)/i;
    // The module compares the clocks of the server and the database.
    const clockCheckFile = 'server/src/runtime/diagnosis/database-checks.ts';
    const isClockInSql = (line: string, file: string) =>
      file !== clockCheckFile &&
      !isComment(line) &&
      clockInSql.test(line) &&
      /select|update|insert|delete|values/i.test(line);
    expect(violations(sourceFiles, isClockInSql)).toEqual([]);
    const migrations = execFileSync(
      'git',
      ['ls-files', '-co', '--exclude-standard', 'server/migrations'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    const sql = migrations.split('\n').filter((file) => file.endsWith('.sql'));
    expect(violations(sql, (line) => !line.startsWith('--') && clockInSql.test(line))).toEqual([]);
  });

  it('opens connections only through Effects, where each has a deadline', () => {
    const allowedFiles = new Set([
      'server/src/runtime/config/system-effects.ts',
      // A request to the database, with a deadline.
      'server/src/runtime/db/connections/replication.ts',
    ]);
    const openingCall = /\b(https?|http2|net|tls)\.(request|get|connect|createConnection)\(/;
    const isViolation = (line: string, file: string) =>
      !allowedFiles.has(file) && !isComment(line) && openingCall.test(line);
    const serverFiles = sourceFiles.filter((file) => !file.includes('/hosted-verification/page/'));
    expect(violations(serverFiles, isViolation)).toEqual([]);
    const libraries = serverFiles.filter((file) => /\bcreateTransport\(/.test(read(file)));
    expect(libraries).toEqual(['server/src/connectors/smtp/mail.ts']);
    expect(read(libraries[0] as string)).toContain('effects.call(');
  });

  it('has no class but Fault, no default export, no enum and no unchecked type', () => {
    const isViolation = (line: string, file: string) =>
      !isComment(line) &&
      ((/^\s*(export\s+)?(abstract\s+)?class\s/.test(line) && !file.endsWith('kernel/fault.ts')) ||
        /^export default\b/.test(line) ||
        /^\s*(export\s+)?(const\s+)?enum\s/.test(line) ||
        /@ts-ignore|@ts-expect-error|\bas any\b|: any\b/.test(line));
    expect(violations(sourceFiles, isViolation)).toEqual([]);
  });

  it('does not call URL.canParse, which fails for non-ASCII letters (kernel/net/url.ts)', () => {
    const isViolation = (line: string) => !isComment(line) && line.includes('URL.canParse');
    expect(violations(sourceFiles, isViolation)).toEqual([]);
  });

  it('contains no TODO and skips no test', () => {
    const todoPattern = /\b(TODO|FIXME|HACK)\b/;
    const skipPattern = /\b(it|test|describe)\.(skip|only|todo)\(/;
    expect(
      violations(
        files,
        (line, file) =>
          !file.endsWith('tidy.test.ts') && (todoPattern.test(line) || skipPattern.test(line)),
      ),
    ).toEqual([]);
  });

  it('imports every source file', () => {
    const entry = /(main|operator)\.ts$/;
    const texts = files.map((file) => ({ file, text: read(file) }));
    const unusedSources = sourceFiles.filter((file) => {
      if (entry.test(file)) return false;
      const name = path.basename(file);
      return !texts.some((source) => source.file !== file && source.text.includes(`/${name}'`));
    });
    expect(unusedSources).toEqual([]);
  });
});
