// Third-party packages of a release: their licenses as one text, and the SBOM in CycloneDX. `npm sbom` is
// unsuitable, because it lists installed packages and fails for the override of the console.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const LICENSE_NAME = /^(licen[cs]e|copying|notice|copyright)/i;

const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const refOf = ({ name, version }) => `${name}@${version}`;

/** The packages in these folders, once each and sorted. Throws if one has no license. */
export function packagesIn(folders) {
  const packages = new Map();
  for (const folder of folders) {
    const { name, version, license, licenses } = readJson(path.join(folder, 'package.json'));
    const id = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ');
    if (!id) throw new Error(`The package ${name} in ${folder} has no license.`);
    packages.set(`${name}@${version}`, { folder, name, version, license: id });
  }
  return [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, packageInfo]) => packageInfo);
}

/** The license texts in the folder of a package. */
const licenseTexts = (folder) =>
  fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENSE_NAME.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((name) =>
      fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim(),
    );

/** The licenses of all packages, and further texts. */
export function licensesText(packages, furtherTexts) {
  const line = '-'.repeat(100);
  const sections = packages.map(({ folder, license, ...each }) => {
    const texts = licenseTexts(folder);
    const content = texts.length > 0 ? texts : ['The package contains no text of its license.'];
    return [`${refOf(each)} (${license})`, ...content].join('\n\n');
  });
  const introduction =
    'This release contains the packages below. Its own license is in the file LICENSE.';
  return `${[introduction, ...sections, ...furtherTexts.map((text) => text.trim())].join(`\n\n${line}\n`)}\n`;
}

/** The lock file that names a package, and its path there. */
function lockEntryOf(folder, locks) {
  const { base, packages } = locks.find((lock) => folder.startsWith(lock.base + path.sep));
  const name = path.relative(base, folder).replaceAll(path.sep, '/');
  if (!packages[name]) throw new Error(`No lock file names the package in ${folder}.`);
  return { packages, name };
}

/** Places of a dependency of the package at `name`, in the order in which Node looks for it. */
function placesOf(name, dependency) {
  const places = [];
  for (let folder = name; folder !== ''; folder = folder.replace(/\/?[^/]*$/, ''))
    if (!folder.endsWith('node_modules')) places.push(`${folder}/node_modules/${dependency}`);
  return [...places, `node_modules/${dependency}`];
}

/** Names and versions of the dependencies of a package that its lock file names. */
function dependenciesOf({ packages, name }) {
  const { dependencies, optionalDependencies, peerDependencies } = packages[name];
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return names.flatMap((dependency) => {
    const dependencyPath = placesOf(name, dependency).find((candidate) => packages[candidate]);
    return dependencyPath ? [`${dependency}@${packages[dependencyPath].version}`] : [];
  });
}

const EXPRESSION = / (OR|AND|WITH) /;

function libraryComponent({ name, version, license }, lockedPackage) {
  const { integrity } = lockedPackage.packages[lockedPackage.name];
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  return {
    'bom-ref': refOf({ name, version }),
    type: 'library',
    name,
    version,
    scope: 'required',
    hashes: [{ alg: 'SHA-512', content }],
    licenses: [EXPRESSION.test(license) ? { expression: license } : { license: { id: license } }],
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  };
}

/** An identifier that depends on the content only. */
function serialNumber(content) {
  const hex = sha256(JSON.stringify(content));
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...groups, hex.slice(20, 32)].join('-')}`;
}

/** A file that belongs to no package, such as a shared library of the database. */
const fileComponent = ({ name, data }) => ({
  'bom-ref': `file:${name}`,
  type: 'file',
  name,
  hashes: [{ alg: 'SHA-256', content: sha256(data) }],
});

/**
 * The SBOM of the release: its packages as the lock files in `lockFolders` describe them, and further
 * files.
 */
export function sbomOf({ version, time, packages, files, lockFolders }) {
  const locks = lockFolders
    .map((base) => ({ base, packages: readJson(path.join(base, 'package-lock.json')).packages }))
    // The lock file of the server is above the others.
    .sort((a, b) => b.base.length - a.base.length);
  const libraries = packages.map((packageInfo) => ({
    ...packageInfo,
    locked: lockEntryOf(packageInfo.folder, locks),
  }));
  const fileComponents = files.map(fileComponent);
  const refs = libraries.map(refOf);
  const dependencies = libraries.map(({ locked, ...each }) => ({
    ref: refOf(each),
    dependsOn: dependenciesOf(locked)
      .filter((dependencyRef) => refs.includes(dependencyRef))
      .sort(),
  }));
  const ref = `railhead@${version}`;
  const content = {
    metadata: {
      timestamp: time.toISOString(),
      component: {
        'bom-ref': ref,
        type: 'application',
        name: 'railhead',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        purl: `pkg:generic/railhead@${encodeURIComponent(version)}`,
      },
    },
    components: [
      ...libraries.map((library) => libraryComponent(library, library.locked)),
      ...fileComponents,
    ],
    dependencies: [
      { ref, dependsOn: [...refs, ...fileComponents.map((component) => component['bom-ref'])] },
      ...dependencies,
    ],
  };
  const head = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: serialNumber(content),
    version: 1,
  };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}
