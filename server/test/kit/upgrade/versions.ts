// Two versions of the server for one database. The earlier one is the newest tagged release before
// this checkout whose packages are installed here. Without such a release, the earlier one is this
// checkout. The later one is the build of this checkout with further migrations.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../src/runtime/config/root.ts';

export interface Version {
  readonly name: string;
  /** Arguments of Node that start a server. The flags of the server follow. */
  readonly start: readonly string[];
  /** Arguments of Node that run a command of the operator. */
  readonly operator: readonly string[];
}

const root = projectRoot();
/** Options of git commands. A lock file can exceed the default limit of 1 MB for their output. */
const GIT = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 } as const;

const git = (...args: string[]) => execFileSync('git', args, GIT);

/** Tagged releases before this commit, the newest first. None outside of a repository. */
function earlierReleases(): string[] {
  try {
    const isEarlier = ['--merged', 'HEAD', '--no-contains', 'HEAD'];
    const tags = git('tag', '--list', 'v*', ...isEarlier, '--sort=-v:refname');
    return tags.split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

const hasSamePackages = (tag: string) =>
  git('show', `${tag}:package-lock.json`) ===
  fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8');

const programsOf = (folder: string) => ({
  start: [path.join(folder, 'scripts', 'start.mjs')],
  operator: [path.join(folder, 'server', 'bin', 'railhead-server.js')],
});

/** The version from which a test upgrades. The files are written to `folder`. */
export function earlierVersion(folder: string): Version {
  const tag = earlierReleases().find(hasSamePackages);
  if (tag === undefined) return { name: 'this checkout', ...programsOf(root) };
  const archive = path.join(folder, 'release.tar');
  git('archive', '--output', archive, tag);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return { name: tag, ...programsOf(folder) };
}

/** Builds this checkout unless it is built, and returns the folder of the build. */
function currentBuild(): string {
  const script = JSON.stringify(pathToFileURL(path.join(root, 'scripts', 'build.mjs')).href);
  const build = `await (await import(${script})).ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', build], { stdio: 'ignore' });
  const dist = path.join(root, 'server', 'dist');
  const stamp = JSON.parse(fs.readFileSync(path.join(dist, 'stamp.json'), 'utf8'));
  return path.join(dist, stamp.build as string);
}

/**
 * This checkout with further migrations, by file name. The files are written to `folder`. Unchanged
 * files are links. A program reads the migrations in its own folder.
 */
export function laterVersion(folder: string, migrations: Record<string, string>): Version {
  const link = (name: string) => fs.symlinkSync(path.join(root, name), path.join(folder, name));
  for (const name of fs.readdirSync(root)) if (!/^(\.git|server)$/.test(name)) link(name);
  fs.mkdirSync(path.join(folder, 'server'));
  link('server/package.json');
  const copy = (from: string, to: string) =>
    fs.cpSync(from, path.join(folder, 'server', to), { recursive: true });
  copy(path.join(root, 'server', 'migrations'), 'migrations');
  copy(currentBuild(), 'dist');
  for (const [name, sql] of Object.entries(migrations)) {
    fs.writeFileSync(path.join(folder, 'server', 'migrations', name), sql);
  }
  const writeProgram = (name: string, text: string) => {
    const file = path.join(folder, 'server', 'dist', name);
    fs.writeFileSync(file, text);
    return [file];
  };
  return {
    name: 'this checkout with further migrations',
    start: writeProgram(
      'start.mjs',
      "import { main } from './main.js';\nawait main(process.argv.slice(2));\n",
    ),
    operator: writeProgram(
      'command.mjs',
      "import { runProcess } from './operator.js';\nawait runProcess();\n",
    ),
  };
}
