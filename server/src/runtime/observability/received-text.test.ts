// Stored responses of receivers contain readable errors without secrets and account numbers.
import { describe, expect, it } from 'vitest';
import { maskBody, maskHeader, maskText } from './received-text.ts';

describe('maskText', () => {
  it.each([
    'database is down',
    'ok',
    'Internal Server Error',
    'connect ECONNREFUSED 10.0.0.7:5432 after 3000 ms',
    'no handler for OUTGOING_PAYMENT.COMPLETED at 2026-01-02T03:04:05.678Z',
    'unknown Transaction:0193d0e4-7c1f-7000-8000-000000000000',
    '{"error":"cut',
    'ERR_WEBHOOK_HANDLER_COULD_NOT_BE_FOUND in /srv/app/handlers/webhooks.js:12:34',
  ])('keeps %j', (text) => {
    expect(maskText(text)).toBe(text);
  });

  it.each([
    ['password=hunter2 is wrong', 'password=[masked] is wrong'],
    ['Authorization: Bearer abc.def-123', 'Authorization: [masked]'],
    ['sent Basic dXNlcjpwYXNz', 'sent [masked]'],
    ['"api_key": "k 1", next', '"api_key": [masked], next'],
    ['{"clientSecret":"cut', '{"clientSecret":[masked]'],
    ['<Password>abc</Password>', '<Password>[masked]</Password>'],
    ['card 4111 1111 1111 1111 declined', 'card [masked]1111 declined'],
    ['card 4111-1111-1111-1234', 'card [masked]1234'],
    ['card 378282246310005.', 'card [masked]0005.'],
    ['account 123456789', 'account [masked]6789'],
    ['ssn is 123-45-6789', 'ssn is [masked]6789'],
    ['call +49 30 1234567', 'call [masked]4567'],
    ['to DE89370400440532013000!', 'to [masked]3000!'],
    ['to DE89 3704 0044 0532 0130 00', 'to [masked]0 00'],
    ['user ada@example.co.uk exists', 'user [masked] exists'],
    ['postgres://u:pw@db/x is down', '[masked]db/x is down'],
    ['GET https://h/x?token=abc&id=7#a', 'GET https://h/x?token=[masked]&id=[masked]#a'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', '[masked]'],
    ['signed with whsec_U1VQRVJTRUNSRVQxMg==', 'signed with [masked]'],
    ['-----BEGIN PRIVATE KEY-----\nMIGH AgEA\n-----END PRIVATE KEY----- bad', '[masked] bad'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIEow', '[masked]'],
    ['id AKIAIOSFODNN7EXAMPLE', 'id [masked]'],
    ['API key: zzz123', 'API key: [masked]'],
    ['key 9f86d081884c7d659a2feaa0c55ad015', 'key [masked]'],
    ['dGhpcyBpcyBhIHNlY3JldCB0aGF0IGlzIGxvbmc0', '[masked]'],
  ])('masks %j', (text, maskedText) => {
    expect(maskText(text)).toBe(maskedText);
  });

  it('masks 16 kB of repeated text in less than 1.5 s', () => {
    for (const part of ['a', 'a@', '1 ', 'eyJ', '<password ', 'password', '?a', 'A0', '+1 ']) {
      const startMs = performance.now();
      maskText(part.repeat(16_384 / part.length));
      expect(performance.now() - startMs, part).toBeLessThan(1_500);
    }
  });
});

describe('maskBody', () => {
  it('masks the values of names that are secret or personal, at any depth', () => {
    const body = {
      error: 'database is down',
      Password: 'a',
      nested: [{ client_secret: { any: 'b' }, 'X-Signature': 'c', sessionCookie: 1234 }],
      iban: 'DE00',
      cardNumber: 4_111_111_111_111_111,
      number: 4_111_111_111_111_111,
      email: 'none',
      fullName: 'Ada',
      escaped: 'a@example.com',
      retry: false,
      tokenValid: true,
      code: 17,
    };
    expect(JSON.parse(maskBody(JSON.stringify(body).replace('@', '\\u0040')))).toEqual({
      error: 'database is down',
      Password: '[masked]',
      nested: [{ client_secret: '[masked]', 'X-Signature': '[masked]', sessionCookie: '[masked]' }],
      iban: '[masked]',
      cardNumber: '[masked]',
      number: '[masked]1111',
      email: '[masked]',
      fullName: '[masked]',
      escaped: '[masked]',
      retry: false,
      tokenValid: true,
      code: 17,
    });
  });

  it('keeps the formatting of a body without secrets', () => {
    expect(maskBody('{ "ok" :  true }\n')).toBe('{ "ok" :  true }\n');
    expect(maskBody('[[')).toBe('[[');
  });

  it('masks values beyond the maximum depth', () => {
    const nestedBody = `${'['.repeat(8_000)}"a"${']'.repeat(8_000)}`;
    expect(maskBody(nestedBody)).toContain('[masked]');
  });
});

describe('maskHeader', () => {
  it.each([
    ['content-type', 'application/json; charset=utf-8', 'application/json; charset=utf-8'],
    ['Retry-After', '120', '120'],
    ['x-request-id', '9f86d081884c7d659a2feaa0c55ad015', '9f86d081884c7d659a2feaa0c55ad015'],
    ['server', 'nginx/1.25.3', 'nginx/1.25.3'],
    [
      'location',
      'https://u:pw@x/a?token=abc&to=b#c',
      'https://[masked]@x/a?token=[masked]&to=[masked]',
    ],
    ['set-cookie', 'sid=abc', '***'],
    ['x-plain', 'visible', '***'],
    ['www-authenticate', 'Basic realm="x"', '***'],
    ['authorization', 'Bearer abc', '***'],
  ])('keeps or masks %s: %s', (name, value, storedValue) => {
    expect(maskHeader(name, value)).toBe(storedValue);
  });
});
