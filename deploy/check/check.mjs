// `npm run deploy:check`: checks the files of deploy/ without a container engine or a cluster. Parsers and
// a linter check the Dockerfile and the compose file, and installed Debian programs check their
// configuration. Each Kubernetes resource is compiled against the types of its API, where an unknown field
// is an error. Names that files refer to must exist.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasLockedPackages } from '../../scripts/install.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const deploy = path.dirname(path.resolve(folder));
const root = path.dirname(deploy);
const deployPath = (...names) => path.join(deploy, ...names);
const read = (...names) => fs.readFileSync(deployPath(...names), 'utf8');

const problems = [];
const report = (file, messages) => {
  problems.push(...messages.map((message) => `${file}: ${message}`));
  console.log(`${messages.length === 0 ? 'checked' : 'FAILED '}  ${file}`);
};

function install() {
  if (hasLockedPackages(folder)) return;
  const quietFlags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['ci', ...quietFlags], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** The output of a failed program. Empty after a success, undefined if the program is not installed. */
function failureOf(program, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    ...options,
  });
  if (error?.code === 'ENOENT') return undefined;
  return status === 0 ? [] : [`${stdout}${stderr}`.trim() || `${program} exited with ${status}`];
}

function checkWith(program, file, args, options) {
  const failure = failureOf(program, args, options);
  if (failure) report(`${file} (${program})`, failure);
  else console.log(`skipped  ${file}: ${program} is not installed`);
}

async function checkDockerfile() {
  const { validate } = await import('dockerfile-utils');
  const messages = validate(read('container', 'Dockerfile')).map(
    ({ message, range }) => `line ${range.start.line + 1}: ${message}`,
  );
  report('container/Dockerfile', messages);
}

/**
 * A placeholder for each variable of the example file, because the compose file rejects empty
 * values.
 */
const exampleValues = () =>
  Object.fromEntries(
    [...read('compose', 'example.env').matchAll(/^(\w+)=/gm)].map(([, name]) => [name, 'x']),
  );

async function checkCompose() {
  const { DCLinter } = await import('dclint');
  const linter = new DCLinter({
    rules: { 'require-quotes-in-ports': [2, { quoteType: 'double' }] },
    quiet: false,
    debug: false,
    exclude: [],
  });
  const [result] = await linter.lintFiles([deployPath('compose', 'compose.yaml')], false);
  report(
    'compose/compose.yaml',
    (result?.messages ?? [{ line: 0, message: 'the file was not read' }]).map(
      ({ line, message }) => `line ${line}: ${message}`,
    ),
  );
  const { parse } = await import('yaml');
  const { services } = parse(read('compose', 'compose.yaml'), { merge: true });
  const files = Object.values(services)
    .flatMap(({ volumes = [] }) => volumes)
    .map((volume) => volume.split(':')[0])
    .filter((source) => source.startsWith('.'));
  const absentFiles = files.filter((file) => !fs.existsSync(deployPath('compose', file)));
  report(
    'compose: mounted files',
    absentFiles.map((file) => `${file} does not exist`),
  );
  const env = { ...process.env, ...exampleValues() };
  // The docker-compose of Debian does not support a project name.
  const input = read('compose', 'compose.yaml').replace(/^name: .*$/m, '');
  const args = ['--file', '-', '--project-directory', deployPath('compose'), 'config', '--quiet'];
  checkWith('docker-compose', 'compose/compose.yaml', args, { env, input });
  checkWith('haproxy', 'compose/haproxy.cfg', ['-c', '-f', deployPath('compose', 'haproxy.cfg')]);
  checkPrometheus();
}

function checkPrometheus() {
  const rules = deployPath('prometheus', 'alerts.yaml');
  // The container has the rules next to the configuration.
  const stagingFolder = fs.mkdtempSync(path.join(folder, 'dist-'));
  fs.copyFileSync(
    deployPath('compose', 'prometheus.yaml'),
    path.join(stagingFolder, 'prometheus.yaml'),
  );
  if (fs.existsSync(rules)) fs.copyFileSync(rules, path.join(stagingFolder, 'alerts.yaml'));
  checkWith('promtool', 'compose/prometheus.yaml', [
    'check',
    'config',
    path.join(stagingFolder, 'prometheus.yaml'),
  ]);
  fs.rmSync(stagingFolder, { recursive: true });
}

/** Module of the type of a resource in the package of the API. */
const moduleOf = ({ apiVersion, kind }) => `kubernetes-models/${apiVersion}/${kind}`;

/** The resources of an overlay and its bases, with the file of each. */
async function resourcesIn(overlay) {
  const { parse, parseAllDocuments } = await import('yaml');
  const kustomization = parse(read('kubernetes', overlay, 'kustomization.yaml'));
  const resources = [];
  for (const name of kustomization.resources) {
    const target = path.join(overlay, name);
    if (!fs.existsSync(deployPath('kubernetes', target))) {
      problems.push(`kubernetes/${overlay}: ${name} does not exist`);
    } else if (!name.endsWith('.yaml')) {
      resources.push(...(await resourcesIn(target)));
    } else {
      const documents = parseAllDocuments(read('kubernetes', target), { uniqueKeys: true });
      for (const document of documents) {
        problems.push(...document.errors.map(({ message }) => `kubernetes/${target}: ${message}`));
        resources.push({ file: `kubernetes/${target}`, resource: document.toJS() });
      }
    }
  }
  return resources;
}

/**
 * Compiles the resources as constants of their types, so that a wrong or missing field is an error.
 */
function typeErrors(resources) {
  const dist = path.join(folder, 'dist');
  fs.mkdirSync(dist, { recursive: true });
  const lines = resources.map(({ resource }, index) => {
    const { kind } = resource;
    const type = `import type { I${kind} as T${index} } from '${moduleOf(resource)}';`;
    return `${type} export const r${index}: T${index} = ${JSON.stringify(resource)};`;
  });
  const source = path.join(dist, 'resources.ts');
  fs.writeFileSync(source, `${lines.join('\n')}\n`);
  const compiler = path.join(root, 'node_modules', 'typescript7', 'bin', 'tsc');
  const flags = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--ignoreConfig',
  ];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags, source], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status === 0) return [];
  const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
  return errors.map((line) => {
    const index = Number(/resources\.ts\((\d+),/.exec(line)?.[1] ?? 0) - 1;
    return `${resources[index]?.file ?? source}: ${line.replace(/^.*error /, '')}`;
  });
}

/** Pod template of a workload, or undefined for other resources. */
const podOf = ({ kind, spec }) =>
  ['Deployment', 'Job'].includes(kind) ? spec.template : undefined;

/** Messages about names that do not exist, and about pods without the required restrictions. */
function resourceErrors(resources, generatedNames) {
  const allResources = resources.map(({ resource }) => resource);
  const exists = (kind, name) =>
    generatedNames.has(`${kind}/${name}`) ||
    allResources.some((resource) => resource.kind === kind && resource.metadata.name === name);
  const pods = allResources.map(podOf).filter((pod) => pod !== undefined);
  const matches = (selector, pod) =>
    Object.entries(selector).every(([label, value]) => pod.metadata.labels?.[label] === value);
  const containers = pods.flatMap((pod) => pod.spec.containers);
  const ports = new Set(containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)));
  const messages = [];
  const requireThat = (condition, text) => {
    if (!condition) messages.push(text);
  };
  for (const { kind, metadata, spec } of allResources) {
    const name = `${kind} ${metadata.name}`;
    const selector = kind === 'Service' ? spec.selector : spec?.selector?.matchLabels;
    if (selector)
      requireThat(
        pods.some((pod) => matches(selector, pod)),
        `${name} selects no pod`,
      );
    if (kind === 'Service') {
      for (const { targetPort } of spec.ports)
        requireThat(ports.has(targetPort), `${name}: no pod has the port ${targetPort}`);
    }
    if (kind === 'Ingress') {
      for (const { backend } of spec.rules.flatMap(({ http }) => http.paths)) {
        requireThat(
          exists('Service', backend.service.name),
          `${name}: the service ${backend.service.name} does not exist`,
        );
      }
    }
    const target = spec?.scaleTargetRef;
    if (target)
      requireThat(
        exists(target.kind, target.name),
        `${name}: the ${target.kind} ${target.name} does not exist`,
      );
  }
  for (const { spec } of pods) {
    requireThat(
      exists('ServiceAccount', spec.serviceAccountName),
      `the ServiceAccount ${spec.serviceAccountName} does not exist`,
    );
    requireThat(
      spec.securityContext?.runAsNonRoot === true,
      'a pod may run as root: set runAsNonRoot',
    );
    for (const container of spec.containers) {
      const { readOnlyRootFilesystem, allowPrivilegeEscalation } = container.securityContext ?? {};
      requireThat(
        readOnlyRootFilesystem === true,
        `${container.name} can write to its image: set readOnlyRootFilesystem`,
      );
      requireThat(
        allowPrivilegeEscalation === false,
        `${container.name} can gain privileges: disable allowPrivilegeEscalation`,
      );
      requireThat(
        container.resources?.limits?.memory,
        `${container.name} has no memory limit: set resources.limits.memory`,
      );
      for (const { configMapRef, secretRef } of container.envFrom ?? []) {
        if (configMapRef)
          requireThat(
            exists('ConfigMap', configMapRef.name),
            `the ConfigMap ${configMapRef.name} does not exist`,
          );
        if (secretRef)
          requireThat(
            exists('Secret', secretRef.name),
            `the Secret ${secretRef.name} does not exist`,
          );
      }
      const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
      for (const { name } of container.volumeMounts ?? [])
        requireThat(volumes.has(name), `the volume ${name} does not exist`);
    }
  }
  return messages;
}

async function checkKubernetes(overlay) {
  const { parse } = await import('yaml');
  const countBefore = problems.length;
  const resources = await resourcesIn(overlay);
  const { secretGenerator = [], configMapGenerator = [] } = parse(
    read('kubernetes', overlay, 'kustomization.yaml'),
  );
  const generatedNames = new Set([
    ...secretGenerator.map(({ name }) => `Secret/${name}`),
    ...configMapGenerator.map(({ name }) => `ConfigMap/${name}`),
  ]);
  problems.push(...typeErrors(resources));
  problems.push(
    ...resourceErrors(resources, generatedNames).map((text) => `kubernetes/${overlay}: ${text}`),
  );
  console.log(
    `${problems.length === countBefore ? 'checked' : 'FAILED '}  kubernetes/${overlay}: ${resources.length} resources`,
  );
}

install();
await checkDockerfile();
await checkCompose();
await checkKubernetes('production');
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
