// Every fenced block of the documentation is run, type-checked or compared with its source. A test
// fails for a block that no check covers. The exceptions are listed with their reasons.
import { execFileSync, spawnSync } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { patroniConfiguration } from '../kit/cluster/configuration.ts';
import {
  allBlocks,
  BACKUP,
  type Block,
  blocksOf,
  GUIDES,
  INTEGRATION,
  KEYS,
  PROVIDERS_WALKTHROUGH,
  RUN_PAGES,
} from '../kit/guides/blocks.ts';
import { shellProblems } from '../kit/guides/commands.ts';
import { programPath } from '../kit/guides/guide.ts';
import { typeProblems } from '../kit/guides/types.ts';

const TYPE_CHECK_TIMEOUT_MS = 60_000;
/** Several starts of an interpreter or compiler, each of which takes seconds on a busy machine. */
const PROGRAMS_TIMEOUT_MS = 60_000;

/** A title and at most two short paragraphs. */
const LINES_BEFORE_FIRST_COMMAND = 10;

/** Pages whose blocks are run by separate tests. */
const PAGES_RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/backups.md': 'processes/backup.test.ts runs it on a stopped server',
  [PROVIDERS_WALKTHROUGH]: 'providers/walkthrough.test.ts runs it with a clock that it advances',
  [KEYS]: 'processes/key-rotation.test.ts runs it on two servers',
  [BACKUP]: 'processes/backup-guide.test.ts runs it with pgBackRest',
  [INTEGRATION]: 'packages/cli/test/package.test.ts runs it from the packed packages',
};

/** Blocks without a language are figures, such as drawings, folder trees and formulas. */
const FIGURES: Readonly<Record<string, number>> = {
  'docs/architecture/agents.md': 1,
  'docs/architecture/cards.md': 2,
  'docs/architecture/layers.md': 1,
  'docs/architecture/stablecoins.md': 1,
  'docs/architecture/wallets.md': 2,
  'docs/concepts/payment.md': 2,
  'docs/decisions/0011-money-rounding-and-fees.md': 2,
  'docs/onboarding.md': 1,
};

/** Languages with a fixed number of blocks on one page, 1 by default, and the check that covers them. */
const COUNTED_BLOCKS: Readonly<Record<string, { page: string; check: string; count?: number }>> = {
  html: {
    page: 'docs/guides/cards.md',
    check: 'browser/card-reveal.test.ts opens a number in such a frame',
  },
  python: { page: 'docs/concepts/webhooks.md', check: 'verifies a signature below', count: 2 },
  go: { page: 'docs/concepts/webhooks.md', check: 'verifies a signature below' },
  ini: { page: 'docs/availability.md', check: 'its flags are parsed below' },
  yaml: { page: 'docs/guides/high-availability.md', check: 'compared with the tests below' },
  yml: {
    page: 'docs/alerts/index.md',
    check: 'processes/monitoring.test.ts starts Prometheus with it',
  },
  haproxy: { page: 'docs/availability.md', check: 'its health check is compared below' },
};

const blocks = allBlocks();
const locationOf = ({ page, line }: Block) => `${page}:${line}`;
const blocksOfLanguage = (language: string) =>
  blocks.filter((block) => block.language === language);

const isRun = ({ page }: Block) => RUN_PAGES.includes(page) || page in PAGES_RUN_ELSEWHERE;

function isCovered(block: Block): boolean {
  switch (block.language) {
    case 'sh':
    case 'text':
    case 'js':
      return isRun(block);
    // Languages that are checked below. Diagrams are rendered when the site is built, which fails
    // for an invalid diagram.
    case 'shell':
    case 'ts':
    case 'json':
    case 'mermaid':
      return true;
    case '':
      return block.page in FIGURES;
    default:
      return COUNTED_BLOCKS[block.language]?.page === block.page;
  }
}

describe('blocks', () => {
  it('are read with their language, line and text', () => {
    const markdown = ['- a', '  ```ts', '  let a;', '    a;', '  ```', '```', 'x', '```'];
    expect(blocksOf('a.md', markdown.join('\n'))).toEqual([
      { page: 'a.md', line: 3, language: 'ts', text: 'let a;\n  a;\n' },
      { page: 'a.md', line: 7, language: '', text: 'x\n' },
    ]);
  });

  it('of services name valid flags and the path of the readiness check', () => {
    const [unit] = blocksOfLanguage('ini');
    const flags = /^ExecStart=.* start (.*)$/m.exec(unit?.text ?? '')?.[1]?.split(' ') ?? [];
    expect(flags.length).toBeGreaterThan(1);
    expect(readConfig({}, flags)).toHaveProperty('config');
    expect(blocksOfLanguage('haproxy')[0]?.text).toContain('httpchk GET /readyz\n');
  });

  it('of Patroni are the settings with which a cluster is tested', () => {
    const node = { name: 'n', host: 'h', port: 1, apiPort: 2, dataFolder: '/d' };
    const testedConfiguration = patroniConfiguration(node, {
      etcd: 'e',
      binaries: 'b',
      network: 'n',
    });
    const lines = (blocksOfLanguage('yaml')[0]?.text ?? '').trim().split('\n');
    expect(lines.filter((line) => !testedConfiguration.includes(`    ${line}\n`))).toEqual([]);
  });

  it('are all covered by a check', () => {
    expect(blocks.filter((block) => !isCovered(block)).map(locationOf)).toEqual([]);
  });

  it('of exceptions exist', () => {
    const figures = Object.fromEntries(
      Object.keys(FIGURES).map((page) => [
        page,
        blocksOfLanguage('').filter((block) => block.page === page).length,
      ]),
    );
    expect(figures).toEqual(FIGURES);
    for (const [language, { count = 1 }] of Object.entries(COUNTED_BLOCKS))
      expect(blocksOfLanguage(language), language).toHaveLength(count);
  });

  it('of a new page or language are not covered', () => {
    const block = (language: string) => ({ page: 'docs/new.md', line: 1, language, text: '' });
    expect(['sh', 'js', 'text', '', 'python', 'rust'].map(block).some(isCovered)).toBe(false);
  });
});

describe('guides', () => {
  it.each(GUIDES)('begin with their result and a command: %s', (page) => {
    const lines = readFileSync(path.join(projectRoot(), page), 'utf8').split('\n');
    const firstFence = lines.findIndex((line) => line.startsWith('```'));
    const openingLines = lines.slice(1, firstFence).filter((line) => line !== '');
    expect(openingLines[0]).toMatch(/^At the end of this guide\b/);
    expect(openingLines.filter((line) => /^\s*(#|\||!\[|[-*] |\d+\. )/.test(line))).toEqual([]);
    expect(['```sh', '```shell']).toContain(lines[firstFence]);
    expect(firstFence).toBeLessThan(LINES_BEFORE_FIRST_COMMAND);
  });
});

describe('shell blocks', () => {
  it.each(blocksOfLanguage('shell').map((block) => [locationOf(block), block.text] as const))(
    'name existing commands, files and settings: %s',
    async (_, text) => {
      expect(await shellProblems(text)).toEqual([]);
    },
  );

  it.each([
    ['curl "$RAILHEAD_URL/unknown"', /not an operation/],
    ['curl -X DELETE "$RAILHEAD_URL/quotes/1/execute"', /not an operation/],
    ['curl "$RAILHEAD_URL/quotes" -d \'{}\'', /required property/],
    ['curl "$RAILHEAD_URL/customers?color=1"', /not a query parameter/],
    ['curl "$OPERATOR_URL/customers?color=1"', /not a query parameter/],
    ['curl -X POST "$OPERATOR_URL/quotes"', /not an operation/],
    ['curl "$OPERATOR_URL/operator-tokens" -d \'{}\'', /required property/],
    ['curl "$ELSEWHERE/customers"', /unbound variable/],
    ['npm run unknown', /not a script/],
    ['railhead-server jobs revive', /no verb revive/],
    ['railhead-server jobs list --shape round', /shape/],
    ['node missing.mjs', /does not exist/],
    ['RAILHEAD_UNKNOWN=1 npm start', /unknown/],
    ['wget x', /command not found|No such file/],
    ['# nothing', /no command/],
  ])('are rejected with the reason: %s', async (text, problem) => {
    expect((await shellProblems(text)).join('\n')).toMatch(problem);
  });
});

describe('other blocks', () => {
  it('of TypeScript compile', { timeout: TYPE_CHECK_TIMEOUT_MS }, () => {
    expect(typeProblems(blocksOfLanguage('ts'))).toEqual([]);
  });

  it.each(blocksOfLanguage('json').map((block) => [locationOf(block), block.text] as const))(
    'of JSON can be read: %s',
    (_, text) => {
      expect(JSON.parse(text)).toBeTypeOf('object');
    },
  );
});

describe('the verification of a webhook', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'railhead-verify-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = '{"id":"Webhook:1"}';
  const signature = createSign('sha256').update(body).sign(privateKey, 'base64');
  const env = {
    ...process.env,
    WEBHOOK_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    WEBHOOK_KEYS_URL: pathToFileURL(path.join(folder, 'webhook-keys.json')).href,
  };
  const codesOf = (language: string) =>
    blocksOfLanguage(language)
      .filter(({ page }) => page === 'docs/concepts/webhooks.md')
      .map(({ text }) => text);
  const codeOf = (language: string) => codesOf(language)[0] ?? '';

  /**
   * Returns the printed validity of three signatures: a correct one, one of another body, and none.
   */
  function runProgram(program: string, file: string, text: string, ...args: string[]): string {
    writeFileSync(path.join(folder, file), text);
    const command = [...args, file, body, signature];
    return execFileSync(program, command, { cwd: folder, env, encoding: 'utf8' });
  }

  it('is correct in JavaScript', () => {
    const callingCode = `
      const [body, signature] = process.argv.slice(2);
      const check = (text, value) =>
        isGenuine(Buffer.from(text), { 'x-service-signature': value });
      console.log(check(body, signature), check('{}', signature), check(body, undefined));`;
    expect(runProgram(process.execPath, 'verify.mjs', codeOf('js') + callingCode)).toBe(
      'true false false\n',
    );
  });

  it('is correct in Python', { timeout: PROGRAMS_TIMEOUT_MS }, ({ skip }) => {
    const python = programPath('python3');
    skip(python === undefined, 'python3 is not installed.');
    const parsingCode = `import ast, sys\nast.parse(sys.stdin.read())`;
    const parseResult = spawnSync(python as string, ['-c', parsingCode], {
      input: codeOf('python'),
    });
    expect(String(parseResult.stderr)).toBe('');
    const { status } = spawnSync(python as string, ['-c', 'import cryptography']);
    skip(status !== 0, 'The package cryptography is not installed. The code was only parsed.');
    const callingCode = `
import sys
text, signed = sys.argv[1:]
print(*(is_genuine(b.encode(), s) for b, s in [(text, signed), ("{}", signed), (text, "")]))`;
    const printedText = runProgram(python as string, 'verify.py', codeOf('python') + callingCode);
    expect(printedText).toBe('True False False\n');
  });

  it('is correct in Python with the list of keys', { timeout: PROGRAMS_TIMEOUT_MS }, ({ skip }) => {
    const python = programPath('python3');
    skip(python === undefined, 'python3 is not installed.');
    const { status } = spawnSync(python as string, ['-c', 'import cryptography']);
    skip(status !== 0, 'The package cryptography is not installed.');
    const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const edKey = generateKeyPairSync('ed25519').publicKey;
    const keys = [
      { kid: 'key_other', alg: 'ES256', ...otherKey.export({ format: 'jwk' }) },
      { kid: 'key_ed', alg: 'EdDSA', ...edKey.export({ format: 'jwk' }) },
      { kid: 'key_own', alg: 'ES256', ...publicKey.export({ format: 'jwk' }) },
    ];
    writeFileSync(path.join(folder, 'webhook-keys.json'), JSON.stringify({ keys }));
    const [, code = ''] = codesOf('python');
    const callingCode = `
import sys
text, signed = sys.argv[1:]
ids = ["key_own", "key_other", "key_ed", "key_unknown", None]
print(*(is_genuine(text.encode(), signed, key_id) for key_id in ids))
print(is_genuine(b"{}", signed, "key_own"), is_genuine(text.encode(), None, "key_own"))`;
    const printedText = runProgram(python as string, 'verify_by_key_list.py', code + callingCode);
    expect(printedText).toBe('True False False False False\nFalse False\n');
  });

  it('is correct in Go', { timeout: PROGRAMS_TIMEOUT_MS }, ({ skip }) => {
    const go = programPath('go');
    skip(go === undefined, 'go is not installed.');
    const callingCode = `
func main() {
	body, signature := []byte(os.Args[1]), os.Args[2]
	fmt.Println(IsGenuine(body, signature), IsGenuine([]byte("{}"), signature), IsGenuine(body, ""))
}
`;
    const program = codeOf('go').replace('package webhook', 'package main');
    const text = program.replace('import (', 'import (\n\t"fmt"') + callingCode;
    expect(runProgram(go as string, 'verify.go', text, 'run')).toBe('true false false\n');
  });
});
