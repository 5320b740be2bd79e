// `node packages/console/scripts/screenshots.mjs [--all FOLDER]` takes the screenshots of the
// console guide with a separate server and the sandbox world `business`, and writes
// docs/images/console/*.webp. With --all, the script writes every screen in light, in dark and at
// phone width to a folder for review. A run needs Chromium (CHROME_PATH) and takes about three
// minutes.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const PORT = Number(process.env.PORT ?? 4690);
const ORIGIN = `http://localhost:${PORT}`;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const images = path.join(root, 'docs', 'images', 'console');
const reviewFolder = process.argv[2] === '--all' ? process.argv[3] : undefined;

const CHROMES = [process.env.CHROME_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'];
const executablePath = CHROMES.find((file) => file && fs.existsSync(file));
const print = (line) => process.stderr.write(`${line}\n`);

/** Starts a server on an empty folder. Returns its process and the link of the first operator. */
async function startServer(dataDir) {
  const args = ['scripts/start.mjs', '--port', String(PORT), '--data-dir', dataDir];
  const server = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-100_000);
    });
  for (let attempt = 0; attempt < 120; attempt++) {
    const [link] = /http\S+\/operator\/enroll#\S+/.exec(output) ?? [];
    if (link && output.includes('"listening"')) return { server, link };
    if (server.exitCode !== null) break;
    await sleep(1_000);
  }
  server.kill('SIGTERM');
  throw new Error(`The server did not start: ${output}`);
}

/** Creates a platform and returns its credentials. */
function createPlatform(dataDir, name) {
  const program = path.join(root, 'server', 'bin', 'railhead-server.js');
  const args = [program, 'platform', 'create', '--name', name, '--json', '--data-dir', dataDir];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Builds the world. Resolves when the clock has no target and over 100 customers exist. */
async function buildWorld({ clientId, clientSecret }) {
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const callApi = async (method, route, body) => {
    const response = await fetch(`${ORIGIN}/2025-10-13${route}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  await callApi('POST', '/sandbox/fixtures', { world: 'business' });
  for (let attempt = 0; attempt < 600; attempt++) {
    await sleep(1_000);
    const { target, currentTime } = await callApi('GET', '/sandbox/clock');
    const { totalCount } = await callApi('GET', '/customers?limit=1');
    if (!target && totalCount > 100) return;
    if (attempt % 10 === 0) print(`The world is at ${currentTime}.`);
  }
  throw new Error('The world was not complete after ten minutes.');
}

/** Enrolls the first operator with a virtual passkey. Returns the state of the browser. */
async function enroll(browser, link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(link);
  await page.getByRole('button', { name: 'Create a passkey' }).waitFor();
  for (const [label, value] of [
    ['Name', 'Ada Lindqvist'],
    ['Your name', 'Ada Lindqvist'],
    ['E-mail', 'ada@example.com'],
    ['E-mail address', 'ada@example.com'],
  ]) {
    const field = page.getByLabel(label, { exact: true });
    if (await field.count()) await field.fill(value);
  }
  await page.getByRole('button', { name: 'Create a passkey' }).click();
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Calls the operator API as the operator of the page. */
async function operate(page, method, route, body) {
  const reply = await page.evaluate(
    async ([verb, target, json]) => {
      const session = await (await fetch('/operator/v1/session')).json();
      const response = await fetch(`/operator/v1${target}`, {
        method: verb,
        headers: {
          'content-type': 'application/json',
          'x-csrf-token': session.csrfToken ?? '',
          'idempotency-key': crypto.randomUUID(),
        },
        ...(json && { body: JSON.stringify(json) }),
      });
      return { status: response.status, body: await response.json().catch(() => undefined) };
    },
    [method, route, body],
  );
  if (reply.status >= 400)
    print(`${method} ${route}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
}

const REASON = 'Agreed with the finance team.';

/** Creates users, a policy, decisions and approvals, so that the audit log has entries. */
async function createAuditRecords(page, platformId) {
  for (const [name, email, role] of [
    ['Bao Nguyen', 'bao@example.com', 'support'],
    ['Carmen Ibarra', 'carmen@example.com', 'compliance'],
    ['Dmitri Hale', 'dmitri@example.com', 'treasury'],
    ['Esi Mensah', 'esi@example.com', 'developer'],
  ]) {
    await operate(page, 'POST', '/operator-users', {
      name,
      email,
      roles: [role],
      reason: 'Joins.',
    });
  }
  const read = async (route) => (await operate(page, 'GET', route)).body?.data ?? [];
  const accountsUnderReview = await read(
    `/external-accounts?platformId=${platformId}&status=UNDER_REVIEW`,
  );
  for (const { accountId } of accountsUnderReview.slice(0, 1)) {
    await operate(page, 'POST', `/external-accounts/${accountId}/clear`, { reason: REASON });
  }
  const deposits = await read(`/deposits?platformId=${platformId}`);
  for (const { transactionId } of deposits.slice(0, 1)) {
    await operate(page, 'POST', `/deposits/${transactionId}/release`, { reason: REASON });
  }
  await operate(page, 'POST', '/approval-policies', {
    operationId: 'returnSuspenseItem',
    hours: 24,
    reason: 'Two people decide about suspense.',
  });
  const suspense = await read(`/suspense-items?platformId=${platformId}`);
  for (const { transactionId } of suspense.slice(0, 2)) {
    await operate(page, 'POST', `/suspense-items/${transactionId}/return`, { reason: REASON });
  }
}

const MENU =
  'payments quotes payouts deposits suspense card-payments stablecoins customers verifications ' +
  'external-accounts resets erasures messages accounts cards wallets agents ledger events ' +
  'deliveries endpoints requests keys tokens imports sandbox approvals platforms jobs users ' +
  'sessions operator-tokens policies audit system providers provider-routes provider-choice ' +
  'provider-messages provider-file differences';

const openFirstRow = (list) => async (page) => {
  await page.goto(`${ORIGIN}/console${list}`);
  await page.locator('.rows tbody tr.link td').first().click();
};

async function showDocument(page) {
  await openFirstRow('/verifications')(page);
  await page.getByRole('button', { name: 'Show document' }).first().click();
  await page.locator('.document').waitFor();
}

async function search(page) {
  await page.goto(`${ORIGIN}/console/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('.palette-input').fill('Northlight');
}

/** The trial balance is balanced only for all platforms together. */
async function openTrialBalance(page) {
  await page.goto(`${ORIGIN}/console/ledger`);
  await page.getByLabel('Platform', { exact: true }).selectOption('');
}

/** Screenshots of the guide: name, path or function that opens the screen, and browser options. */
const GUIDE = [
  ['overview', '/'],
  ['overview-dark', '/', { colorScheme: 'dark' }],
  ['payments', '/payments'],
  ['payment', openFirstRow('/payments?status=FAILED')],
  ['search', search],
  ['verification', showDocument],
  ['suspense', '/suspense'],
  ['ledger', openTrialBalance],
  ['deliveries', '/deliveries'],
  ['audit', '/audit'],
];

async function openPage(browser, state, platformId, options) {
  const viewport = { width: 1280, height: 800 };
  const context = await browser.newContext({
    ...{ storageState: state, viewport, reducedMotion: 'reduce', colorScheme: 'light' },
    ...options,
  });
  await context.addInitScript((id) => {
    localStorage.setItem('railhead-console platform', JSON.stringify(id));
  }, platformId);
  return context.newPage();
}

/** Converts a PNG image to WebP, which has a third of the size. */
async function webpOf(context, png) {
  const page = await context.newPage();
  const url = await page.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext('2d').drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', 0.9);
    },
    `data:image/png;base64,${png.toString('base64')}`,
  );
  await page.close();
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

async function takeScreenshot(page, folder, name, to) {
  try {
    if (typeof to === 'string') await page.goto(`${ORIGIN}/console${to}`);
    else await to(page);
  } catch (error) {
    print(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
  await page.waitForTimeout(1_500);
  const image = await page.screenshot();
  fs.writeFileSync(path.join(folder, `${name}.webp`), await webpOf(page.context(), image));
}

async function takeAllScreens(browser, state, platformId, folder) {
  const phone = { viewport: { width: 390, height: 844 } };
  for (const [theme, options] of [
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['phone', phone],
  ]) {
    const target = path.join(folder, theme);
    fs.mkdirSync(target, { recursive: true });
    const page = await openPage(browser, state, platformId, options);
    page.on('pageerror', (error) => print(`${theme}: ${error.message}`));
    const screens = MENU.split(' ').map((name) => [name, `/${name}`]);
    for (const [name, to] of [...GUIDE, ...screens]) await takeScreenshot(page, target, name, to);
    await page.context().close();
  }
}

async function main() {
  if (!executablePath) throw new Error('Install Chromium, or set CHROME_PATH.');
  spawnSync('npm', ['run', 'console'], { cwd: root, stdio: 'inherit' });
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-screenshots-'));
  const { server, link } = await startServer(dataDir);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const platform = createPlatform(dataDir, 'Northlight Payments');
    const state = await enroll(browser, link);
    await buildWorld(platform);
    const { platformId } = platform;
    const page = await openPage(browser, state, platformId);
    await page.goto(`${ORIGIN}/console/`);
    await createAuditRecords(page, platformId);
    if (reviewFolder) return await takeAllScreens(browser, state, platformId, reviewFolder);
    fs.mkdirSync(images, { recursive: true });
    for (const [name, to, options] of GUIDE) {
      const guidePage = await openPage(browser, state, platformId, options);
      await takeScreenshot(guidePage, images, name, to);
      await guidePage.context().close();
    }
  } finally {
    await browser.close();
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('exit', resolve));
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
