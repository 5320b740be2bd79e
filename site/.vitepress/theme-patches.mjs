// Changes to files of the default theme and to the design tokens while Vite reads them. A build
// fails when a new version of the theme no longer has the text that is replaced.

import path from 'node:path';

const search = path.join(import.meta.dirname, 'search.mjs').replaceAll('\\', '/');

const PATCHES = [
  {
    // The caret of a sidebar group is a button, so the group itself must not be a button.
    file: /VPSidebarItem\.vue$/,
    replace: [
      ["(isLink.value ? undefined : 'button')", 'undefined'],
      ['{ click: onItemInteraction, keydown: onItemInteraction }', '{ click: onItemInteraction }'],
      [':tabindex="item.items && 0"', ''],
      [
        /<div\s+v-if="item\.collapsed != null[\s\S]*?<\/div>/,
        `<button
          v-if="item.collapsed != null && item.items && item.items.length"
          type="button"
          class="caret"
          :aria-label="item.text"
          :aria-expanded="!collapsed"
          @click="onCaretClick"
        >
          <span class="vpi-chevron-right caret-icon" />
        </button>`,
      ],
    ],
  },
  {
    // The visible text of the button is part of its label. The key is drawn by the style sheet.
    file: /VPNavBarSearchButton\.vue$/,
    replace: [
      [
        '<kbd class="DocSearch-Button-Key">K</kbd>',
        '<kbd class="DocSearch-Button-Key" data-key="K"></kbd>',
      ],
    ],
  },
  {
    // Functions among the options of the search cannot be part of the data of the site.
    file: /VPLocalSearchBox\.vue$/,
    replace: [
      [
        "import MiniSearch, { type SearchResult } from 'minisearch'",
        `$&\nimport { searchOptions } from ${JSON.stringify(search)}`,
      ],
      [
        /\.\.\.\(theme\.value\.search\?\.provider === 'local' &&\s+theme\.value\.search\.options\?\.miniSearch\?\.searchOptions\)/,
        '...searchOptions',
      ],
    ],
  },
  {
    // The tokens of the hosted pages follow the color scheme of the system. The site has a switch.
    file: /pages[\\/]page[\\/]tokens\.css$/,
    replace: [
      ['color-scheme: light dark;', 'color-scheme: light;'],
      [
        /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/,
        '.dark {\n  color-scheme: dark;$1}',
      ],
    ],
  },
];

/** Plug-in for Vite. */
export const themePatches = () => ({
  name: 'theme patches',
  enforce: 'pre',
  transform(code, id) {
    const patch = PATCHES.find(({ file }) => file.test(id));
    if (!patch) return undefined;
    return patch.replace.reduce((text, [from, to]) => {
      const changedText = text.replace(from, to);
      if (changedText === text) this.error(`${id} no longer contains ${from}. Adapt the patch.`);
      return changedText;
    }, code);
  },
});
