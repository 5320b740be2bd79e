// Base URLs, and the precedence of flags over the environment.
import { expect, it } from 'vitest';
import { API_DATE } from '../api/metadata.ts';
import { baseUrlOf, targetOf } from './resolve.ts';

it.each([
  ['localhost:4000', `http://localhost:4000/${API_DATE}`],
  ['http://localhost:4000/', `http://localhost:4000/${API_DATE}`],
  ['api.example.com', `https://api.example.com/${API_DATE}`],
  ['https://api.example.com/2024-01-01', 'https://api.example.com/2024-01-01'],
])('baseUrlOf completes %s to %s', (text, url) => {
  expect(baseUrlOf(text)).toBe(url);
});

it('baseUrlOf rejects text that is not a URL', () => {
  expect(() => baseUrlOf('http://')).toThrow('is not a URL');
});

const ENV = {
  RAILHEAD_URL: 'localhost:1',
  RAILHEAD_CLIENT_ID: 'id',
  RAILHEAD_CLIENT_SECRET: 'secret',
};

it('targetOf reads the environment, and the URL of a flag takes precedence', () => {
  const credentials = { clientId: 'id', clientSecret: 'secret', source: 'environment' };
  expect(targetOf({}, ENV)).toEqual({ url: `http://localhost:1/${API_DATE}`, ...credentials });
  expect(targetOf({ baseUrl: 'localhost:2' }, ENV).url).toBe(`http://localhost:2/${API_DATE}`);
});
