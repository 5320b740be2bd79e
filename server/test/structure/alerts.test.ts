// Alert rules and dashboards name existing metrics. Each rule has a page with the same sections,
// and tests in which it fires and in which it does not. The pages name verbs of the operator's
// command.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERBS } from '../../src/operator.ts';
import { read, root } from './sources.ts';

const RULES = read('deploy/prometheus/alerts.yaml');
const TESTS = read('deploy/prometheus/alerts.test.yaml');
const filesIn = (folder: string) =>
  readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`);
const pages = filesIn('docs/alerts').filter((file) => !file.endsWith('/index.md'));
const dashboards = filesIn('deploy/grafana');

const rules = RULES.split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({
    name: /^\w+/.exec(text)?.[0] ?? '',
    severity: /severity: (\w+)/.exec(text)?.[1] ?? '',
    page: /\/alerts\/([a-z-]+)["']/.exec(text)?.[1] ?? '',
  }));

describe('alert rules', () => {
  it('each have a page with their name and severity', () => {
    expect(rules.length).toBeGreaterThan(20);
    const pagesOfRules = rules.map(({ page }) => `docs/alerts/${page}.md`);
    expect(pagesOfRules.toSorted()).toEqual(pages.toSorted());
    const incompleteRules = rules.filter(({ name, severity, page }) => {
      const text = read(`docs/alerts/${page}.md`);
      const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
      const isNamed = text.includes(`Alert \`${name}\`, ${severity}.`);
      return !isNamed || headings.join() !== 'Meaning,Check,Remedy';
    });
    expect(incompleteRules).toEqual([]);
    const list = read('docs/alerts/index.md');
    expect(rules.filter(({ page }) => !list.includes(`(${page}.md)`))).toEqual([]);
  });

  it('have tests in which they fire and tests in which they do not', () => {
    const names = [...TESTS.matchAll(/^ {2}- name: (.*)$/gm)].map(([, name]) => name);
    const expectedNames = rules.flatMap(({ name }) => [name, `${name} does not fire`]);
    expect(names.toSorted()).toEqual(expectedNames.toSorted());
  });

  it('name only existing verbs of the command on their pages', () => {
    const verbs = new Set(VERBS.map(({ noun, verb }) => `${noun} ${verb}`));
    const unknownVerbs = pages.flatMap((file) =>
      [...read(file).matchAll(/railhead-server\s+([a-z-]+)(?:\s+([a-z-]+))?/g)]
        .map(([, noun, verb]) => `${noun} ${verb}`)
        .filter((name) => !verbs.has(name) && !name.startsWith('doctor'))
        .map((name) => `${file}: ${name}`),
    );
    expect(unknownVerbs).toEqual([]);
  });
});

describe('rules and dashboards', () => {
  it('name only metrics of docs/metrics.md', () => {
    const page = read('docs/metrics.md');
    const documentedMetrics = new Set(
      [...page.matchAll(/^\| `(railhead_\w+)`/gm)].map(([, name]) => name),
    );
    const namedMetrics = [RULES, ...dashboards.map(read)].flatMap((text) =>
      [...text.matchAll(/\brailhead_\w+/g)].map(([name]) =>
        name.replace(/(?<=_seconds)_(bucket|sum|count)$/, ''),
      ),
    );
    const unknownMetrics = namedMetrics.filter(
      (name) => !documentedMetrics.has(name) && name !== 'railhead_docs',
    );
    expect([...new Set(unknownMetrics)]).toEqual([]);
  });
});
