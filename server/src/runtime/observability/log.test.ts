// Log output when the same failure repeats.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { createLog, type Level } from './log.ts';

// biome-ignore lint/suspicious/noExplicitAny: lines of every shape, checked by assertions.
let lines: any[];
beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

const logAt = (level: Level) =>
  createLog(testEffects(), level, (line) => void lines.push(JSON.parse(line)));

const connectionError = () =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const unavailableFault = () =>
  new Fault('SERVICE_UNAVAILABLE', 'The database cannot be reached.', undefined, {
    cause: connectionError(),
  });

describe('a repeated failure', () => {
  it('writes one complete line immediately and then one line a second with a count', () => {
    const log = logAt('info');
    for (let index = 1; index <= 500; index++)
      log.warn({ err: unavailableFault(), requestId: `r${index}` }, 'no');
    expect(lines).toMatchObject([
      { level: 'warn', message: 'no', requestId: 'r1', err: { stack: expect.any(String) } },
    ]);
    vi.advanceTimersByTime(1_000);
    expect(lines[1]).toMatchObject({
      ...{ level: 'warn', message: 'no', count: 499, requestId: 'r500' },
      err: { code: 'SERVICE_UNAVAILABLE', cause: { code: 'ECONNREFUSED' } },
    });
    expect(JSON.stringify(lines[1])).not.toContain('stack');
    for (let index = 1; index <= 500; index++) log.warn({ err: unavailableFault() }, 'no');
    expect(lines).toHaveLength(2);
    vi.advanceTimersByTime(1_000);
    expect(lines.slice(2)).toMatchObject([{ count: 500 }]);
    vi.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(3);
    log.warn({ err: unavailableFault() }, 'no');
    expect(lines[3].err.stack).toContain('log.test');
  });

  it('has a separate line for each kind', () => {
    const log = logAt('info');
    const kinds: [object, string][] = [
      [{ err: unavailableFault() }, 'no'],
      [{ err: connectionError() }, 'no'],
      [{ err: new TypeError('one') }, 'no'],
      [{ err: new TypeError('elsewhere') }, 'no'],
      [{ err: connectionError() }, 'another message'],
      [{ err: connectionError(), kind: 'payout' }, 'job failed'],
      [{ err: connectionError(), kind: 'message' }, 'job failed'],
      [{ problem: 'a' }, 'a problem'],
      [{ problem: 'b' }, 'a problem'],
    ];
    for (const [fields, message] of [...kinds, ...kinds]) {
      log.error(fields as Record<string, unknown>, message);
    }
    expect(lines).toHaveLength(kinds.length);
    log.warn({ err: connectionError() }, 'no');
    expect(lines).toHaveLength(kinds.length + 1);
  });

  it('is counted when the log is flushed', () => {
    const log = logAt('error');
    for (let index = 0; index < 3; index++) log.error({ err: connectionError() }, 'no');
    log.flush();
    log.flush();
    expect(lines.map(({ count }) => count)).toEqual([undefined, 2]);
  });

  it('is collapsed above the debug level, and repeated information is not', () => {
    const debugLog = logAt('debug');
    for (let index = 0; index < 3; index++) debugLog.error({ err: connectionError() }, 'no');
    expect(lines.filter(({ err }) => err.stack)).toHaveLength(3);
    const infoLog = logAt('info');
    for (let index = 0; index < 3; index++) infoLog.info({}, 'listening');
    expect(lines).toHaveLength(6);
  });

  it('contains no secret in its counted line', () => {
    const log = logAt('info');
    for (let index = 0; index < 2; index++) {
      log.error({ err: new Error('Bearer abcdef12345'), clientSecret: 'hush' }, 'no');
    }
    log.flush();
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toMatch(/abcdef12345|hush/);
  });
});
