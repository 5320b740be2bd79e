// Names and values of settings of an earlier release, which are read too.
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const configOf = (env: Record<string, string>, argv: string[] = []) => {
  const result = readConfig(env, argv, '/base');
  if (!('config' in result)) throw new Error('errors' in result ? result.errors.join() : 'help');
  return result.config;
};

it('the earlier names of a setting are read, and the present names take precedence', () => {
  const env = { RAILHEAD_RATE_LIMIT_REFUSED: '7' };
  expect(configOf(env).rateLimits.rejected).toBe(7);
  expect(configOf({}, ['--rate-limit-refused', '8']).rateLimits.rejected).toBe(8);
  const bothNames = { ...env, RAILHEAD_RATE_LIMIT_REJECTED: '9' };
  expect(configOf(bothNames).rateLimits.rejected).toBe(9);
});

it('the earlier value of RAILHEAD_LOOPBACK_WEBHOOKS is read', () => {
  expect(configOf({ RAILHEAD_LOOPBACK_WEBHOOKS: 'refused' }).loopbackWebhooks).toBe(false);
});
