// ID tokens that the sandbox accepts or rejects, and the values of its wallet script.
import { describe, expect, it } from 'vitest';
import { segment } from '../../../../test/kit/http/identity-provider.ts';
import { sandboxOidc, sandboxWalletScript } from './wallets.ts';

const NOW = Date.UTC(2026, 0, 5, 9);
const NOW_SECONDS = NOW / 1000;
const VALID_CLAIMS = {
  iss: 'https://accounts.google.com',
  aud: 'app-1',
  sub: 'user-1',
  iat: NOW_SECONDS - 10,
  exp: NOW_SECONDS + 300,
};

const tokenOf = (claims: unknown, header: unknown = { alg: 'RS256', typ: 'JWT' }) =>
  `${segment(header)}.${segment(claims)}.dummy`;

const CONFIGURED_ISSUER = 'https://id.shop.example/users';
const { verify } = sandboxOidc([CONFIGURED_ISSUER]);
const verdictOf = (claims: object) => verify(tokenOf({ ...VALID_CLAIMS, ...claims }), NOW);

describe('tokens of identity providers in the sandbox', () => {
  it('are accepted with any signature', async () => {
    expect(await verdictOf({ email: 'ada@example.com', nonce: 'abc', azp: 'x' })).toEqual({
      identity: {
        ...{ issuer: VALID_CLAIMS.iss, audience: 'app-1', subject: 'user-1' },
        ...{ email: 'ada@example.com', nonce: 'abc' },
      },
    });
    for (const signature of ['x', 'sandbox-signature', '']) {
      const text = tokenOf(VALID_CLAIMS).replace(/dummy$/, signature);
      expect(await verify(text, NOW)).toHaveProperty('identity');
    }
  });

  it.each([
    ['https://accounts.google.com', 'https://accounts.google.com'],
    ['accounts.google.com', 'https://accounts.google.com'],
    ['https://appleid.apple.com', 'https://appleid.apple.com'],
    [CONFIGURED_ISSUER, CONFIGURED_ISSUER],
  ])('with the iss %s have the issuer %s', async (iss, issuer) => {
    expect(await verdictOf({ iss })).toMatchObject({ identity: { issuer } });
  });

  it.each([
    ['a single audience in a list', { aud: ['app-1'] }],
    ['an iat sixty seconds ago', { iat: NOW_SECONDS - 60 }],
    ['an iat five seconds ahead', { iat: NOW_SECONDS + 5 }],
    ['fractions of seconds', { iat: NOW_SECONDS - 0.5, exp: NOW_SECONDS + 0.5 }],
    ['an nbf in the past', { nbf: NOW_SECONDS }],
    ['an e-mail address and a nonce of another type, which are ignored', { email: 1, nonce: [] }],
  ])('may have %s', async (_description, claims) => {
    const { identity } = (await verdictOf(claims)) as { identity: object };
    expect(identity).toMatchObject({ audience: 'app-1', subject: 'user-1' });
    expect(identity).not.toHaveProperty('email');
    expect(identity).not.toHaveProperty('nonce');
  });

  const ISSUER_REASON = 'is from an unsupported issuer';
  it.each([
    ['of an unknown issuer', { iss: 'https://evil.example' }, ISSUER_REASON],
    [
      'of an issuer with an additional slash',
      { iss: 'https://accounts.google.com/' },
      ISSUER_REASON,
    ],
    ['of an issuer over http', { iss: 'http://accounts.google.com' }, ISSUER_REASON],
    ['without an issuer', { iss: undefined }, ISSUER_REASON],
    ['of an issuer that is a number', { iss: 7 }, ISSUER_REASON],
    ['of an issuer with the name of a built-in property', { iss: 'constructor' }, ISSUER_REASON],
    ['of an issuer with the name of the prototype', { iss: '__proto__' }, ISSUER_REASON],
  ])('%s are malformed', async (_description, claims, reason) => {
    expect(await verdictOf(claims)).toEqual({ problem: 'malformed', reason });
  });

  it.each([
    ['', 'nothing'],
    ['sandbox-valid-oidc-token', 'the fixed text of an older sandbox'],
    [`${segment({})}.${segment(VALID_CLAIMS)}`, 'two segments'],
    [`${tokenOf(VALID_CLAIMS)}.more`, 'four segments'],
    [`.${segment(VALID_CLAIMS)}.dummy`, 'no header'],
    [`${segment({})}..dummy`, 'no claims'],
    [`${segment({})}.!!!.dummy`, 'claims that are not base64url'],
    [`${segment({})}.${Buffer.from('{').toString('base64url')}.dummy`, 'claims that are not JSON'],
    [`${segment({})}.${segment([VALID_CLAIMS])}.dummy`, 'a list of claims'],
    [`${segment({})}.${segment(null)}.dummy`, 'null'],
    [`${segment('RS256')}.${segment(VALID_CLAIMS)}.dummy`, 'a header that is a text'],
  ])('are malformed if the text is not a JSON Web Token: %s (%s)', async (text) => {
    const reason = 'is not a JSON Web Token';
    expect(await verify(text, NOW)).toEqual({ problem: 'malformed', reason });
  });

  const AUD_REASON = 'The aud of the token must be a single audience.';
  const SUB_REASON = 'The sub of the token must have 1 to 255 characters.';
  it.each([
    ['no aud', { aud: undefined }, AUD_REASON],
    ['an empty aud', { aud: '' }, AUD_REASON],
    ['a number as aud', { aud: 1 }, AUD_REASON],
    ['an empty list as aud', { aud: [] }, AUD_REASON],
    ['two audiences', { aud: ['a', 'b'] }, AUD_REASON],
    ['an empty audience in a list', { aud: [''] }, AUD_REASON],
    ['a list in a list as aud', { aud: [['a']] }, AUD_REASON],
    ['no sub', { sub: undefined }, SUB_REASON],
    ['an empty sub', { sub: '' }, SUB_REASON],
    ['a number as sub', { sub: 12 }, SUB_REASON],
    ['a sub of 256 characters', { sub: 'x'.repeat(256) }, SUB_REASON],
    ['no iat', { iat: undefined }, 'The iat of the token is not a number.'],
    ['a string as iat', { iat: String(NOW_SECONDS) }, 'The iat of the token is not a number.'],
    [
      'an iat 61 s ago',
      { iat: NOW_SECONDS - 61 },
      'The token is too old, because its iat is over 60 s ago.',
    ],
    ['an iat in milliseconds', { iat: NOW }, 'The iat of the token is in the future.'],
    ['an iat 6 s ahead', { iat: NOW_SECONDS + 6 }, 'The iat of the token is in the future.'],
    ['no exp', { exp: undefined }, 'The exp of the token is not a number.'],
    ['a string as exp', { exp: String(NOW_SECONDS + 9) }, 'The exp of the token is not a number.'],
    ['an exp at the current time', { exp: NOW_SECONDS }, 'The token has expired.'],
    ['an exp in the past', { exp: NOW_SECONDS - 1 }, 'The token has expired.'],
    ['an nbf in the future', { nbf: NOW_SECONDS + 6 }, 'The token is not valid yet.'],
    ['a string as nbf', { nbf: 'now' }, 'The nbf of the token is not a number.'],
  ])('with %s are rejected', async (_description, claims, reason) => {
    expect(await verdictOf(claims)).toEqual({ problem: 'rejected', reason });
  });
});

it('the wallet script has the documented values of the sandbox', () => {
  expect(sandboxWalletScript).toEqual({
    code: '000000',
    stamp: 'sandbox-valid-signature',
    assertionSignature: 'sandbox-valid-passkey-signature',
    failure: 'UNAUTHORIZED',
    rejectsEmail: expect.any(Function),
    challengesPerMinute: 60,
  });
});

it.each([
  ['ada+sync-failed@example.com', true],
  ['ada+Sync-Failed@example.com', true],
  ['ada+sync-failed+@example.com', false],
  ['ada@sync-failed.example.com', false],
])('the wallet script rejects the e-mail address %s: %s', (email, isRejected) =>
  expect(sandboxWalletScript.rejectsEmail(email)).toBe(isRejected),
);
