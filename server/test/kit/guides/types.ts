// Type-checks the TypeScript of CONTRIBUTING.md in the files where a contributor would write it.
// The files exist only for the compiler. The row of an account type is inserted into the real
// table.
import path from 'node:path';
import ts from 'typescript';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import type { Block } from './blocks.ts';

const root = projectRoot();
const serverPath = (file: string) => path.join(root, 'server', 'src', file);

interface Placement {
  /** First line of the block. */
  readonly firstLine: string;
  readonly file: string;
  /** Imports and declarations that the recipe omits. */
  readonly before?: string;
  readonly after?: string;
  /** The block is inserted into the file before this text. */
  readonly insertBefore?: string;
}

const PLACEMENTS: readonly Placement[] = [
  {
    firstLine: 'export const listPurposes',
    file: 'features/payees/discovery/recipe-operation.ts',
    before: `import { Type } from '@sinclair/typebox';
import { PURPOSES_OF_PAYMENT, PurposeOfPayment } from '../../../catalog/rails/purposes.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { named } from '../../../kernel/schema.ts';
import { handle } from '../../../runtime/operation/handle.ts';
`,
  },
  {
    firstLine: 'handle(listPurposes',
    file: 'features/payees/discovery/recipe-operation.ts',
    before: 'export const operations = [\n',
    after: '];\n',
  },
  {
    firstLine: 'export const acmeRail',
    file: 'connectors/acme/recipe-connector.ts',
    before: `import { Type } from '@sinclair/typebox';
import type { Effects } from '../../kernel/effects.ts';
import { serviceSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import type { Progress, RailInstruction, RailPort } from '../ports/index.ts';
type Call<Input> = (effects: Effects, url: string, input: Input) => Promise<Progress>;
declare const submit: Call<RailInstruction>;
declare const readStatus: Call<string>;
`,
  },
  {
    firstLine: 'export const acme =',
    file: 'connectors/acme/recipe-connector.ts',
  },
  {
    firstLine: 'CZK_ACCOUNT:',
    file: 'catalog/accounts/account-types.ts',
    insertBefore: '  HKD_ACCOUNT: ',
  },
];

/** The files with the blocks in them. A block without a placement is a problem. */
function filesWith(blocks: readonly Block[]): { files: Map<string, string>; problems: string[] } {
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const { page, line, text } of blocks) {
    const placement = PLACEMENTS.find(({ firstLine }) => text.startsWith(firstLine));
    if (!placement) {
      problems.push(
        `${page}:${line}: no source file is known. Add the block to PLACEMENTS in types.ts.`,
      );
      continue;
    }
    const { before = '', after = '', insertBefore } = placement;
    const file = serverPath(placement.file);
    const presentText = files.get(file) ?? (insertBefore ? (ts.sys.readFile(file) ?? '') : '');
    const addedText = insertBefore
      ? presentText.replace(insertBefore, `${text}${insertBefore}`)
      : `${presentText}${before}${text}${after}`;
    if (addedText === presentText)
      problems.push(`${placement.file} does not contain the text ${insertBefore}`);
    files.set(file, addedText);
  }
  return { files, problems };
}

function optionsOfProject(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
}

/** Diagnostics of the compiler about the blocks. */
export function typeProblems(blocks: readonly Block[]): string[] {
  const { files, problems } = filesWith(blocks);
  const options = optionsOfProject();
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.getSourceFile = (file, version, ...otherArguments) => {
    const text = files.get(file);
    return text === undefined
      ? getSourceFile(file, version, ...otherArguments)
      : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const diagnostics = [...files.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
  const output = diagnostics.map(({ file, messageText }) => {
    const name = file ? path.relative(root, file.fileName) : '';
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  return [...problems, ...output];
}
