// A plugin of Vite that writes `packages.json`: the folders of the packages in a bundle. The release lists
// only these packages in its SBOM and with its licenses.
import path from 'node:path';

const FOLDER = /^\0?((?:.*?\/)??(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+)/;

/**
 * The folder of the package of a module, such as `node_modules/vue`. Undefined for a source of this
 * repository.
 */
const packageFolder = (module) => FOLDER.exec(module.replaceAll('\\', '/'))?.[1].slice(0, -1);

/** The folders of the packages of these modules, sorted and relative to `base`. */
export function packageFolders(modules, base) {
  const folders = modules
    .map(packageFolder)
    .filter((folder) => folder !== undefined)
    .map((folder) => path.relative(base, path.resolve(base, folder)).replaceAll(path.sep, '/'));
  return [...new Set(folders)].sort();
}

export const LIST = 'packages.json';

/** Paths are relative to the working folder, which contains `node_modules`. */
export const bundledPackages = () => ({
  name: 'railhead:bundled-packages',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? []);
    const source = `${JSON.stringify(packageFolders(modules, process.cwd()))}\n`;
    this.emitFile({ type: 'asset', fileName: LIST, source });
  },
});
