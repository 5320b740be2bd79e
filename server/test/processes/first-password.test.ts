// On a built server, the first administrator opens the printed link, sets a password and signs in
// with it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { PASSWORD } from '../kit/operator/people.ts';
import { codeAt } from '../kit/sca/factors.ts';

const EMAIL = 'ada@example.com';
const STEP_MS = 30_000;

let folder: DataFolder;
let server: Running;

beforeAll(async () => {
  folder = createDataFolder('first-password');
  server = await folder.start();
});
afterAll(() => folder.remove());

/** Sends a request from the origin of the enrollment page, as a browser does. */
async function call(path: string, body: object): Promise<{ status: number; body: Reply }> {
  const { port } = new URL(server.origin);
  const origin = `http://localhost:${port}`;
  const headers = { 'content-type': 'application/json', origin };
  const url = `${origin}/operator/v1${path}`;
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, body: (await reply.json()) as Reply };
}

interface Reply {
  state: string;
  secret: string;
  details?: { errors: { field: string }[] };
  user?: { email: string };
}

it('the first administrator enrolls with an uncommon password and signs in with it', async () => {
  const printedText = folder.outputOf(server.child).err;
  const [, secret = ''] = /\/operator\/enroll#(\S+)/.exec(printedText) ?? [];
  const person = { name: 'Ada Lovelace', email: EMAIL };
  const enrollment = await call('/enrollment/totp', { secret, ...person });
  expect(enrollment).toMatchObject({ status: 200 });
  const totp = enrollment.body;
  const enroll = (password: string, now: number) => {
    const code = codeAt(totp.secret, now);
    return call('/enrollment/password', { secret, state: totp.state, password, code, ...person });
  };
  const rejection = await enroll('password12345', Date.now());
  expect(rejection).toMatchObject({
    status: 400,
    body: { details: { errors: [{ field: 'password' }] } },
  });
  const enrolledReply = await enroll(PASSWORD, Date.now());
  expect(enrolledReply).toMatchObject({ status: 201, body: { user: { email: EMAIL } } });
  const code = codeAt(totp.secret, Date.now() + STEP_MS);
  const signInReply = await call('/sign-in/password', { email: EMAIL, password: PASSWORD, code });
  expect(signInReply).toMatchObject({ status: 201, body: { user: { email: EMAIL } } });
});
