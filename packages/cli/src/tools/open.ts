// The command `open`: opens pages of the server in the browser.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { Argument, Command } from 'commander';
import { withExamples } from '../help.ts';
import { targetOf } from '../profile/resolve.ts';
import { outputOf } from '../session.ts';

const PAGES: Readonly<Record<string, string>> = {
  docs: '/docs',
  reference: '/docs/reference',
};

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens a URL in the browser. Returns false if the browser cannot be started. */
function launch(url: string): Promise<boolean> {
  const [program = '', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

export function openCommand(): Command {
  const command = new Command('open')
    .summary('Open the documentation or the API reference.')
    .description('Prints the URL of a page of the server and opens it in the browser.')
    .addArgument(
      new Argument('<page>', 'Documentation or API reference.').choices(Object.keys(PAGES)),
    )
    .option('--print', 'Only print the URL.');
  withExamples(command, 'railhead open reference', 'railhead open docs --print');
  return command.action(async (page: string, { print }: { print?: boolean }) => {
    const url = new URL(PAGES[page] ?? '/', targetOf(command.optsWithGlobals()).url).href;
    const output = outputOf(command);
    await output.result({ url }, () => [url]);
    if (!print && process.stdout.isTTY) await launch(url);
  });
}
